//! The solid parts behind and beside a skin: its rigid base, and the surface of the body that carries it.

use dermis_geometry::{Pose, Ray, Surface, TriMesh, Vec3};
use dermis_sensor::Sensor;
use rapier3d_f64::prelude as rapier;

/// Thickness (m) of the base at least, so that no object passes it within a step.
const MIN_BASE_M: f64 = 0.01;
/// A contact point of the carrier belongs to the skin if it lies beside its outline by less than this (m), and less
/// than this fraction of its distance from the surface.
const RIM_M: f64 = 1e-6;
const RIM_PER_DISTANCE: f64 = 0.1;

/// The rigid base of a skin: its surface moved inwards by the largest indentation. The skin carries an object down to
/// the base; the base carries the rest.
pub(super) struct Base {
    skin: Surface,
    base: Option<Surface>,
    depth_m: f64,
    /// Collider of the base on the carrier.
    pub collider: Option<rapier::ColliderHandle>,
}

impl Base {
    pub fn new(sensor: &Sensor) -> Self {
        let (surface, depth_m) = (sensor.surface(), sensor.skin().max_depth_m());
        let base = moved_inwards(surface, depth_m).map(Surface::new);
        Self { skin: Surface::new(surface.clone()), base, depth_m, collider: None }
    }

    /// The convex hull of the base and of the same surface deeper inside, in the frame of the body that carries the sensor.
    pub fn hull(&self, body_from_sensor: &Pose) -> Option<rapier::ColliderBuilder> {
        let mut points = self.base.as_ref()?.mesh().vertices().to_vec();
        let deeper = moved_inwards(self.skin.mesh(), self.depth_m + self.depth_m.max(MIN_BASE_M))?;
        points.extend(deeper.vertices());
        points.iter_mut().for_each(|point| *point = body_from_sensor.transform_point(*point));
        let hull = rapier::ColliderBuilder::convex_hull(&points)?;
        // The hull of a hollow surface would reach into the skin.
        let within = moved_inwards(self.skin.mesh(), 0.5 * self.depth_m)?;
        let hollow = within
            .vertices()
            .iter()
            .any(|point| hull.shape.contains_local_point(body_from_sensor.transform_point(*point)));
        (!hollow).then_some(hull)
    }

    /// True if a point of the carrier's surface lies under or in the skin, and a contact there with this outward normal
    /// is the skin's. Both are in the sensor's frame.
    pub fn covers(&self, point: Vec3, outward: Vec3) -> bool {
        let closest = self.skin.closest(point);
        let normal = self.skin.normal(closest.triangle);
        let offset = point - closest.point;
        let along = offset.dot(normal);
        let beside = (offset - normal * along).length();
        beside <= RIM_M + RIM_PER_DISTANCE * along.abs()
            && along.abs() <= self.depth_m.max(MIN_BASE_M)
            && outward.dot(normal) > 0.5
    }

    /// True if a contact of the base with this outward normal is with an object in front of it.
    pub fn faces(&self, point: Vec3, outward: Vec3) -> bool {
        let closest = self.skin.closest(point);
        outward.dot(self.skin.normal(closest.triangle)) > 0.0
    }

    /// True if the path between two points, in the sensor's frame, crosses the base inwards.
    pub fn crossed(&self, from: Vec3, to: Vec3) -> bool {
        let Some(base) = &self.base else { return false };
        let length = (to - from).length();
        let Some(direction) = (to - from).try_normalize() else { return false };
        base.cast(&Ray { origin: from, direction, length }, None).is_some_and(|hit| hit.normal.dot(direction) < 0.0)
    }
}

fn moved_inwards(surface: &TriMesh, by_m: f64) -> Option<TriMesh> {
    let inside =
        surface.vertices().iter().zip(surface.vertex_normals()).map(|(vertex, normal)| *vertex - normal * by_m);
    let mesh = TriMesh::new("base", inside.collect(), surface.triangles().to_vec()).ok()?;
    // A surface that curves more tightly than its depth turns inside out: it has no base.
    let kept = (0..mesh.triangles().len()).all(|t| mesh.area_vector(t).dot(surface.area_vector(t)) > 0.0);
    kept.then_some(mesh)
}

/// A sensor for the contact rules of a step.
pub(super) struct CarriedSkin<'a> {
    pub base: &'a Base,
    pub body: rapier::RigidBodyHandle,
    pub sensor_from_world: Pose,
}

/// Rapier's contacts between carriers of sensors and other bodies: none where the skin carries the load, the base only
/// towards touchable bodies in front of it.
pub(super) struct CarrierContacts<'a> {
    pub skins: Vec<CarriedSkin<'a>>,
    pub touchable: Vec<rapier::RigidBodyHandle>,
}

impl CarrierContacts<'_> {
    fn of_base(&self, collider: rapier::ColliderHandle) -> Option<&CarriedSkin<'_>> {
        self.skins.iter().find(|skin| skin.base.collider == Some(collider))
    }
}

impl rapier::PhysicsHooks for CarrierContacts<'_> {
    fn filter_contact_pair(&self, context: &rapier::PairFilterContext) -> Option<rapier::SolverFlags> {
        let allowed = match (self.of_base(context.collider1), self.of_base(context.collider2)) {
            (None, None) => true,
            (Some(_), Some(_)) => false,
            (Some(_), None) => context.rigid_body2.is_some_and(|body| self.touchable.contains(&body)),
            (None, Some(_)) => context.rigid_body1.is_some_and(|body| self.touchable.contains(&body)),
        };
        allowed.then_some(rapier::SolverFlags::COMPUTE_RIGID_IMPULSES)
    }

    fn modify_solver_contacts(&self, context: &mut rapier::ContactModificationContext) {
        let (bodies, colliders) = ([context.rigid_body1, context.rigid_body2], [context.collider1, context.collider2]);
        for skin in &self.skins {
            let Some(side) = bodies.iter().position(|body| *body == Some(skin.body)) else { continue };
            let on_base = skin.base.collider == Some(colliders[side]);
            // Another sensor's base on the same body.
            if !on_base && self.of_base(colliders[side]).is_some() {
                continue;
            }
            let Some(rigid) = context.rigid_mut() else { continue };
            // Rapier's normal points from the first collider to the second.
            let outward =
                skin.sensor_from_world.transform_vector(if side == 0 { *rigid.normal } else { -*rigid.normal });
            rigid.solver_contacts.retain(|contact| {
                let point = if side == 0 { contact.anchor1 } else { contact.anchor2 };
                let point = skin.sensor_from_world.transform_point(point);
                if on_base { skin.base.faces(point, outward) } else { !skin.base.covers(point, outward) }
            });
        }
    }
}
