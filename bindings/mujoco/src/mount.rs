//! A sensor on a model: what holds for all mjData of it.

use crate::PluginError;
use crate::channel::Channel;
use crate::config::{Config, Mode, place};
use crate::data::Data;
use crate::layout::table;
use crate::memory;
use crate::model::{Model, Place};
use crate::shape::Shape;
use dermis::geometry::{MassProperties, Pose, Twist, Vec3};
use dermis::sensor::Sensor;
use dermis::skin::{Motion, State, Target};
use dermis::world::limit_when_pressed_s;

/// A geom that the sensor may feel.
#[derive(Debug)]
pub struct Touchable {
    /// The geom.
    pub geom: usize,
    /// Its body.
    pub body: usize,
    /// Its surface.
    pub shape: Shape,
    /// Radius (m) of a ball around it; `None` for a plane.
    radius_m: Option<f64>,
    /// How hard its body is to move.
    pub mass: Option<MassProperties>,
}

/// Where the sensor is, and where everything is against it.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Where the sensor is.
    pub world_from_sensor: Pose,
    /// Where each touchable is, and how it moves, against the sensor and in its frame.
    pub objects: Vec<(Pose, Twist)>,
    /// Time step (s).
    pub step_s: f64,
}

/// A sensor, where it is, and what it may feel.
#[derive(Debug)]
pub struct Mount {
    /// How messages call it.
    pub name: String,
    /// The sensor.
    pub sensor: Sensor,
    /// Its state when nothing has touched it.
    pub rest: State,
    /// What the forces are for.
    pub mode: Mode,
    /// What is reported.
    pub channels: Vec<Channel>,
    /// Where that is written: first number and length, for each `<sensor>` element.
    pub outputs: Vec<(usize, usize)>,
    /// Where the state is kept: first number and length.
    pub memory: (usize, usize),
    /// The body that carries it.
    pub body: usize,
    /// How hard that is to move.
    pub mass: Option<MassProperties>,
    /// What it may feel.
    pub touchables: Vec<Touchable>,
    place: Place,
    /// Middle (in the sensor's frame) and radius (m) of a ball around the skin.
    ball: (Vec3, f64),
}

/// How messages call an instance.
pub fn name(model: &Model<'_>, instance: i32) -> String {
    let named = model.sensors(instance).next().and_then(|sensor| model.name(table::OBJ_SENSOR, sensor));
    named.map_or_else(|| format!("instance {instance}"), |name| format!("{name:?}"))
}

impl Mount {
    /// Looks everything up. Refuses what cannot work.
    pub fn new(model: &Model<'_>, instance: i32) -> Result<Self, PluginError> {
        let config = Config::read(model, instance)?;
        let sensor = config.sensor()?;
        let place = place(model, instance)?;
        let body = model.body_of(place);
        let bounds = sensor.surface().bounds();
        let rest = sensor.skin().rest();
        let mount = Self {
            name: name(model, instance),
            ball: (bounds.center(), 0.5 * bounds.size().length() + sensor.skin().max_depth_m()),
            memory: (model.state_address(instance), memory::len(&rest)),
            rest,
            mode: config.mode,
            outputs: model.sensors(instance).map(|sensor| model.sensor_output(sensor)).collect(),
            channels: config.channels,
            body,
            mass: model.mass(body),
            touchables: touchables(model, &config.objects, body)?,
            place,
            sensor,
        };
        if mount.mode == Mode::Couple {
            mount.refuse_touching_twice(model)?;
            mount.refuse_long_steps(model)?;
        }
        Ok(mount)
    }

    /// Where everything is now. What is too far to be felt is taken to rest.
    pub fn moment(&self, model: &Model<'_>, data: &Data<'_>) -> Moment {
        let world_from_sensor = data.world_from(self.place);
        let sensor_velocity = data.velocity(self.place);
        let middle = world_from_sensor.transform_point(self.ball.0);
        let objects = self.touchables.iter().map(|touchable| {
            let place = Place::Geom(touchable.geom);
            let world_from_geom = data.world_from(place);
            let world_from_object = world_from_geom * touchable.shape.geom_from_object;
            let apart = (world_from_geom.translation - middle).length();
            if touchable.radius_m.is_some_and(|radius_m| apart > radius_m + self.ball.1) {
                return (world_from_sensor.inverse() * world_from_object, Twist::ZERO);
            }
            let arm = world_from_object.translation - world_from_geom.translation;
            let velocity = data.velocity(place).moved(arm);
            let object = &touchable.shape.object;
            let target =
                Target::from_world(object, &world_from_object, &velocity, &world_from_sensor, &sensor_velocity);
            (target.sensor_from_object, target.velocity)
        });
        Moment { world_from_sensor, objects: objects.collect(), step_s: model.step_s() }
    }

    /// The targets of a moment.
    pub fn targets<'a>(&'a self, moment: &Moment) -> Vec<Target<'a>> {
        let with = |(touchable, &(sensor_from_object, velocity)): (&'a Touchable, &(Pose, Twist))| Target {
            object: &touchable.shape.object,
            sensor_from_object,
            velocity,
        };
        self.touchables.iter().zip(&moment.objects).map(with).collect()
    }

    /// A geom that moves with the sensor and reaches into its skin must not be pressed by MuJoCo as well.
    fn refuse_touching_twice(&self, model: &Model<'_>) -> Result<(), PluginError> {
        let weld_from_sensor = model.weld_from_body(self.body) * model.body_from(self.place);
        let own = (0..model.geoms()).filter(|&geom| model.weld(model.geom_body(geom)) == model.weld(self.body));
        for geom in own {
            let Some(object) = self.touchables.iter().find(|touchable| model.would_touch(geom, touchable.geom)) else {
                continue;
            };
            let shape = Shape::of(model, geom)?;
            let weld_from_geom = model.weld_from_body(model.geom_body(geom)) * model.body_from(Place::Geom(geom));
            let sensor_from_object = weld_from_sensor.inverse() * weld_from_geom * shape.geom_from_object;
            let targets = [Target::at_rest(&shape.object, sensor_from_object)];
            let touch = self.sensor.touch(&self.rest, &Motion { targets: &targets }, 1.0);
            if touch.is_ok_and(|(touch, _)| !touch.facets.is_empty()) {
                let (own, object) = (model.geom_name(geom), model.geom_name(object.geom));
                return Err(PluginError::TouchesTwice { own, object });
            }
        }
        Ok(())
    }

    /// The step must be stable with all of the skin under an object pressed.
    fn refuse_long_steps(&self, model: &Model<'_>) -> Result<(), PluginError> {
        let pressed = self.sensor.skin().fully_pressed();
        for touchable in self.touchables.iter().filter(|t| t.mass.is_some() || self.mass.is_some()) {
            let size = touchable.shape.object.surface.bounds().size();
            let limit_s = limit_when_pressed_s(&pressed, size, touchable.mass.as_ref(), self.mass.as_ref());
            refuse_longer(model.step_s(), limit_s, || model.geom_name(touchable.geom))?;
        }
        Ok(())
    }
}

/// Refuses a step (s) over a limit (s).
pub fn refuse_longer(step_s: f64, limit_s: f64, object: impl FnOnce() -> String) -> Result<(), PluginError> {
    if step_s <= limit_s {
        return Ok(());
    }
    // Rounded down to one digit, so that what is advised is stable.
    let digit = 10f64.powf(limit_s.log10().floor());
    Err(PluginError::StepTooLong { step_s, object: object(), limit_s, advised_s: (limit_s / digit).floor() * digit })
}

/// What the sensor may feel: the geoms named, or all of other bodies that take part in contacts.
fn touchables(model: &Model<'_>, names: &[String], body: usize) -> Result<Vec<Touchable>, PluginError> {
    let own = |geom: usize| model.weld(model.geom_body(geom)) == model.weld(body);
    let mut geoms: Vec<usize> = Vec::new();
    for name in names {
        let found = match (model.find(table::OBJ_GEOM, name), model.find(table::OBJ_BODY, name)) {
            (Some(geom), _) => geom..geom + 1,
            (None, Some(body)) => model.body_geoms(body),
            (None, None) => {
                return Err(PluginError::NoSuch { key: "objects", what: "geom or body", name: name.clone() });
            }
        };
        if found.is_empty() {
            return Err(PluginError::NothingToTouch { name: name.clone() });
        }
        if let Some(geom) = found.clone().find(|&geom| own(geom)) {
            return Err(PluginError::OwnGeom { geom: model.geom_name(geom) });
        }
        geoms.extend(found.filter(|geom| !geoms.contains(geom)).collect::<Vec<_>>());
    }
    if names.is_empty() {
        geoms = (0..model.geoms())
            .filter(|&geom| model.collides(geom) && !own(geom))
            .filter(|&geom| !model.are_parent_and_child(model.geom_body(geom), body))
            .collect();
    }
    if geoms.is_empty() {
        return Err(PluginError::NoObjects);
    }
    let touchable = |geom: usize| {
        let body = model.geom_body(geom);
        let radius_m = Some(model.geom_radius_m(geom)).filter(|&radius_m| radius_m > 0.0);
        Ok(Touchable { geom, body, shape: Shape::of(model, geom)?, radius_m, mass: model.mass(body) })
    };
    geoms.into_iter().map(touchable).collect()
}
