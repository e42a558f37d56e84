//! Copies of bytes, in which some are replaced.

/// Bytes that start where values of any type may be.
#[derive(Default)]
pub(crate) struct Copied {
    words: Vec<u128>,
    len: usize,
}

impl Copied {
    /// Becomes these bytes, and `more` zeros behind them.
    pub(crate) fn set(&mut self, bytes: &[u8], more: usize) {
        let size = bytes.len() + more;
        self.words.clear();
        self.words.resize(size.div_ceil(size_of::<u128>()), 0);
        self.len = bytes.len();
        self.bytes_mut().copy_from_slice(bytes);
    }

    /// Adds zeros up to so many bytes.
    pub(crate) fn extend(&mut self, len: usize) {
        self.words.resize(len.div_ceil(size_of::<u128>()), 0);
        self.len = len;
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    /// The 8 bytes at `at`.
    pub(crate) fn word(&self, at: usize) -> u64 {
        bytemuck::pod_read_unaligned(&self.bytes()[at..at + size_of::<u64>()])
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }

    /// Replaces the 8 bytes at `at` by what `other` makes of them.
    pub(crate) fn replace(&mut self, at: usize, other: impl FnOnce(u64) -> u64) {
        let word = &mut self.bytes_mut()[at..at + size_of::<u64>()];
        let value: u64 = bytemuck::pod_read_unaligned(word);
        word.copy_from_slice(&other(value).to_ne_bytes());
    }
}

/// Whether values of this alignment may be where the bytes start.
pub(crate) fn is_aligned(bytes: &[u8], align: usize) -> bool {
    let align = align.clamp(1, align_of::<u128>());
    bytes.as_ptr().addr().is_multiple_of(align)
}
