//! Exporting a backend from a library.

/// Exports a backend from a `cdylib` crate: defines `nvtxwGetInterface` and `nvtxwFinalize`, by which producers in any
/// language find it.
///
/// The expression makes the backend. It is evaluated when the first session begins, and again if one begins after
/// `nvtxwFinalize`. Use the macro once, and not in a library that other Rust crates link: two exported backends in one
/// program would clash. The crate may forbid unsafe code.
///
/// Who loads the library calls its functions as C functions, and so promises that pointers hold, in what is written too: an
/// event's strings, and what it says is to be copied, are read where they are.
///
/// ```
/// # use nvtxw_backend::*;
/// # use std::sync::Arc;
/// # struct Quiet;
/// # impl Backend for Quiet {
/// #     type Session = Quiet;
/// #     fn begin(&self, _: &SessionRequest<'_>) -> Result<Quiet> { Ok(Quiet) }
/// # }
/// # impl Session for Quiet {
/// #     type Stream = Quiet;
/// #     fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<Quiet> { Ok(Quiet) }
/// #     fn end(&self) -> Result<()> { Ok(()) }
/// # }
/// # impl Stream for Quiet {
/// #     fn write_event(&mut self, _: &Event<'_>) -> Result<()> { Ok(()) }
/// #     fn write_counters(&mut self, _: &CounterBatch<'_>) -> Result<()> { Ok(()) }
/// #     fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> { Ok(()) }
/// #     fn close(&mut self) -> Result<()> { Ok(()) }
/// # }
/// nvtxw_backend::export_backend!(Quiet);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_backend {
    ($make:expr $(,)?) => {
        const _: () = {
            use $crate::__private::{Library, c_void, get_interface, raw, table};

            static LIBRARY: Library = Library::new(|| ::std::boxed::Box::new($make));
            static TABLE: raw::nvtxwInterface_v2_t = table(session_begin);

            unsafe extern "C" fn session_begin(
                attr: *const raw::nvtxwSessionAttributes_t,
                out: *mut raw::nvtxwSessionHandle_t,
            ) -> raw::nvtxwResultCode_t {
                // SAFETY:
                // - The producer vouches for its arguments.
                unsafe { LIBRARY.session_begin(attr, out) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn nvtxwGetInterface(
                version: raw::nvtxwInterfaceVersion_t,
                out: *mut *const c_void,
            ) -> raw::nvtxwResultCode_t {
                // SAFETY:
                // - The producer vouches for its arguments.
                unsafe { get_interface(&TABLE, version, out) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn nvtxwFinalize() {
                LIBRARY.finalize();
            }
        };
    };
}

/// What [`export_backend!`] expands to.
pub mod __private {
    pub use std::ffi::c_void;

    pub use nvtxw_abi::raw;

    pub use crate::raw::{Library, get_interface, table};
}
