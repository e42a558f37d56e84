//! From a path to a table of functions.

use std::error::Error as _;
use std::ffi::{CString, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use libloading::Library;
use nvtxw_abi::{ResultCode, raw};

use super::{Begin, Finalize, Functions};
use crate::backend::{Backend, LibraryUser};
use crate::error::{Error, Result};

/// What a library of the first version of the ABI exports instead.
const OLD_ENTRY_POINT: &str = "nvtxwLoadImplementation";

impl Backend {
    /// Loads the backend library at `path`.
    ///
    /// `path` is a place, absolute or relative to the current directory (`./libnvtxw3.so`); a bare file name is refused,
    /// because some platforms would look for it in the current directory. Loading one library several times, by whatever
    /// paths, is fine. The library stays mapped until the process exits.
    ///
    /// # Errors
    /// [`Error::BareFileName`], [`Error::LibraryNotFound`], [`Error::LibraryLoad`], [`Error::SymbolMissing`],
    /// [`Error::OldAbi`], [`Error::VersionNotSupported`], [`Error::NullTable`], [`Error::NullMembers`], or
    /// [`Error::Call`] if the library's entry point fails in another way.
    ///
    /// # Safety
    /// The library's initialisers run, and so does its code from then on. It must
    /// - implement version 2 of the NVTXW ABI;
    /// - allow calls on different sessions to overlap ([`load_exclusive`](Backend::load_exclusive) is for those that
    ///   don't), and calls on one session to come from different threads in turn;
    /// - never unwind into its caller;
    /// - keep every handle valid until its session ends.
    ///
    /// And whoever calls this vouches, for as long as the program writes to this backend, that string handles, scopes and
    /// categories inside structs come from the domain of the stream that the structs are written to.
    ///
    /// ```no_run
    /// use nvtxw::Backend;
    ///
    /// // SAFETY:
    /// // - Nsight's library implements the ABI as required, and this program keeps handles to their own domains.
    /// let backend = unsafe { Backend::load("/opt/nvidia/nsight/libnvtxw3.so")? };
    /// # Ok::<(), nvtxw::Error>(())
    /// ```
    pub unsafe fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = place(path.as_ref())?;
        // SAFETY:
        // - The caller vouches for the library.
        unsafe { load(&path, false) }
    }

    /// Loads the backend library at `path` for one session at a time: while one lives, beginning another is
    /// [`Error::Busy`], through whatever `Backend` of that library.
    ///
    /// # Errors
    /// As [`load`](Backend::load).
    ///
    /// # Safety
    /// As [`load`](Backend::load), but calls on different sessions need not be allowed to overlap.
    pub unsafe fn load_exclusive(path: impl AsRef<Path>) -> Result<Self> {
        let path = place(path.as_ref())?;
        // SAFETY:
        // - The caller vouches for the library.
        unsafe { load(&path, true) }
    }

    /// Loads the backend library that the environment variable `NVTXW3_LIBRARY` names.
    ///
    /// Its value goes to the platform's loader as it is: a path, or a file name that the loader looks for in its own way.
    ///
    /// # Errors
    /// [`Error::NoLibraryVariable`] if the variable is unset or empty; else as [`load`](Backend::load).
    ///
    /// # Safety
    /// As [`load`](Backend::load), for whatever library the variable names.
    pub unsafe fn from_env() -> Result<Self> {
        let value = std::env::var_os(raw::NVTXW_LIBRARY_ENV_VAR).filter(|value| !value.is_empty());
        let path = PathBuf::from(value.ok_or(Error::NoLibraryVariable {
            variable: raw::NVTXW_LIBRARY_ENV_VAR,
        })?);
        if !is_bare(&path) && !path.exists() {
            return Err(Error::LibraryNotFound { path });
        }
        // SAFETY:
        // - The caller vouches for the library.
        unsafe { load(&path, false) }
    }

    /// Takes the backend whose entry point you have: from a library that you loaded yourself, or linked.
    ///
    /// `finalize` is its `nvtxwFinalize`, if it has one: it is called when the last `Backend` of this entry point, and the
    /// last session of those, is gone.
    ///
    /// # Errors
    /// [`Error::VersionNotSupported`], [`Error::NullTable`], [`Error::NullMembers`], or [`Error::Call`] if the entry point
    /// fails in another way.
    ///
    /// # Safety
    /// As [`load`](Backend::load); and the functions must stay mapped until the process exits.
    pub unsafe fn from_interface(
        get_interface: raw::nvtxwGetInterface_t,
        finalize: Option<raw::nvtxwFinalize_t>,
    ) -> Result<Self> {
        // SAFETY:
        // - The caller vouches for both functions.
        unsafe {
            from_interface(
                get_interface,
                finalize,
                "the given entry point".to_owned(),
                false,
            )
        }
    }

    /// Takes the backend whose table you have. Nothing finalizes it.
    ///
    /// # Errors
    /// [`Error::NullMembers`], which names them.
    ///
    /// # Safety
    /// As [`load`](Backend::load), for the functions of the table.
    pub unsafe fn from_table(table: &'static raw::nvtxwInterface_v2_t) -> Result<Self> {
        let user = LibraryUser::enter(std::ptr::from_ref(table).addr(), None);
        // SAFETY:
        // - The caller vouches for the functions.
        unsafe { from_table(table, "the given table".to_owned(), false, user) }
    }
}

/// Whether `path` is a file name without a place.
fn is_bare(path: &Path) -> bool {
    path.parent()
        .is_none_or(|parent| parent.as_os_str().is_empty())
}

/// The absolute path of an existing file.
fn place(path: &Path) -> Result<PathBuf> {
    if is_bare(path) {
        return Err(Error::BareFileName {
            path: path.to_owned(),
        });
    }
    let not_found = || Error::LibraryNotFound {
        path: path.to_owned(),
    };
    let path = std::path::absolute(path).map_err(|_| not_found())?;
    if path.exists() {
        Ok(path)
    } else {
        Err(Error::LibraryNotFound { path })
    }
}

/// # Safety
/// As [`Backend::load`].
unsafe fn load(path: &Path, exclusive: bool) -> Result<Backend> {
    // SAFETY:
    // - The caller vouches for the library's initialisers.
    let library = unsafe { Library::new(path) }.map_err(|error| Error::LibraryLoad {
        path: path.to_owned(),
        reason: reason(&error),
    })?;
    // Never unmapped: handles and tables of it live on, and so may its threads and thread-local destructors.
    let library = &*ManuallyDrop::new(library);
    let Some(get_interface) = symbol(library, raw::NVTXW_GET_INTERFACE_SYMBOL_NAME) else {
        return Err(match symbol(library, OLD_ENTRY_POINT) {
            Some(_) => Error::OldAbi {
                library: path.to_owned(),
                symbol: OLD_ENTRY_POINT,
            },
            None => Error::SymbolMissing {
                library: path.to_owned(),
                symbol: raw::NVTXW_GET_INTERFACE_SYMBOL_NAME,
            },
        });
    };
    // SAFETY:
    // - The library exports this under the name of the ABI's entry point, and the caller vouches that it implements the
    //   ABI, so it has this type.
    let get_interface =
        unsafe { std::mem::transmute::<*mut c_void, raw::nvtxwGetInterface_t>(get_interface) };
    let finalize = symbol(library, raw::NVTXW_FINALIZE_SYMBOL_NAME).map(|finalize| {
        // SAFETY:
        // - As above.
        unsafe { std::mem::transmute::<*mut c_void, raw::nvtxwFinalize_t>(finalize) }
    });
    let name = path.display().to_string();
    // SAFETY:
    // - The caller vouches for the library's functions, and it stays mapped.
    let backend = unsafe { from_interface(get_interface, finalize, name, exclusive) }?;
    #[cfg(feature = "check")]
    let backend = match crate::check::is_checker(path) {
        true => backend,
        false => backend.checked_if_asked(),
    };
    Ok(backend)
}

/// The address that `library` exports as `name`, if it isn't null.
fn symbol(library: &Library, name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY:
    // - Only the symbol's address is taken, as a pointer; what type it has is decided where it is cast.
    let symbol = unsafe { library.get::<*mut c_void>(name.as_bytes_with_nul()) }.ok()?;
    let address = *symbol;
    (!address.is_null()).then_some(address)
}

/// The loader's own words.
fn reason(error: &libloading::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// # Safety
/// As [`Backend::from_interface`].
unsafe fn from_interface(
    get_interface: raw::nvtxwGetInterface_t,
    finalize: Option<raw::nvtxwFinalize_t>,
    name: String,
    exclusive: bool,
) -> Result<Backend> {
    // Entered before the entry point is called: if that fails, the user that leaves again finalizes what it began.
    let user = LibraryUser::enter(get_interface as usize, finalize.map(Finalize));
    let mut table: *const c_void = std::ptr::null();
    let code = user.in_turn(|| {
        // SAFETY:
        // - The caller vouches for the function, and `table` is a place of the right type.
        unsafe { get_interface(raw::NVTXW_INTERFACE_VERSION, &mut table) }
    });
    match ResultCode::new(code) {
        ResultCode::SUCCESS => {}
        ResultCode::INTERFACE_VERSION_NOT_SUPPORTED => {
            return Err(Error::VersionNotSupported {
                library: name,
                version: raw::NVTXW_INTERFACE_VERSION,
            });
        }
        code => {
            return Err(Error::Call {
                reason: None,
                operation: "get the function table of",
                object: format!("the backend `{name}`"),
                code,
            });
        }
    }
    if table.is_null() {
        return Err(Error::NullTable { library: name });
    }
    // SAFETY:
    // - The entry point gave this as the table of version 2, and the caller vouches that it implements the ABI: the table
    //   is aligned, complete and valid as long as the library is mapped, which is forever.
    let table: &'static raw::nvtxwInterface_v2_t = unsafe { &*table.cast() };
    // SAFETY:
    // - The caller vouches for the functions.
    unsafe { from_table(table, name, exclusive, user) }
}

/// # Safety
/// As [`Backend::from_table`].
unsafe fn from_table(
    table: &'static raw::nvtxwInterface_v2_t,
    name: String,
    exclusive: bool,
    user: LibraryUser,
) -> Result<Backend> {
    match Functions::of(table) {
        Ok(functions) => Ok(Backend::new(
            functions,
            Begin::Table(table),
            name,
            exclusive,
            Some(user),
        )),
        Err(members) => Err(Error::NullMembers {
            library: name,
            members,
        }),
    }
}
