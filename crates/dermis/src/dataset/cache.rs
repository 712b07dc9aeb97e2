//! A least-recently-used cache for objects that are expensive to build. Results never depend on its content.

use std::sync::{Arc, Mutex, PoisonError};

/// A few values by key; the least recently used is evicted first.
#[derive(Debug)]
pub struct Cache<V> {
    capacity: usize,
    /// Cached values, most recently used last.
    kept: Mutex<Vec<(usize, Slot<V>)>>,
}

/// A cached value. Locked while the value is built; other threads that need it wait.
type Slot<V> = Arc<Mutex<Option<Arc<V>>>>;

impl<V> Cache<V> {
    /// A cache for `capacity` values.
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), kept: Mutex::new(Vec::new()) }
    }

    /// The value of a key; `make` builds it if it is absent. Errors are not cached.
    pub fn get<E>(&self, key: usize, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        let slot = self.slot(key);
        let mut value = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*value {
            return Ok(Arc::clone(value));
        }
        let made = Arc::new(make()?);
        *value = Some(Arc::clone(&made));
        Ok(made)
    }

    fn slot(&self, key: usize) -> Slot<V> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = match kept.iter().position(|(other, _)| *other == key) {
            Some(at) => kept.remove(at).1,
            None => Slot::default(),
        };
        kept.push((key, Arc::clone(&slot)));
        if kept.len() > self.capacity {
            kept.remove(0);
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_least_recently_used_is_evicted_and_errors_are_not_cached() {
        let cache = Cache::new(2);
        let made = Cell::new(0);
        let get = |key: usize| {
            let make = || {
                made.set(made.get() + 1);
                Ok::<usize, ()>(10 * key)
            };
            *cache.get(key, make).unwrap()
        };
        assert_eq!([get(1), get(2), get(1), get(3), get(1)], [10, 20, 10, 30, 10]);
        assert_eq!(made.get(), 3);
        assert_eq!(get(2), 20);
        assert_eq!(made.get(), 4);
        assert_eq!(cache.get(9, || Err::<usize, _>("no")), Err("no"));
        assert_eq!(*cache.get(9, || Ok::<_, &str>(1)).unwrap(), 1);
    }
}
