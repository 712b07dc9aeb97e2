//! The contact patches of a touch.

use crate::{ContactPoints, Facet, Support};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The contact patches of a touch: a list of [`Facet`], or [`ContactPoints`] in vector lanes, from which the list is made
/// when it is first read. Dereferences to the list.
#[derive(Clone, Default)]
pub struct Facets {
    points: Option<Arc<ContactPoints>>,
    list: OnceLock<Vec<Facet>>,
}

impl Facets {
    /// The contact points, if the skin computes them in vector lanes.
    pub fn points(&self) -> Option<&ContactPoints> {
        self.points.as_deref()
    }

    /// Removes the contact points.
    pub(crate) fn take_points(&mut self) -> Option<Arc<ContactPoints>> {
        self.points.as_ref()?;
        std::mem::take(self).points
    }

    /// Number of facets.
    pub fn len(&self) -> usize {
        self.points().map_or_else(|| self.list().len(), ContactPoints::len)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.points().map_or_else(|| self.list().is_empty(), ContactPoints::is_empty)
    }

    /// The object of each facet.
    pub fn objects(&self) -> impl Iterator<Item = u32> + '_ {
        let points = self.points().into_iter().flat_map(ContactPoints::objects);
        points.chain(self.unless_points().iter().map(|facet| facet.object))
    }

    /// The object of each facet with its position, normal, stiffness and damping.
    pub fn supports(&self) -> impl Iterator<Item = (u32, Support)> + '_ {
        let points = self.points().into_iter().flat_map(ContactPoints::supports);
        points.chain(self.unless_points().iter().map(|facet| (facet.object, facet.support())))
    }

    /// The list, to be changed.
    pub(crate) fn list_mut(&mut self) -> &mut Vec<Facet> {
        self.list();
        self.points = None;
        self.list.get_mut().expect("the list was made above")
    }

    fn list(&self) -> &Vec<Facet> {
        self.list.get_or_init(|| self.points().into_iter().flat_map(ContactPoints::facets).collect())
    }

    /// The list, or none for points.
    fn unless_points(&self) -> &[Facet] {
        if self.points.is_some() { &[] } else { self.list() }
    }
}

impl Deref for Facets {
    type Target = [Facet];
    fn deref(&self) -> &[Facet] {
        self.list()
    }
}

impl<'a> IntoIterator for &'a Facets {
    type Item = &'a Facet;
    type IntoIter = std::slice::Iter<'a, Facet>;
    fn into_iter(self) -> Self::IntoIter {
        self.list().iter()
    }
}

impl From<Vec<Facet>> for Facets {
    fn from(list: Vec<Facet>) -> Self {
        Self { points: None, list: list.into() }
    }
}

impl From<Arc<ContactPoints>> for Facets {
    fn from(points: Arc<ContactPoints>) -> Self {
        Self { points: Some(points), list: OnceLock::new() }
    }
}

impl std::fmt::Debug for Facets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.list().fmt(f)
    }
}

impl PartialEq for Facets {
    fn eq(&self, other: &Self) -> bool {
        self.list() == other.list()
    }
}

impl Serialize for Facets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Facets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
