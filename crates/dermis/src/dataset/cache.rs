//! Things that are costly to make, kept as long as there is room: what comes out never depends on what was kept.

use std::sync::{Arc, Mutex, PoisonError};

/// A few values by key, the one that was not asked for longest given up first.
#[derive(Debug)]
pub struct Cache<V> {
    room: usize,
    /// The last is the latest.
    kept: Mutex<Vec<(usize, Slot<V>)>>,
}

/// Locked while its value is made: others that want the same one wait for it.
type Slot<V> = Arc<Mutex<Option<Arc<V>>>>;

impl<V> Cache<V> {
    /// With room for so many.
    pub fn new(room: usize) -> Self {
        Self { room: room.max(1), kept: Mutex::new(Vec::new()) }
    }

    /// The value of a key, made if it is not kept; an error is not kept.
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
        if kept.len() > self.room {
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
    fn the_one_not_asked_for_longest_goes_first_and_errors_are_not_kept() {
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
