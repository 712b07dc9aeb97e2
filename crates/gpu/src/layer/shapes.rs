//! The shapes of objects that press a layer.

use super::press::MAX_LEVELS;
use super::unsupported;
use crate::cuda_struct::Ptr;
use crate::object::{ObjectView, SurfaceKind};
use crate::{DeviceBuffer, Gpu, GpuError, GpuObject};
use dermis_sensor::Sensor;
use dermis_skin::Object;
use std::borrow::Borrow;
use std::sync::Arc;

/// Shapes in GPU memory, for height maps.
#[derive(Debug)]
pub(super) struct Shapes {
    objects: Vec<GpuObject>,
    views: DeviceBuffer<ObjectView>,
}

impl Shapes {
    /// Uploads at least one object.
    pub fn new(gpu: &Arc<Gpu>, sensor: &Sensor, objects: &[impl Borrow<Object>]) -> Result<Self, GpuError> {
        let upload = |object: &_| GpuObject::for_heights(gpu, Borrow::<Object>::borrow(object));
        let objects = objects.iter().map(upload).collect::<Result<Vec<_>, _>>()?;
        if objects.iter().any(|object| object.view().triangles > 0 && object.levels > MAX_LEVELS) {
            return Err(unsupported(sensor, "the hierarchy of the object's mesh is too deep; simplify the mesh"));
        }
        let views: Vec<_> = objects.iter().map(|object| *object.view()).collect();
        Ok(Self { objects, views: gpu.upload(&views)? })
    }

    /// The view of the first shape.
    pub fn first(&self) -> &ObjectView {
        self.objects[0].view()
    }

    /// The views of all shapes.
    pub fn views(&self) -> Ptr<ObjectView> {
        self.views.at(0)
    }

    /// Largest number of triangles of a shape.
    pub fn triangles(&self) -> usize {
        self.objects.iter().map(|object| object.view().triangles as usize).max().unwrap_or(0)
    }

    /// True if a shape is a mesh.
    pub fn has_mesh(&self) -> bool {
        self.objects.iter().any(|object| object.cast_kind == SurfaceKind::Mesh)
    }

    /// True if a shape is a primitive.
    pub fn has_primitive(&self) -> bool {
        self.objects.iter().any(|object| object.cast_kind != SurfaceKind::Mesh)
    }
}
