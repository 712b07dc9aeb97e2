//! The stability limit of a world, before and during a run.

use super::{BodyId, BodyKind, Mounted, SensorId, World};
use crate::stability::{BodyStiffness, Stability, largest_stable_step_s, limit_when_pressed_s};
use crate::{Coupling, WorldError};
use dermis_geometry::{MassProperties, Vec3};
use dermis_skin::Support;

impl World {
    fn mass(&self, body: BodyId) -> Option<&MassProperties> {
        match &self.bodies[body.0].body.kind {
            BodyKind::Free(mass) => Some(mass),
            _ => None,
        }
    }

    pub(super) fn refuse_beyond(&self, stability: Option<Stability>) -> Result<(), WorldError> {
        match stability {
            Some(Stability { limit_s, body, sensor }) if self.parameters.step_s > limit_s => {
                Err(WorldError::Unstable { body, sensor, step_s: self.parameters.step_s, limit_s })
            }
            _ => Ok(()),
        }
    }

    /// The coupling of the next steps: that of the parameters, else explicit if the step is stable so.
    pub(super) fn suitable_coupling(&self) -> Coupling {
        let is_stable = || self.refuse_beyond(self.stability()).is_ok();
        match self.parameters.coupling {
            Some(coupling) => coupling,
            None if self.coupling == Coupling::Explicit && is_stable() => Coupling::Explicit,
            None => Coupling::Implicit,
        }
    }

    /// Refuses a step that is unstable with the coupling of the parameters, and implicit coupling of skins that do not
    /// support it.
    pub fn check_step(&self) -> Result<(), WorldError> {
        let is_explicit = |mounted: &&Mounted| mounted.coupling == Coupling::Explicit;
        if self.parameters.coupling == Some(Coupling::Implicit)
            && let Some(mounted) = self.sensors.iter().find(is_explicit)
        {
            return Err(WorldError::NotImplicit { sensor: mounted.sensor.name().to_owned() });
        }
        self.refuse_beyond(self.stability_with(self.suitable_coupling()))
    }

    /// The largest stable step with explicit coupling, for any one object that lies centred on any one sensor and presses
    /// all of the skin under it. `None` if no free body can be touched.
    pub fn stability(&self) -> Option<Stability> {
        self.stability_with(Coupling::Explicit)
    }

    fn stability_with(&self, coupling: Coupling) -> Option<Stability> {
        let mut least: Option<Stability> = None;
        let explicit = |mounted: &&Mounted| coupling == Coupling::Explicit || mounted.coupling == Coupling::Explicit;
        for mounted in self.sensors.iter().filter(explicit) {
            let pressed = mounted.sensor.skin().fully_pressed();
            for (id, object) in self.touchable(mounted.body) {
                let size = object.surface.bounds().size();
                let limit_s = limit_when_pressed_s(&pressed, size, self.mass(id), self.mass(mounted.body));
                if limit_s.is_finite() && least.as_ref().is_none_or(|best| limit_s < best.limit_s) {
                    least = Some(Stability {
                        limit_s,
                        body: self.bodies[id.0].body.name.clone(),
                        sensor: mounted.sensor.name().to_owned(),
                    });
                }
            }
        }
        least
    }

    /// A lower bound of the stable step (s), from sums only: λ_max(M⁻¹K) ≤ Σ k (1/m + r²/I_min) over all contacts.
    pub(super) fn cheap_limit_s(&self) -> f64 {
        let (mut omega_squared, mut gamma) = (0.0, 0.0);
        for index in (0..self.sensors.len()).filter(|&index| !self.is_implicit(index)) {
            let mounted = &self.sensors[index];
            let sensor_from_world = self.world_from_sensor(SensorId(index)).inverse();
            let touchable = self.touchable(mounted.body);
            let ease: Vec<Option<(f64, f64, Vec3)>> = touchable
                .iter()
                .map(|(id, _)| *id)
                .chain([mounted.body])
                .map(|id| {
                    let (per_mass, per_inertia) = self.bodies[id.0].ease?;
                    let center = self.physics.bodies[self.bodies[id.0].handle].center_of_mass();
                    Some((per_mass, per_inertia, sensor_from_world.transform_point(center)))
                })
                .collect();
            for (object, Support { at, tangent: t, .. }) in mounted.touch.facets.supports() {
                for (per_mass, per_inertia, center) in
                    [object as usize, ease.len() - 1].into_iter().filter_map(|slot| ease[slot])
                {
                    let weight = per_mass + (at - center).length_squared() * per_inertia;
                    omega_squared += weight * t.stiffness_normal.max(t.stiffness_tangential);
                    gamma += weight * t.damping_normal.max(t.damping_tangential);
                }
            }
        }
        largest_stable_step_s(omega_squared, gamma)
    }

    /// The largest stable step with the current contacts.
    pub fn present_stability(&self) -> Option<Stability> {
        let mut loads: Vec<Option<BodyStiffness>> =
            self.bodies().map(|id| self.mass(id).map(|mass| BodyStiffness::new(mass, &self.pose(id)))).collect();
        let mut met: Vec<(usize, usize, usize)> = Vec::new();
        for (index, mounted) in self.sensors.iter().enumerate().filter(|(index, _)| !self.is_implicit(*index)) {
            let world_from_sensor = self.world_from_sensor(SensorId(index));
            let touchable = self.touchable(mounted.body);
            for (object, support) in mounted.touch.facets.supports() {
                let touched = touchable[object as usize].0;
                for body in [touched, mounted.body] {
                    if let Some(load) = &mut loads[body.0] {
                        load.add(&support, &world_from_sensor);
                    }
                }
                if !met.contains(&(touched.0, mounted.body.0, index)) {
                    met.push((touched.0, mounted.body.0, index));
                }
            }
        }
        // For each pair, the sum of the two bodies' eigenvalues bounds those of the coupled system.
        let greatest: Vec<(f64, f64)> =
            loads.iter().map(|load| load.as_ref().map_or((0.0, 0.0), BodyStiffness::greatest)).collect();
        met.iter()
            .map(|&(touched, mount, sensor)| Stability {
                limit_s: largest_stable_step_s(
                    greatest[touched].0 + greatest[mount].0,
                    greatest[touched].1 + greatest[mount].1,
                ),
                body: self.bodies[touched].body.name.clone(),
                sensor: self.sensors[sensor].sensor.name().to_owned(),
            })
            .min_by(|a, b| a.limit_s.total_cmp(&b.limit_s))
    }
}
