//! From one run to any number of pages.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Moments of the past that a page which joins late is told; twice as many are thinned to this.
const MAX_PAST: usize = 2000;
/// Moments that wait for a slow page; older ones are left out.
const MAX_WAITING: usize = 8;

/// What every page is told.
#[derive(Default)]
pub struct Hub {
    shared: Mutex<Shared>,
    changed: Condvar,
}

#[derive(Default)]
struct Shared {
    scene: Option<Arc<str>>,
    /// Time and forces of the past, each a JSON array.
    past: Vec<String>,
    frame: Option<Arc<str>>,
    end: Option<Arc<str>>,
    viewers: Vec<(u64, VecDeque<Arc<str>>)>,
    next: u64,
}

/// One page.
pub struct Viewer<'a> {
    hub: &'a Hub,
    id: u64,
}

fn event(name: &str, data: &str) -> Arc<str> {
    format!("event: {name}\ndata: {data}\n\n").into()
}

impl Hub {
    /// What there is to see, once, before anything else.
    pub fn scene(&self, json: &str) {
        self.lock().scene = Some(event("scene", json));
    }

    /// One moment; `forces` is what is kept of it for those who come later.
    pub fn frame(&self, json: &str, forces: String) {
        let mut shared = self.lock();
        shared.past.push(forces);
        if shared.past.len() > 2 * MAX_PAST {
            let mut keep = false;
            shared.past.retain(|_| {
                keep = !keep;
                keep
            });
        }
        let frame = event("frame", json);
        shared.frame = Some(Arc::clone(&frame));
        shared.tell(&frame);
        drop(shared);
        self.changed.notify_all();
    }

    /// The run is over.
    pub fn end(&self, json: &str) {
        let mut shared = self.lock();
        let end = event("end", json);
        shared.end = Some(Arc::clone(&end));
        shared.tell(&end);
        drop(shared);
        self.changed.notify_all();
    }

    /// How many pages look on.
    pub fn viewers(&self) -> usize {
        self.lock().viewers.len()
    }

    /// Waits until somebody looks on, but not longer than that.
    pub fn wait_for_viewer(&self, most: Duration) {
        let waited = self.changed.wait_timeout_while(self.lock(), most, |shared| shared.viewers.is_empty());
        drop(waited);
    }

    /// Waits until everybody has been told everything, but not longer than that.
    pub fn wait_for_all_told(&self, most: Duration) {
        let waiting = |shared: &mut Shared| shared.viewers.iter().any(|(_, waiting)| !waiting.is_empty());
        let waited = self.changed.wait_timeout_while(self.lock(), most, waiting);
        drop(waited);
    }

    /// A page comes: it is told what there is to see, the past, and the moment that is.
    pub fn join(&self) -> Viewer<'_> {
        let mut shared = self.lock();
        let id = shared.next;
        shared.next += 1;
        let past = event("past", &format!("[{}]", shared.past.join(",")));
        let parts = [shared.scene.clone(), Some(past), shared.frame.clone(), shared.end.clone()];
        shared.viewers.push((id, parts.into_iter().flatten().collect()));
        drop(shared);
        self.changed.notify_all();
        Viewer { hub: self, id }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn tell(&mut self, event: &Arc<str>) {
        for (_, waiting) in &mut self.viewers {
            if waiting.len() >= MAX_WAITING {
                // The newest counts; what is first may be the scene itself, so it stays.
                waiting.remove(MAX_WAITING / 2);
            }
            waiting.push_back(Arc::clone(event));
        }
    }

    fn take(&mut self, id: u64) -> Option<Arc<str>> {
        self.viewers.iter_mut().find(|(other, _)| *other == id).and_then(|(_, waiting)| waiting.pop_front())
    }
}

impl Viewer<'_> {
    /// The next thing to tell; nothing when there is none for so long.
    pub fn next(&self, most: Duration) -> Option<Arc<str>> {
        let mut shared = self.hub.lock();
        let first = shared.take(self.id);
        let event = first.or_else(|| {
            let waited = self.hub.changed.wait_timeout(shared, most);
            let (mut shared, _) = waited.unwrap_or_else(PoisonError::into_inner);
            shared.take(self.id)
        });
        self.hub.changed.notify_all();
        event
    }
}

impl Drop for Viewer<'_> {
    fn drop(&mut self) {
        self.hub.lock().viewers.retain(|(id, _)| *id != self.id);
        self.hub.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    #[test]
    fn who_comes_late_is_told_the_scene_the_past_and_the_last_moment() {
        let hub = Hub::default();
        hub.scene("{}");
        hub.frame("1", "[1]".into());
        hub.frame("2", "[2]".into());
        let viewer = hub.join();
        let told: Vec<_> = std::iter::from_fn(|| viewer.next(NOW)).collect();
        assert_eq!(told[0].as_ref(), "event: scene\ndata: {}\n\n");
        assert_eq!(told[1].as_ref(), "event: past\ndata: [[1],[2]]\n\n");
        assert_eq!(told[2].as_ref(), "event: frame\ndata: 2\n\n");
        assert_eq!(told.len(), 3);
    }

    #[test]
    fn a_slow_page_misses_moments_but_neither_the_scene_nor_the_end() {
        let hub = Hub::default();
        hub.scene("{}");
        let viewer = hub.join();
        (0..1000).for_each(|i| hub.frame(&i.to_string(), format!("[{i}]")));
        hub.end("{}");
        let told: Vec<_> = std::iter::from_fn(|| viewer.next(NOW)).collect();
        assert!(told.len() <= MAX_WAITING, "{}", told.len());
        assert!(told[0].starts_with("event: scene") && told[told.len() - 1].starts_with("event: end"));
        assert!(told[told.len() - 2].contains("999"));
    }

    #[test]
    fn who_leaves_is_forgotten() {
        let hub = Hub::default();
        let viewer = hub.join();
        assert_eq!(hub.viewers(), 1);
        drop(viewer);
        assert_eq!(hub.viewers(), 0);
        (0..5 * MAX_PAST).for_each(|i| hub.frame("{}", format!("[{i}]")));
        assert!(hub.lock().past.len() <= 2 * MAX_PAST);
    }
}
