//! Disables MuJoCo's own contact between pairs of geoms while a skin computes it.
//!
//! Two geoms collide when a bit of one's contype is set in the other's conaffinity. A geom that must not collide with
//! some objects gets contype 0 and a new bit as conaffinity; that bit is added to the contype of every other geom that
//! it collided with. No other contact changes. Sensors of one model share the original bits, and the last one restores
//! them.

use crate::{CouplingError, Library, Model};
use libc::c_void;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// contype and conaffinity of a geom.
pub type Bits = [i32; 2];

/// The disabled contacts of one model.
struct Filter {
    original: Vec<Bits>,
    /// The bits with the contacts disabled.
    written: Vec<Bits>,
    next: u64,
    /// Geoms under a skin and the objects that they no longer collide with, by the number of the [`DisabledContacts`].
    disabled: BTreeMap<u64, (Vec<usize>, Vec<usize>)>,
}

static FILTERS: Mutex<BTreeMap<usize, Filter>> = Mutex::new(BTreeMap::new());

/// contype and conaffinity of a geom before any contact was disabled; `None` if no contact is disabled.
pub(crate) fn original_bits(model: &Model<'_>, geom: usize) -> Option<Bits> {
    let filters = FILTERS.lock().unwrap_or_else(PoisonError::into_inner);
    filters.get(&(model.raw() as usize)).map(|filter| filter.original[geom])
}

/// contype and conaffinity of a geom with the contacts disabled; `None` if no contact is disabled.
pub(crate) fn written_bits(model: &Model<'_>, geom: usize) -> Option<Bits> {
    let filters = FILTERS.lock().unwrap_or_else(PoisonError::into_inner);
    filters.get(&(model.raw() as usize)).and_then(|filter| filter.written.get(geom).copied())
}

/// All bits of a model before any contact was disabled; `None` if no contact is disabled.
pub fn all_original_bits(model: &Model<'_>) -> Option<Vec<Bits>> {
    let filters = FILTERS.lock().unwrap_or_else(PoisonError::into_inner);
    filters.get(&(model.raw() as usize)).map(|filter| filter.original.clone())
}

/// The model (address) of which this one is a copy that was made while contacts were disabled, and its original bits. The
/// copy has the contacts disabled, and no skin computes them.
pub fn original_of_copy(model: &Model<'_>) -> Option<(usize, Vec<Bits>)> {
    let filters = FILTERS.lock().unwrap_or_else(PoisonError::into_inner);
    if filters.contains_key(&(model.raw() as usize)) {
        return None;
    }
    let is_copied = |filter: &Filter| filter.written != filter.original && model.has_contact_bits(&filter.written);
    let (&address, filter) = filters.iter().find(|(_, filter)| is_copied(filter))?;
    Some((address, filter.original.clone()))
}

/// Writes the bits of a copied model as they were before any contact was disabled; nothing if contacts of this model are
/// disabled.
///
/// # Safety
/// No other code accesses contype and conaffinity of the model during the call.
pub unsafe fn restore_copy(model: &Model<'_>, original: &[Bits]) {
    let filters = FILTERS.lock().unwrap_or_else(PoisonError::into_inner);
    if !filters.contains_key(&(model.raw() as usize)) && original.len() == model.geoms() {
        // SAFETY: as the caller guarantees.
        unsafe { model.set_all_contact_bits(original) };
    }
}

/// Contacts that are disabled while this value lives.
#[derive(Debug)]
pub struct DisabledContacts {
    model: usize,
    number: u64,
}

impl DisabledContacts {
    /// Disables the contact between the geoms `own` and `objects`.
    ///
    /// # Safety
    /// The model outlives the value, and no other code accesses contype and conaffinity of the model during this call
    /// and the drop.
    pub unsafe fn new(model: &Model<'_>, own: &[usize], objects: &[usize]) -> Result<Self, CouplingError> {
        for &geom in own {
            if let Some(&object) = objects.iter().find(|&&object| model.are_paired(geom, object)) {
                let (own, object) = (model.geom_name(geom), model.geom_name(object));
                return Err(CouplingError::ContactPair { own, object });
            }
        }
        let mut filters = FILTERS.lock().unwrap_or_else(PoisonError::into_inner);
        let filter = filters.entry(model.raw() as usize).or_insert_with(|| Filter {
            original: model.all_contact_bits(),
            written: Vec::new(),
            next: 0,
            disabled: BTreeMap::new(),
        });
        let number = filter.next;
        filter.next += 1;
        filter.disabled.insert(number, (own.to_vec(), objects.to_vec()));
        let written = filter.write(model);
        drop(filters);
        // Dropping the value undoes a change that failed half-way.
        let made = Self { model: model.raw() as usize, number };
        written.map(|()| made)
    }
}

impl Drop for DisabledContacts {
    fn drop(&mut self) {
        let Some(library) = Library::here() else { return };
        let Ok(layout) = library.layout() else { return };
        // SAFETY: the model outlives this value, as `new` requires.
        let model = unsafe { Model::new(self.model as *const c_void, layout, library) };
        let mut filters = FILTERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(filter) = filters.get_mut(&self.model) {
            filter.disabled.remove(&self.number);
            // Fewer disabled contacts never need more bits.
            let _ = filter.write(&model);
            if filter.disabled.is_empty() {
                filters.remove(&self.model);
            }
        }
    }
}

impl Filter {
    /// Writes the bits of all geoms, starting from the original ones and those that the program has written since.
    fn write(&mut self, model: &Model<'_>) -> Result<(), CouplingError> {
        for (geom, written) in self.written.iter().enumerate() {
            let bits = model.contact_bits(geom);
            if bits != *written {
                self.original[geom] = bits;
            }
        }
        let mut bits = self.original.clone();
        let mut full = None;
        for (own, objects) in self.disabled.values() {
            for &geom in own {
                let collides =
                    |&other: &usize| other != geom && !objects.contains(&other) && collide(bits[geom], bits[other]);
                let others: Vec<usize> = (0..bits.len()).filter(collides).collect();
                bits[geom] = [0, 0];
                if others.is_empty() {
                    continue;
                }
                let used = bits.iter().flatten().fold(0, |used, &bits| used | bits);
                match (0..31).rev().map(|bit| 1 << bit).find(|bit| used & bit == 0) {
                    Some(bit) => {
                        bits[geom][1] = bit;
                        others.iter().for_each(|&other| bits[other][0] |= bit);
                    }
                    None => full = full.or(Some(geom)),
                }
            }
        }
        if let Some(geom) = full {
            return Err(CouplingError::NoFreeBit { geom: model.geom_name(geom) });
        }
        // SAFETY: the caller of `DisabledContacts::new` has exclusive access to the bits of the model.
        unsafe { model.set_all_contact_bits(&bits) };
        self.written = bits;
        Ok(())
    }
}

/// True if the bits of two geoms allow them to collide.
pub(crate) fn collide([type_a, affinity_a]: Bits, [type_b, affinity_b]: Bits) -> bool {
    type_a & affinity_b != 0 || type_b & affinity_a != 0
}
