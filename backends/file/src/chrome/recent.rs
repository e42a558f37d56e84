//! Texts that come again and again, as they are written.

/// Places of the table.
const PLACES: usize = 256;

/// What keys stood for, by their low bits: what comes takes the place of what was there.
#[derive(Default)]
pub(super) struct Recent(Vec<(u64, Box<[u8]>)>);

impl Recent {
    /// What a key (never 0) stands for, unless it was forgotten.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<&[u8]> {
        let (known, text) = self.0.get(key as usize % PLACES)?;
        (*known == key).then_some(text)
    }

    pub(super) fn put(&mut self, key: u64, text: &[u8]) {
        if self.0.is_empty() {
            self.0.resize_with(PLACES, Default::default);
        }
        self.0[key as usize % PLACES] = (key, text.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_until_others_take_their_place() {
        let mut recent = Recent::default();
        assert_eq!(recent.get(5), None);
        recent.put(5, b"a");
        assert_eq!(recent.get(5), Some(&b"a"[..]));
        let other = 5 + PLACES as u64;
        assert_eq!(recent.get(other), None);
        recent.put(other, b"b");
        assert_eq!(recent.get(5), None);
        assert_eq!(recent.get(other), Some(&b"b"[..]));
    }
}
