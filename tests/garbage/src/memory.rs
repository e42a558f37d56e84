//! Memory for calls: pieces of exactly the size that they are said to have, so that AddressSanitizer sees any look beyond.

use std::any::Any;
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr;

/// What the pointers of a call point to. It stays where it is until this is dropped.
#[derive(Default)]
pub struct Memory(Vec<Box<dyn Any>>);

impl Memory {
    /// Keeps items in a piece of their own. Null if there are none.
    pub fn items<T: 'static>(&mut self, items: Vec<T>) -> *mut T {
        if items.is_empty() {
            return ptr::null_mut();
        }
        // A vector may have room for more.
        let mut items = items.into_boxed_slice().into_vec();
        let pointer = items.as_mut_ptr();
        self.0.push(Box::new(items));
        pointer
    }

    /// A place for a result, which holds `value` before.
    pub fn place<T: 'static>(&mut self, value: T) -> *mut T {
        self.items(vec![value])
    }

    /// Keeps a text with its null.
    pub fn text(&mut self, text: &CStr) -> *const c_char {
        self.items(text.to_bytes_with_nul().to_vec()).cast()
    }

    /// Keeps bytes at an address that is `skew` bytes after an aligned one. Null if there are none of both.
    pub fn skewed(&mut self, bytes: &[u8], skew: usize) -> *mut u8 {
        let all = [&vec![0; skew], bytes].concat();
        self.items(all).wrapping_add(skew)
    }

    /// Keeps the first `size` bytes of a struct; of one that is larger than ours, garbage follows.
    pub fn head<T: Copy>(&mut self, whole: &T, size: usize) -> *const T {
        let mut bytes = vec![MaybeUninit::new(0xDB_u8); size];
        // SAFETY:
        // - So many bytes are in both, which don't overlap; bytes of padding stay what they are.
        unsafe {
            ptr::copy_nonoverlapping(
                ptr::from_ref(whole).cast(),
                bytes.as_mut_ptr(),
                size.min(size_of::<T>()),
            );
        }
        self.items(bytes).cast()
    }
}
