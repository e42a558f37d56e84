//! What a call answers.

use core::fmt;

use crate::raw;

/// A result code of the ABI, known or not.
///
/// ```
/// use nvtxw_abi::ResultCode;
///
/// assert_eq!(ResultCode::new(2), ResultCode::INVALID_ARGUMENT);
/// assert_eq!(ResultCode::INVALID_ARGUMENT.to_string(), "INVALID_ARGUMENT (2)");
/// assert_eq!(format!("{:?}", ResultCode::NOT_SUPPORTED), "NOT_SUPPORTED (7)");
/// assert_eq!(ResultCode::new(42).to_string(), "unknown result 42");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ResultCode(raw::nvtxwResultCode_t);

impl ResultCode {
    /// The call did what it says.
    pub const SUCCESS: Self = Self(raw::NVTXW_RESULT_SUCCESS);
    /// The call failed for a reason that no other code names.
    pub const FAILED: Self = Self(raw::NVTXW_RESULT_FAILED);
    /// An argument, or something it refers to, is not valid.
    pub const INVALID_ARGUMENT: Self = Self(raw::NVTXW_RESULT_INVALID_ARGUMENT);
    /// No backend library was found.
    pub const LIBRARY_NOT_FOUND: Self = Self(raw::NVTXW_RESULT_LIBRARY_NOT_FOUND);
    /// The platform's loader refused the library.
    pub const LIBRARY_LOAD_FAILED: Self = Self(raw::NVTXW_RESULT_LIBRARY_LOAD_FAILED);
    /// The library doesn't export the entry point.
    pub const LIBRARY_SYMBOL_MISSING: Self = Self(raw::NVTXW_RESULT_LIBRARY_SYMBOL_MISSING);
    /// The backend has no table of the requested version.
    pub const INTERFACE_VERSION_NOT_SUPPORTED: Self =
        Self(raw::NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED);
    /// The call is valid, but the backend doesn't do this. Not fatal.
    pub const NOT_SUPPORTED: Self = Self(raw::NVTXW_RESULT_NOT_SUPPORTED);

    /// The code with this number.
    pub const fn new(code: i32) -> Self {
        Self(code)
    }

    /// The code's number.
    pub const fn get(self) -> i32 {
        self.0
    }

    /// Whether this is [`SUCCESS`](Self::SUCCESS).
    pub const fn is_success(self) -> bool {
        self.0 == raw::NVTXW_RESULT_SUCCESS
    }

    /// The code's name without `NVTXW_RESULT_`; `None` if the ABI doesn't define it.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self(raw::NVTXW_RESULT_SUCCESS) => "SUCCESS",
            Self(raw::NVTXW_RESULT_FAILED) => "FAILED",
            Self(raw::NVTXW_RESULT_INVALID_ARGUMENT) => "INVALID_ARGUMENT",
            Self(raw::NVTXW_RESULT_LIBRARY_NOT_FOUND) => "LIBRARY_NOT_FOUND",
            Self(raw::NVTXW_RESULT_LIBRARY_LOAD_FAILED) => "LIBRARY_LOAD_FAILED",
            Self(raw::NVTXW_RESULT_LIBRARY_SYMBOL_MISSING) => "LIBRARY_SYMBOL_MISSING",
            Self(raw::NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED) => {
                "INTERFACE_VERSION_NOT_SUPPORTED"
            }
            Self(raw::NVTXW_RESULT_NOT_SUPPORTED) => "NOT_SUPPORTED",
            _ => return None,
        })
    }
}

impl fmt::Display for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "unknown result {}", self.0),
        }
    }
}

impl fmt::Debug for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::ResultCode;

    #[test]
    fn codes_have_their_names() {
        let names = [
            (ResultCode::SUCCESS, "SUCCESS (0)"),
            (ResultCode::FAILED, "FAILED (1)"),
            (ResultCode::INVALID_ARGUMENT, "INVALID_ARGUMENT (2)"),
            (ResultCode::LIBRARY_NOT_FOUND, "LIBRARY_NOT_FOUND (3)"),
            (ResultCode::LIBRARY_LOAD_FAILED, "LIBRARY_LOAD_FAILED (4)"),
            (
                ResultCode::LIBRARY_SYMBOL_MISSING,
                "LIBRARY_SYMBOL_MISSING (5)",
            ),
            (
                ResultCode::INTERFACE_VERSION_NOT_SUPPORTED,
                "INTERFACE_VERSION_NOT_SUPPORTED (6)",
            ),
            (ResultCode::NOT_SUPPORTED, "NOT_SUPPORTED (7)"),
        ];
        for (code, text) in names {
            assert_eq!(code.to_string(), text);
            assert_eq!(ResultCode::new(code.get()), code);
            assert_eq!(code.is_success(), code.get() == 0);
        }
    }

    #[test]
    fn unknown_codes_keep_their_number() {
        for number in [-1, 8, i32::MIN, i32::MAX] {
            let code = ResultCode::new(number);
            assert_eq!(code.get(), number);
            assert_eq!(code.name(), None);
            assert!(!code.is_success());
        }
        assert_eq!(ResultCode::new(-1).to_string(), "unknown result -1");
    }
}
