//! Reads accessors: positions and indices.

use super::super::raw_mesh::check_count;
use super::super::{FileError, Place, Problem};
use super::Document;
use super::document::Accessor;
use crate::Vec3;

const UNSIGNED_BYTE: u64 = 5121;
const UNSIGNED_SHORT: u64 = 5123;
const UNSIGNED_INT: u64 = 5125;
const FLOAT: u64 = 5126;

impl Document<'_> {
    pub(super) fn positions(&self, index: usize, place: Place) -> Result<Vec<Vec3>, FileError> {
        let accessor = self.accessor(index, place)?;
        if accessor.shape != "VEC3" || accessor.component_type != FLOAT {
            let found = format!("{} of component type {}", accessor.shape, accessor.component_type);
            return Err(self.bad(Place::Element("accessor", index), "positions as VEC3 of float (5126)", found));
        }
        check_count(place, "vertices", accessor.count)?;
        let to_number = |b: &[u8; 4]| f64::from(f32::from_le_bytes(*b));
        Ok(self
            .elements(index, accessor, 12)?
            .map(|bytes| {
                let [x, y, z] = [0, 4, 8].map(|i| bytes[i..].first_chunk().map_or(f64::NAN, to_number));
                Vec3::new(x, y, z)
            })
            .collect())
    }

    pub(super) fn indices(&self, index: usize, place: Place) -> Result<Vec<u32>, FileError> {
        let accessor = self.accessor(index, place)?;
        let size = match accessor.component_type {
            UNSIGNED_BYTE => 1,
            UNSIGNED_SHORT => 2,
            UNSIGNED_INT => 4,
            _ => 0,
        };
        if accessor.shape != "SCALAR" || size == 0 {
            let found = format!("{} of component type {}", accessor.shape, accessor.component_type);
            let expected = "indices as SCALAR of unsigned byte, short or int (5121, 5123, 5125)";
            return Err(self.bad(Place::Element("accessor", index), expected, found));
        }
        check_count(place, "triangles", accessor.count / 3)?;
        // Little-endian bytes.
        let to_index = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &b| sum << 8 | u32::from(b));
        Ok(self.elements(index, accessor, size)?.map(to_index).collect())
    }

    fn accessor(&self, index: usize, place: Place) -> Result<&Accessor, FileError> {
        let accessor = self.lookup(&self.root.accessors, "accessor", index, place)?;
        if accessor.sparse.is_some() {
            return Err(Problem::GltfUnsupported {
                feature: "a sparse accessor".into(),
                remedy: "export the file without sparse accessors",
            }
            .at(Place::Element("accessor", index)));
        }
        Ok(accessor)
    }

    /// The bytes of each element; checks that all elements lie inside their view and buffer.
    fn elements<'s>(
        &'s self,
        index: usize,
        accessor: &Accessor,
        size: usize,
    ) -> Result<impl Iterator<Item = &'s [u8]> + use<'s>, FileError> {
        let place = Place::Element("accessor", index);
        let Some(view_index) = accessor.buffer_view else {
            return Err(self.bad(place, "a bufferView", "none".into()));
        };
        let view = self.lookup(&self.root.buffer_views, "bufferView", view_index, place)?;
        view.refuse_compression(view_index)?;
        let view_place = Place::Element("bufferView", view_index);
        let buffer = self.lookup(&self.buffers, "buffer", view.buffer, view_place)?;
        let too_short = |place: Place, holder: String, needs: u64, has: usize| {
            Problem::GltfTooShort { holder, needs, has: has as u64 }.at(place)
        };

        let view_end = (view.byte_offset as u64).saturating_add(view.byte_length as u64);
        let bytes = view.byte_offset.checked_add(view.byte_length).and_then(|end| buffer.get(view.byte_offset..end));
        let bytes =
            bytes.ok_or_else(|| too_short(view_place, format!("buffer {}", view.buffer), view_end, buffer.len()))?;

        let stride = view.byte_stride.unwrap_or(size);
        if stride < size {
            return Err(self.bad(view_place, "a byteStride no less than an element", stride.to_string()));
        }
        let length = match accessor.count.checked_sub(1) {
            None => 0,
            Some(before) => (before as u64).saturating_mul(stride as u64).saturating_add(size as u64),
        };
        let end = length.saturating_add(accessor.byte_offset as u64);
        if end > bytes.len() as u64 {
            return Err(too_short(place, view_place.to_string(), end, bytes.len()));
        }
        let bytes = &bytes[accessor.byte_offset..];
        Ok((0..accessor.count).map(move |i| &bytes[i * stride..i * stride + size]))
    }
}
