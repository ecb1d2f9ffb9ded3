//! A cache with a limit of entries and bytes; the least recently used entry is dropped first.

use std::hash::Hash;

use lru::LruCache;
use parking_lot::Mutex;

pub struct Cache<K, V> {
    most: usize,
    bytes: usize,
    stored: Mutex<CacheState<K, V>>,
}

struct CacheState<K, V> {
    /// With their size in bytes.
    values: LruCache<K, (V, usize)>,
    bytes: usize,
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// At most `most` values with at most `bytes` bytes in total.
    #[must_use]
    pub fn new(most: usize, bytes: usize) -> Self {
        let stored = CacheState {
            values: LruCache::unbounded(),
            bytes: 0,
        };
        Self {
            most,
            bytes,
            stored: Mutex::new(stored),
        }
    }

    pub fn get(&self, key: &K) -> Option<V> {
        let mut stored = self.stored.lock();
        stored.values.get(key).map(|(value, _)| value.clone())
    }

    /// Caches a value of this size, unless it is too large by itself.
    pub fn put(&self, key: K, value: V, bytes: usize) {
        // One value must not evict all others.
        if bytes > self.bytes / 4 {
            return;
        }
        let stored = &mut *self.stored.lock();
        if let Some((_, before)) = stored.values.pop(&key) {
            stored.bytes -= before;
        }
        while stored.values.len() >= self.most || stored.bytes + bytes > self.bytes {
            let Some((_, (_, oldest))) = stored.values.pop_lru() else {
                break;
            };
            stored.bytes -= oldest;
        }
        stored.bytes += bytes;
        stored.values.put(key, (value, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let cache = Cache::new(3, 1000);
        for key in 1..=3 {
            cache.put(key, key * 10, 1);
        }
        assert_eq!(cache.get(&1), Some(10));
        cache.put(4, 40, 1);
        assert_eq!(
            [1, 2, 3, 4].map(|key| cache.get(&key)),
            [Some(10), None, Some(30), Some(40)]
        );
    }

    #[test]
    fn bytes_are_bounded_too_and_counted_once() {
        let cache = Cache::new(100, 40);
        for _ in 0..50 {
            cache.put(1, (), 10);
        }
        for key in 2..=4 {
            cache.put(key, (), 10);
        }
        assert!(cache.get(&1).is_some());
        cache.put(5, (), 10);
        assert_eq!(
            [1, 2, 3, 4, 5].map(|key| cache.get(&key).is_some()),
            [true, false, true, true, true]
        );
        cache.put(6, (), 11);
        assert!(cache.get(&6).is_none() && cache.get(&1).is_some());
    }
}
