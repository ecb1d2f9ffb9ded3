//! Deterministic pseudo-random numbers from a seed and a name.

pub(super) struct SeededRandom(u64);

impl SeededRandom {
    pub(super) fn of(seed: u64, name: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        for part in name {
            hasher.update(part.as_bytes());
            hasher.update(&[0]);
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Self(u64::from_le_bytes(bytes))
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        // Written out: a library may change its sequence with a version, and showings would move.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(mixed % end).unwrap_or_default()
    }

    /// A number from `least` to `most`, inclusive.
    pub(super) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most.saturating_sub(least) + 1)
    }

    pub(super) fn shuffled<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
        items
    }
}
