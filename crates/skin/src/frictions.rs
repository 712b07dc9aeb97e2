//! The friction of a skin with each of several objects.

use crate::{Friction, Motion};

/// The friction of a skin, and that with objects that have a coefficient of their own ([`crate::Object::mu`]).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frictions {
    skin: Friction,
    /// By index of the object; empty if all have the friction of the skin.
    objects: Vec<Friction>,
}

impl Default for Frictions {
    fn default() -> Self {
        Self::from(Friction::None)
    }
}

impl From<Friction> for Frictions {
    fn from(skin: Friction) -> Self {
        Self { skin, objects: Vec::new() }
    }
}

impl Frictions {
    /// The friction with the objects of a motion.
    pub fn new(skin: Friction, motion: &Motion<'_>) -> Self {
        let same = motion.targets.iter().all(|target| target.object.mu.is_none());
        let with_object = |object: &crate::Object| object.mu.map_or(skin, |mu| skin.with_mu(mu));
        let objects = motion.targets.iter().filter(|_| !same).map(|target| with_object(target.object));
        Self { skin, objects: objects.collect() }
    }

    /// The friction with an object.
    #[inline(always)]
    pub fn of(&self, object: u32) -> &Friction {
        self.objects.get(object as usize).unwrap_or(&self.skin)
    }

    /// The friction with all objects, if it is the same.
    #[inline(always)]
    pub fn only(&self) -> Option<&Friction> {
        self.objects.is_empty().then_some(&self.skin)
    }
}
