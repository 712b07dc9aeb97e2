//! Objects that lie between the contact points of a skin.

use dermis_skin::{Touch, Warning};

/// Steps between two searches, each of which may cost as much as a step.
pub(super) const STEPS_BETWEEN_SEARCHES: u64 = 16;

/// Warnings for objects between the contact points. An object that lands is between them for a few steps too, so only
/// one that two searches in a row find is reported.
#[derive(Clone, Debug, Default)]
pub(super) struct MissedObjects {
    /// Found by the last search.
    found: Vec<Warning>,
    /// Found by the last two searches.
    confirmed: Vec<Warning>,
}

impl MissedObjects {
    /// Stores what a search has found.
    pub(super) fn search(&mut self, found: Vec<Warning>) {
        self.confirmed = found.iter().filter(|warning| self.found.contains(warning)).cloned().collect();
        self.found = found;
    }

    /// Warnings for the objects that still have no contact.
    pub(super) fn warnings(&self, touch: &Touch) -> Vec<Warning> {
        let is_free = |warning: &&Warning| match warning {
            Warning::Unresolved { object, .. } => touch.facets.iter().all(|facet| facet.object != *object),
            _ => true,
        };
        self.confirmed.iter().filter(is_free).cloned().collect()
    }
}
