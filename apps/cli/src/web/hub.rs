//! Distributes the events of one run to any number of pages.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Past samples that a late page receives; twice as many are thinned to this number.
const MAX_PAST: usize = 2000;
/// Maximum queue length of a slow page; older frames are dropped.
const MAX_WAITING: usize = 8;

/// The event hub of a run.
#[derive(Default)]
pub struct Hub {
    shared: Mutex<Shared>,
    changed: Condvar,
}

#[derive(Default)]
struct Shared {
    scene: Option<Arc<str>>,
    /// Past times and forces, each a JSON array.
    past: Vec<String>,
    frame: Option<Arc<str>>,
    end: Option<Arc<str>>,
    viewers: Vec<(u64, VecDeque<Arc<str>>)>,
    next: u64,
}

/// The queue of one page.
pub struct Viewer<'a> {
    hub: &'a Hub,
    id: u64,
}

fn event(name: &str, data: &str) -> Arc<str> {
    format!("event: {name}\ndata: {data}\n\n").into()
}

impl Hub {
    /// Sets the scene event, which every page receives first.
    pub fn scene(&self, json: &str) {
        self.lock().scene = Some(event("scene", json));
    }

    /// Sends a frame; `forces` is stored for pages that join later.
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
        shared.send(&frame);
        drop(shared);
        self.changed.notify_all();
    }

    /// Sends the end of the run.
    pub fn end(&self, json: &str) {
        let mut shared = self.lock();
        let end = event("end", json);
        shared.end = Some(Arc::clone(&end));
        shared.send(&end);
        drop(shared);
        self.changed.notify_all();
    }

    /// The number of connected pages.
    pub fn viewers(&self) -> usize {
        self.lock().viewers.len()
    }

    /// Waits until a page connects, or for a timeout.
    pub fn wait_for_viewer(&self, timeout: Duration) {
        let waited = self.changed.wait_timeout_while(self.lock(), timeout, |shared| shared.viewers.is_empty());
        drop(waited);
    }

    /// Waits until all queues are empty, or for a timeout.
    pub fn wait_until_delivered(&self, timeout: Duration) {
        let waiting = |shared: &mut Shared| shared.viewers.iter().any(|(_, waiting)| !waiting.is_empty());
        let waited = self.changed.wait_timeout_while(self.lock(), timeout, waiting);
        drop(waited);
    }

    /// Connects a page. It first receives the scene, the past and the latest frame.
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
    fn send(&mut self, event: &Arc<str>) {
        for (_, waiting) in &mut self.viewers {
            if waiting.len() >= MAX_WAITING {
                // Drops an intermediate frame: the first entry may be the scene, the last is the newest.
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
    /// The next event; `None` after a timeout.
    pub fn next(&self, timeout: Duration) -> Option<Arc<str>> {
        let mut shared = self.hub.lock();
        let first = shared.take(self.id);
        let event = first.or_else(|| {
            let waited = self.hub.changed.wait_timeout(shared, timeout);
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
    fn a_late_page_receives_the_scene_the_past_and_the_last_frame() {
        let hub = Hub::default();
        hub.scene("{}");
        hub.frame("1", "[1]".into());
        hub.frame("2", "[2]".into());
        let viewer = hub.join();
        let events: Vec<_> = std::iter::from_fn(|| viewer.next(NOW)).collect();
        assert_eq!(events[0].as_ref(), "event: scene\ndata: {}\n\n");
        assert_eq!(events[1].as_ref(), "event: past\ndata: [[1],[2]]\n\n");
        assert_eq!(events[2].as_ref(), "event: frame\ndata: 2\n\n");
        assert_eq!(events.len(), 3);
    }

    #[test]
    fn a_slow_page_misses_frames_but_neither_the_scene_nor_the_end() {
        let hub = Hub::default();
        hub.scene("{}");
        let viewer = hub.join();
        (0..1000).for_each(|i| hub.frame(&i.to_string(), format!("[{i}]")));
        hub.end("{}");
        let events: Vec<_> = std::iter::from_fn(|| viewer.next(NOW)).collect();
        assert!(events.len() <= MAX_WAITING, "{}", events.len());
        assert!(events[0].starts_with("event: scene") && events[events.len() - 1].starts_with("event: end"));
        assert!(events[events.len() - 2].contains("999"));
    }

    #[test]
    fn a_page_that_disconnects_is_removed() {
        let hub = Hub::default();
        let viewer = hub.join();
        assert_eq!(hub.viewers(), 1);
        drop(viewer);
        assert_eq!(hub.viewers(), 0);
        (0..5 * MAX_PAST).for_each(|i| hub.frame("{}", format!("[{i}]")));
        assert!(hub.lock().past.len() <= 2 * MAX_PAST);
    }
}
