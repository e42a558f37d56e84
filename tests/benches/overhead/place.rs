//! Where a measured loop lies.

/// How many places there are.
pub const PLACES: usize = 4;

/// Moves the code that follows by so many times 16 bytes: where a loop lies in the processor's cache lines costs or saves
/// as much as a call takes, so each loop is there once in each place.
#[inline(always)]
pub fn place<const PLACE: usize>() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY:
    // - It does nothing, some times.
    unsafe {
        std::arch::asm!(
            ".skip 16 * {}, 0x90",
            const PLACE,
            options(nomem, nostack, preserves_flags)
        );
    }
}
