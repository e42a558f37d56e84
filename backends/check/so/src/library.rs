//! The library of the backend behind: loads it, and calls its exports. All unsafe code of the crate is here.

#![allow(unsafe_code)]

use std::error::Error as _;
use std::ffi::{OsStr, c_void};
use std::mem::ManuallyDrop;

use nvtxw_abi::ResultCode;
use nvtxw_abi::raw::{
    NVTXW_FINALIZE_SYMBOL_NAME, NVTXW_GET_INTERFACE_SYMBOL_NAME, NVTXW_INTERFACE_VERSION,
    nvtxwFinalize_t, nvtxwGetInterface_t, nvtxwInterface_v2_t,
};
use nvtxw_backend::Result;
use nvtxw_backend::relay::Relay;

/// A loaded library. It stays mapped until the process exits: handles and tables of it live on.
pub(crate) struct Library {
    table: &'static nvtxwInterface_v2_t,
    finalize: Option<nvtxwFinalize_t>,
}

impl Library {
    /// Loads what the platform's loader finds by this path, which the program's user chose to run.
    pub(crate) fn load(path: &OsStr) -> std::result::Result<Self, String> {
        // SAFETY:
        // - Whoever sets the variable that names the library asks for its code to run, its initialisers included.
        let library = unsafe { libloading::Library::new(path) };
        let library = &*ManuallyDrop::new(library.map_err(|error| reason(&error))?);
        let get_interface = symbol(library, NVTXW_GET_INTERFACE_SYMBOL_NAME)
            .ok_or_else(|| format!("it exports no {NVTXW_GET_INTERFACE_SYMBOL_NAME}"))?;
        // SAFETY:
        // - The library exports this under the name of the ABI's entry point, which has this type.
        let get_interface =
            unsafe { std::mem::transmute::<*mut c_void, nvtxwGetInterface_t>(get_interface) };
        let finalize = symbol(library, NVTXW_FINALIZE_SYMBOL_NAME).map(|finalize| {
            // SAFETY:
            // - As above.
            unsafe { std::mem::transmute::<*mut c_void, nvtxwFinalize_t>(finalize) }
        });
        let mut table: *const c_void = std::ptr::null();
        // SAFETY:
        // - This is the entry point of the ABI, and `table` a place of the right type.
        let code = unsafe { get_interface(NVTXW_INTERFACE_VERSION, &mut table) };
        let code = ResultCode::new(code);
        if !code.is_success() {
            return Err(format!(
                "it has no table of version {NVTXW_INTERFACE_VERSION}: it says {code}"
            ));
        }
        if table.is_null() {
            return Err("it says that it has a table, and gives none: it is malformed".to_owned());
        }
        // SAFETY:
        // - The entry point gave this as the table of that version; the library stays mapped.
        let table = unsafe { &*table.cast::<nvtxwInterface_v2_t>() };
        Ok(Self { table, finalize })
    }

    /// Passes calls on to it.
    pub(crate) fn relay(&self) -> Result<Relay> {
        // SAFETY:
        // - The library exports the ABI's entry point, and so implements the ABI; it stays loaded.
        // - The producer makes its calls by the rules of the ABI, as it would without the checker: what it may do at once, this
        //   library must allow, and its pointers hold.
        unsafe { Relay::to_table(self.table) }
    }

    /// Frees its global state: no session of it lives.
    pub(crate) fn finalize(&self) {
        if let Some(finalize) = self.finalize {
            // SAFETY:
            // - The library stays mapped, and all of its sessions have ended.
            unsafe { finalize() }
        }
    }
}

/// The address that `library` exports as `name`, if it isn't null.
fn symbol(library: &libloading::Library, name: &str) -> Option<*mut c_void> {
    // SAFETY:
    // - Only the symbol's address is taken, as a pointer; what type it has is decided where it is cast.
    let symbol = unsafe { library.get::<*mut c_void>(name.as_bytes()) }.ok()?;
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

#[cfg(test)]
mod tests {
    use super::Library;

    #[test]
    fn a_library_that_is_not_there_is_told_in_the_loader_s_words() {
        let path = "/nowhere/libbackend.so";
        let Err(problem) = Library::load(path.as_ref()) else {
            panic!("it is not there");
        };
        assert!(problem.contains(path), "{problem}");
    }
}
