//! A sensor on a model: the part that all mjData of the model share.

use crate::edits::AsMounted;
use crate::layout::table;
use crate::pair_friction::pair_mu;
use crate::shape::Shape;
use crate::{CouplingError, Data, FrameId, Model};
use dermis_geometry::{MassProperties, Mat3, Pose, Twist, Vec3, Wrench};
use dermis_sensor::Sensor;
use dermis_skin::{Motion, Object, Skin, Target, Touch};
use dermis_world::limit_when_pressed_s;
use std::sync::{Arc, PoisonError, RwLock};

/// Pose in the sensor frame assigned to objects that are too far away to touch the sensor.
const FAR_AWAY: Pose = Pose { translation: Vec3::new(0.0, 0.0, 1e6), ..Pose::IDENTITY };

/// The use of the contact forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The sensor only reports the forces.
    Sense,
    /// The forces also act on the bodies and replace MuJoCo's contact forces.
    Couple,
    /// The sensor reports MuJoCo's own contact forces.
    Contacts,
}

impl Mode {
    /// All modes with their names.
    pub const NAMES: [(&str, Self); 3] =
        [("sense", Self::Sense), ("couple", Self::Couple), ("contacts", Self::Contacts)];

    /// The mode of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, mode)| mode)
    }

    /// The name of the mode.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }
}

/// A geom that the sensor may touch.
#[derive(Debug)]
pub struct ObjectGeom {
    /// Index of the geom.
    pub geom: usize,
    /// Index of the geom's body.
    pub body: usize,
    /// Surface of the geom.
    shape: Shape,
    /// Radius (m) of its bounding sphere; `None` for a plane.
    radius_m: Option<f64>,
    /// Effective mass of its body; `None` if the body cannot move.
    pub mass: Option<MassProperties>,
}

/// Poses and velocities at one evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Kinematics {
    /// Pose of the sensor.
    pub world_from_sensor: Pose,
    /// Pose and velocity of each object relative to the sensor, in its frame.
    pub objects: Vec<(Pose, Twist)>,
    /// Time step (s).
    pub step_s: f64,
    /// Surface and friction of each object.
    pub surfaces: Surfaces,
}

/// The objects of a mount, with the friction of the pair where it is not that of the skin.
#[derive(Clone, Debug, Default)]
pub struct Surfaces(Arc<[Arc<Object>]>);

impl PartialEq for Surfaces {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A sensor on a model: its frame, its body and the geoms that it may touch.
#[derive(Debug)]
pub struct Mount {
    /// The body that carries the sensor.
    pub body: usize,
    /// Effective mass of that body; `None` if the body cannot move.
    pub mass: Option<MassProperties>,
    /// The geoms that the sensor may touch, in the order of the objects of a [`Touch`].
    pub objects: Vec<ObjectGeom>,
    frame: FrameId,
    frame_from_sensor: Pose,
    /// Center (in the sensor frame) and radius (m) of the skin's bounding sphere.
    sphere: (Vec3, f64),
    /// Static coefficient of friction of the skin, if objects can replace it.
    mu: Option<f64>,
    /// The objects of the last evaluation.
    surfaces: RwLock<Surfaces>,
    as_mounted: AsMounted,
}

impl Mount {
    /// Mounts a sensor on a model. `objects` are the geoms that it may touch; `None` selects all geoms of other bodies
    /// that can collide, except those of the parent and child bodies.
    pub fn new(
        model: &Model<'_>,
        sensor: &Sensor,
        frame: FrameId,
        frame_from_sensor: Pose,
        objects: Option<Vec<usize>>,
    ) -> Result<Self, CouplingError> {
        let body = model.body_of(frame);
        let bounds = sensor.surface().bounds();
        let objects = object_geoms(model, objects, body)?;
        Ok(Self {
            body,
            mass: model.mass(body),
            mu: sensor.skin().mu(),
            surfaces: RwLock::new(Surfaces(objects.iter().map(|object| Arc::clone(&object.shape.object)).collect())),
            as_mounted: AsMounted::new(model, body, &objects),
            objects,
            frame,
            frame_from_sensor,
            sphere: (bounds.center(), 0.5 * bounds.size().length() + sensor.skin().max_depth_m()),
        })
    }

    /// The frame that carries the sensor.
    pub fn frame(&self) -> FrameId {
        self.frame
    }

    /// Pose of the sensor in that frame.
    pub fn frame_from_sensor(&self) -> Pose {
        self.frame_from_sensor
    }

    /// Pose of the sensor in the world frame.
    pub fn world_from_sensor(&self, data: &Data<'_>) -> Pose {
        data.world_from(self.frame) * self.frame_from_sensor
    }

    /// Poses and velocities of the current evaluation. Objects beyond the reach of the skin are placed at rest far
    /// away.
    pub fn kinematics(&self, model: &Model<'_>, data: &Data<'_>) -> Result<Kinematics, CouplingError> {
        let world_from_frame = data.world_from(self.frame);
        let world_from_sensor = world_from_frame * self.frame_from_sensor;
        if !world_from_sensor.is_finite() {
            return Err(CouplingError::SensorNotFinite);
        }
        let arm = world_from_sensor.translation - world_from_frame.translation;
        let sensor_velocity = data.velocity(self.frame).moved(arm);
        let center = world_from_sensor.transform_point(self.sphere.0);
        let away = self.as_mounted.away(model, &self.objects);
        let relative = |(index, object): (usize, &ObjectGeom)| {
            let position = data.geom_position(object.geom);
            if !position.is_finite() {
                return Err(CouplingError::ObjectNotFinite { geom: model.geom_name(object.geom) });
            }
            let is_far = |radius_m: f64| (position - center).length() > radius_m + self.sphere.1;
            if away.as_ref().is_some_and(|away| away[index]) || object.radius_m.is_some_and(is_far) {
                return Ok((FAR_AWAY, Twist::ZERO));
            }
            let frame = FrameId::Geom(object.geom);
            let world_from_object = data.world_from(frame) * object.shape.geom_from_object;
            let velocity = data.velocity(frame).moved(world_from_object.translation - position);
            let surface = &object.shape.object;
            let target =
                Target::from_world(surface, &world_from_object, &velocity, &world_from_sensor, &sensor_velocity);
            Ok((target.sensor_from_object, target.velocity))
        };
        let objects = self.objects.iter().enumerate().map(relative).collect::<Result<_, _>>()?;
        Ok(Kinematics { world_from_sensor, objects, step_s: model.step_s(), surfaces: self.surfaces(model) })
    }

    /// The objects with the present friction of their pairs.
    fn surfaces(&self, model: &Model<'_>) -> Surfaces {
        let known = self.surfaces.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(skin_mu) = self.mu else { return known };
        let mu = |object: &ObjectGeom| Some(pair_mu(model, object.geom, skin_mu)).filter(|&mu| mu != skin_mu);
        if self.objects.iter().zip(&*known.0).all(|(object, known)| known.mu == mu(object)) {
            return known;
        }
        let with_mu = |(object, known): (&ObjectGeom, &Arc<Object>)| match mu(object) {
            mu if mu == known.mu => Arc::clone(known),
            None => Arc::clone(&object.shape.object),
            mu => Arc::new(Object { mu, ..Object::clone(known) }),
        };
        let now = Surfaces(self.objects.iter().zip(&*known.0).map(with_mu).collect());
        *self.surfaces.write().unwrap_or_else(PoisonError::into_inner) = now.clone();
        now
    }

    /// Changes of the model that have no effect on the skin and were not told before, in modes in which the skin computes
    /// the contact.
    pub fn ignored_edits(&self, model: &Model<'_>) -> Vec<String> {
        self.as_mounted.ignored(model, &self.objects, self.mu)
    }

    /// The objects with their poses and velocities, as input of a skin.
    pub fn targets<'a>(&self, kinematics: &'a Kinematics) -> Vec<Target<'a>> {
        let target = |(object, &(sensor_from_object, velocity)): (&'a Arc<Object>, &(Pose, Twist))| Target {
            object,
            sensor_from_object,
            velocity,
        };
        kinematics.surfaces.0.iter().zip(&kinematics.objects).map(target).collect()
    }

    /// True if MuJoCo lets objects sleep and no other body of the sensor or the objects can move: the reading keeps its value, as
    /// MuJoCo's own sensors do.
    pub fn sleeps(&self, data: &Data<'_>) -> bool {
        let bodies = || self.objects.iter().map(|object| object.body).chain([self.body]);
        bodies().all(|body| data.is_asleep(body) || data.model().is_fixed(body))
            && bodies().any(|body| data.is_asleep(body))
    }

    /// Wakes an object that touches a sensor whose body is awake, and the sensor's body under an object that is awake, as MuJoCo's
    /// own contacts do. An object on a sensor that is fixed to the world may sleep.
    pub(crate) fn wake(&self, data: &mut Data<'_>, touch: &Touch) {
        for (object, load) in self.objects.iter().zip(&touch.on_objects) {
            let bodies = [self.body, object.body];
            let movable = !bodies.iter().any(|&body| data.model().is_fixed(body));
            if movable && *load != Wrench::ZERO && bodies.iter().any(|&body| !data.is_asleep(body)) {
                bodies.iter().for_each(|&body| data.wake(body));
            }
        }
    }

    /// Adds the contact loads to the passive forces on the bodies of the sensor and the objects.
    pub fn apply(&self, data: &mut Data<'_>, kinematics: &Kinematics, touch: &Touch) {
        let loads = [(self.body, &self.mass, &touch.on_sensor)];
        let on_objects = self.objects.iter().zip(&touch.on_objects);
        self.wake(data, touch);
        for (body, mass, load) in
            loads.into_iter().chain(on_objects.map(|(object, load)| (object.body, &object.mass, load)))
        {
            if mass.is_some() && *load != Default::default() {
                let pose = &kinematics.world_from_sensor;
                data.apply_passive(body, &load.rotated(pose), pose.translation);
            }
        }
    }

    /// Adds to six rows of `nv` numbers the Jacobian of an object's velocity relative to the sensor, at the sensor's origin and
    /// in its frame.
    pub(crate) fn add_jacobian(&self, data: &Data<'_>, kinematics: &Kinematics, object: usize, rows: &mut [f64]) {
        let origin = kinematics.world_from_sensor.translation;
        let sensor_from_world = Mat3::from_quat(kinematics.world_from_sensor.rotation).transpose();
        let object = &self.objects[object];
        for (body, mass, sign) in [(object.body, &object.mass, 1.0), (self.body, &self.mass, -1.0)] {
            if mass.is_some() && !data.is_asleep(body) {
                data.add_jacobian(body, origin, &sensor_from_world, sign, rows);
            }
        }
    }

    /// The warning of mode `contacts` if MuJoCo computes no contact with the sensor.
    pub fn without_engine_contact(&self, model: &Model<'_>) -> Option<&'static str> {
        let mut own = (0..model.geoms()).filter(|&geom| model.weld(model.geom_body(geom)) == model.weld(self.body));
        let touches = own.any(|geom| self.objects.iter().any(|object| model.would_touch(geom, object.geom)));
        (!touches).then_some(
            "mode \"contacts\" reads MuJoCo's contact forces, and MuJoCo computes none between the objects and the geoms that move with the \
             sensor: it reads 0; put a geom under the skin, or set mode to \"couple\"",
        )
    }

    /// Geoms that move with the sensor, reach into its skin, and would also collide with an object in MuJoCo; each with
    /// the first such object.
    pub fn colliding_own_geoms(
        &self,
        model: &Model<'_>,
        sensor: &Sensor,
    ) -> Result<Vec<(usize, usize)>, CouplingError> {
        let weld_from_sensor = model.weld_from_body(self.body) * model.body_from(self.frame) * self.frame_from_sensor;
        let rest = sensor.skin().rest();
        let mut found = Vec::new();
        for geom in (0..model.geoms()).filter(|&geom| model.weld(model.geom_body(geom)) == model.weld(self.body)) {
            let Some(object) = self.objects.iter().find(|object| model.would_touch(geom, object.geom)) else {
                continue;
            };
            let shape = Shape::of(model, geom)?;
            let weld_from_geom = model.weld_from_body(model.geom_body(geom)) * model.body_from(FrameId::Geom(geom));
            let sensor_from_object = weld_from_sensor.inverse() * weld_from_geom * shape.geom_from_object;
            let targets = [Target::at_rest(&shape.object, sensor_from_object)];
            let touch = sensor.touch(&rest, &Motion { targets: &targets }, 1.0);
            if touch.is_ok_and(|(touch, _)| !touch.facets.is_empty()) {
                found.push((geom, object.geom));
            }
        }
        Ok(found)
    }

    /// Refuses a time step that is unstable when an object presses on all of the skin under it, where the object is a
    /// free box with the reduced mass of the two bodies. Unlike [`Self::check_step`] and [`crate::StepLimit`], neglects
    /// the inertia of the sensor's body.
    pub fn check_step_of_box(&self, model: &Model<'_>, sensor: &Sensor) -> Result<(), CouplingError> {
        let inverse = |mass: &Option<MassProperties>| mass.as_ref().map_or(0.0, |mass| 1.0 / mass.mass_kg);
        for object in &self.objects {
            let inverse_mass = inverse(&self.mass) + inverse(&object.mass);
            if inverse_mass > 0.0 {
                let size = object.shape.object.surface.bounds().size();
                let limit_s = limit_of_box_s(sensor.skin(), size, 1.0 / inverse_mass);
                refuse_longer(model.step_s(), limit_s, || model.geom_name(object.geom))?;
            }
        }
        Ok(())
    }

    /// Refuses a time step that is unstable when an object presses on all of the skin under it.
    pub fn check_step(&self, model: &Model<'_>, sensor: &Sensor) -> Result<(), CouplingError> {
        let pressed = sensor.skin().fully_pressed();
        for object in self.objects.iter().filter(|object| object.mass.is_some() || self.mass.is_some()) {
            let size = object.shape.object.surface.bounds().size();
            let limit_s = limit_when_pressed_s(&pressed, size, object.mass.as_ref(), self.mass.as_ref());
            refuse_longer(model.step_s(), limit_s, || model.geom_name(object.geom))?;
        }
        Ok(())
    }
}

/// The largest stable step (s) for a free, uniform box of a size (m) and mass (kg) that presses on all of the skin
/// under it.
pub fn limit_of_box_s(skin: &dyn Skin, size_m: Vec3, mass_kg: f64) -> f64 {
    let square = size_m * size_m;
    let inertia = (Vec3::splat(square.x + square.y + square.z) - square) * (mass_kg / 12.0);
    let mass = MassProperties { mass_kg, center_m: Vec3::ZERO, inertia_kg_m2: Mat3::from_diagonal(inertia) };
    limit_when_pressed_s(&skin.fully_pressed(), size_m, Some(&mass), None)
}

/// Refuses a step (s) that exceeds a limit (s).
pub(crate) fn refuse_longer(step_s: f64, limit_s: f64, object: impl FnOnce() -> String) -> Result<(), CouplingError> {
    if step_s <= limit_s {
        return Ok(());
    }
    // The limit of the contacts that occur may be lower than that of the skin pressed by a centred object. A tenth less,
    // rounded down to one digit, has been stable.
    let safe_s = 0.9 * limit_s;
    let digit = 10f64.powf(safe_s.log10().floor());
    let advised_s = format!("{:.0e}", (safe_s / digit).floor() * digit).parse().unwrap_or(safe_s);
    Err(CouplingError::StepTooLong { step_s, object: object(), limit_s, advised_s })
}

/// The geom of a name, or the geoms of a body of that name. If any geom of the body can collide, only those that can.
pub fn geoms_named(model: &Model<'_>, name: &str) -> Result<Vec<usize>, CouplingError> {
    if let Some(geom) = model.find(table::OBJ_GEOM, name) {
        return Ok(vec![geom]);
    }
    let Some(body) = model.find(table::OBJ_BODY, name) else {
        return Err(CouplingError::UnknownName { key: "objects", kind: "geom or body", name: name.to_owned() });
    };
    let geoms = model.body_geoms(body);
    if geoms.is_empty() {
        return Err(CouplingError::NoGeoms { name: name.to_owned() });
    }
    let colliding: Vec<usize> = geoms.clone().filter(|&geom| model.collides(geom)).collect();
    Ok(if colliding.is_empty() { geoms.collect() } else { colliding })
}

fn object_geoms(
    model: &Model<'_>,
    selected: Option<Vec<usize>>,
    body: usize,
) -> Result<Vec<ObjectGeom>, CouplingError> {
    let own = |geom: usize| model.weld(model.geom_body(geom)) == model.weld(body);
    let geoms = match selected {
        Some(selected) => {
            if let Some(&geom) = selected.iter().find(|&&geom| own(geom)) {
                return Err(CouplingError::OwnGeom { geom: model.geom_name(geom) });
            }
            let mut unique = Vec::new();
            for geom in selected {
                if !unique.contains(&geom) {
                    unique.push(geom);
                }
            }
            unique
        }
        None => (0..model.geoms())
            .filter(|&geom| model.collides(geom) && !own(geom))
            .filter(|&geom| !model.are_parent_and_child(model.geom_body(geom), body))
            .collect(),
    };
    if geoms.is_empty() {
        return Err(CouplingError::NoObjects);
    }
    let object = |geom: usize| {
        let body = model.geom_body(geom);
        let radius_m = Some(model.geom_radius_m(geom)).filter(|&radius_m| radius_m > 0.0);
        Ok(ObjectGeom { geom, body, shape: Shape::of(model, geom)?, radius_m, mass: model.mass(body) })
    };
    geoms.into_iter().map(object).collect()
}
