//! Objects in a skin that it does not feel, during a run: between its contact points, or with faces that point away.

use crate::{Motion, Skin, Touch, Warning};
use serde::{Deserialize, Serialize};

/// Steps between two searches, each of which may cost as much as a step.
const STEPS_BETWEEN_SEARCHES: u64 = 4;

/// Warnings for objects between the contact points. An object that lands is between them for a few steps too, so only
/// one that two searches in a row find is reported.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MissedObjects {
    /// Found by the last search.
    found: Vec<Warning>,
    /// Found by the last two searches.
    confirmed: Vec<Warning>,
}

impl MissedObjects {
    /// Adds to the touch of a step the warnings for the objects that still have no contact. Every fourth `step` searches
    /// with [`Skin::missed`].
    pub fn add_warnings(&mut self, touch: &mut Touch, skin: &dyn Skin, motion: &Motion<'_>, step: u64) {
        if step.is_multiple_of(STEPS_BETWEEN_SEARCHES) {
            let found = skin.missed(touch, motion);
            self.confirmed = found.iter().filter(|warning| self.found.contains(warning)).cloned().collect();
            self.found = found;
        }
        let is_free = |warning: &&Warning| match warning {
            Warning::Missed { object, .. } | Warning::FacesAway { object } => {
                touch.facets.objects().all(|touched| touched != *object)
            }
            _ => true,
        };
        let free: Vec<Warning> = self.confirmed.iter().filter(is_free).cloned().collect();
        touch.warnings.extend(free);
    }
}
