//! Reads accessors: positions and indices.

use super::super::raw_mesh::check_count;
use super::super::{FileError, Place, Problem};
use super::Document;
use super::document::refuse_shaping;
use crate::Vec3;
use gltf::accessor::{Item, util::ItemIter};
use gltf::json::accessor::{Accessor, ComponentType, Type};
use gltf::json::validation::Checked;
use gltf::json::{Index, validation::USize64};

impl Document<'_> {
    pub(super) fn positions(&self, index: Index<Accessor>, place: Place) -> Result<Vec<Vec3>, FileError> {
        let accessor = self.accessor(index, place)?;
        let Some((Type::Vec3, ComponentType::F32)) = layout(accessor) else {
            return Err(bad_layout(index, accessor, "positions as VEC3 of float (5126)"));
        };
        check_count(place, "vertices", size(accessor.count))?;
        Ok(self.items::<[f32; 3]>(index, accessor)?.map(|p| glam::Vec3::from_array(p).as_dvec3()).collect())
    }

    pub(super) fn indices(&self, index: Index<Accessor>, place: Place) -> Result<Vec<u32>, FileError> {
        let accessor = self.accessor(index, place)?;
        check_count(place, "triangles", size(accessor.count) / 3)?;
        match layout(accessor) {
            Some((Type::Scalar, ComponentType::U8)) => Ok(self.items::<u8>(index, accessor)?.map(u32::from).collect()),
            Some((Type::Scalar, ComponentType::U16)) => {
                Ok(self.items::<u16>(index, accessor)?.map(u32::from).collect())
            }
            Some((Type::Scalar, ComponentType::U32)) => Ok(self.items::<u32>(index, accessor)?.collect()),
            _ => {
                let expected = "indices as SCALAR of unsigned byte, short or int (5121, 5123, 5125)";
                Err(bad_layout(index, accessor, expected))
            }
        }
    }

    fn accessor(&self, index: Index<Accessor>, place: Place) -> Result<&Accessor, FileError> {
        let accessor = self.lookup(&self.json.root.accessors, "accessor", index, place)?;
        if accessor.sparse.is_some() {
            return Err(Problem::GltfUnsupported {
                feature: "a sparse accessor".into(),
                remedy: "export the file without sparse accessors",
            }
            .at(Place::Element("accessor", index.value())));
        }
        Ok(accessor)
    }

    /// The items of an accessor; checks first that all of them lie inside their view and buffer.
    fn items<T: Item>(&self, index: Index<Accessor>, accessor: &Accessor) -> Result<ItemIter<'_, T>, FileError> {
        let place = Place::Element("accessor", index.value());
        let Some(view_index) = accessor.buffer_view else {
            return Err(self.bad(place, "a bufferView", "none".into()));
        };
        let view = self.lookup(&self.json.root.buffer_views, "bufferView", view_index, place)?;
        let view_place = Place::Element("bufferView", view_index.value());
        refuse_shaping(view.extensions.as_ref().map(|e| &e.others), view_place)?;
        let buffer = self
            .buffers
            .get(view.buffer.value())
            .ok_or_else(|| self.missing("buffer", view.buffer.value(), self.buffers.len(), view_place))?;
        let bytes = part(buffer, size_or_zero(view.byte_offset), view.byte_length.0).ok_or_else(|| {
            let needs = size_or_zero(view.byte_offset).saturating_add(view.byte_length.0);
            too_short(view_place, format!("buffer {}", view.buffer), needs, buffer.len())
        })?;

        let item = size_of::<T>();
        let stride = view.byte_stride.map_or(item, |stride| stride.0);
        if stride < item {
            return Err(self.bad(view_place, "a byteStride no less than an element", stride.to_string()));
        }
        let length = match accessor.count.0.checked_sub(1) {
            None => 0,
            Some(before) => before.saturating_mul(stride as u64).saturating_add(item as u64),
        };
        let offset = size_or_zero(accessor.byte_offset);
        let bytes = part(bytes, offset, length)
            .ok_or_else(|| too_short(place, view_place.to_string(), length.saturating_add(offset), bytes.len()))?;
        Ok(ItemIter::new(bytes, stride))
    }
}

fn size(count: USize64) -> usize {
    usize::try_from(count.0).unwrap_or(usize::MAX)
}

fn size_or_zero(offset: Option<USize64>) -> u64 {
    offset.map_or(0, |offset| offset.0)
}

fn part(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let end = usize::try_from(offset.checked_add(length)?).ok()?;
    bytes.get(usize::try_from(offset).ok()?..end)
}

fn too_short(place: Place, holder: String, needs: u64, has: usize) -> FileError {
    Problem::GltfTooShort { holder, needs, has: has as u64 }.at(place)
}

/// Type and component type; `None` if one of them is not in the specification.
fn layout(accessor: &Accessor) -> Option<(Type, ComponentType)> {
    match (accessor.type_, accessor.component_type) {
        (Checked::Valid(shape), Checked::Valid(component)) => Some((shape, component.0)),
        _ => None,
    }
}

fn bad_layout(index: Index<Accessor>, accessor: &Accessor, expected: &'static str) -> FileError {
    let found = layout(accessor).map_or("an unknown type".into(), |(shape, component)| {
        format!("{} of component type {}", format!("{shape:?}").to_uppercase(), component.as_gl_enum())
    });
    Problem::GltfValue { expected, found }.at(Place::Element("accessor", index.value()))
}
