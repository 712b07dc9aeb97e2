//! The description of a spring skin in a file.

use crate::{FrictionSpec, SensorError};
use dermis_geometry::quantity::{
    AreaDamping, AreaStiffness, Damping as DampingQuantity, Force, Length, Pressure, Stiffness,
};
use dermis_skin::{Damping, Elasticity, Law, SpringParameters, Table};
use serde::{Deserialize, Serialize};

/// Independent spring-dampers (Moisio 2013). Give exactly one of `stiffness`, `stiffness_per_area`, `force_table` and
/// `pressure_table`, and at most one of `damping` and `damping_per_area`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpringsSpec {
    /// Stiffness k of one texel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<Stiffness>,
    /// Stiffness k per unit of area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness_per_area: Option<AreaStiffness>,
    /// Force of one texel as a function of depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_table: Option<TableSpec<Force>>,
    /// Pressure as a function of depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure_table: Option<TableSpec<Pressure>>,
    /// Damping c of one texel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<DampingQuantity>,
    /// Damping c per unit of area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_per_area: Option<AreaDamping>,
    /// Depth at which an object passes through the skin.
    pub max_penetration: Length,
    /// Force law for inclined faces.
    #[serde(default)]
    pub law: Law,
    /// Friction, per texel.
    #[serde(default)]
    pub friction: FrictionSpec,
}

/// A load as a function of depth, as two lists of equal length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, bound = "L: Serialize + serde::de::DeserializeOwned")]
pub struct TableSpec<L> {
    /// Depths, increasing from 0.
    pub depth: Vec<Length>,
    /// Loads, starting at 0.
    pub load: Vec<L>,
}

impl<L: Copy + Into<f64>> TableSpec<L> {
    fn build(&self) -> Table {
        Table {
            depth_m: self.depth.iter().map(|depth| depth.si()).collect(),
            load: self.load.iter().map(|&load| load.into()).collect(),
        }
    }
}

impl SpringsSpec {
    /// Springs without damping and friction. `stiffness` is the stiffness of one texel.
    pub fn new(stiffness: Stiffness, max_penetration: Length) -> Self {
        Self {
            stiffness: Some(stiffness),
            stiffness_per_area: None,
            force_table: None,
            pressure_table: None,
            damping: None,
            damping_per_area: None,
            max_penetration,
            law: Law::default(),
            friction: FrictionSpec::None,
        }
    }

    pub(crate) fn scale_stiffness(&mut self, factor: f64) {
        self.stiffness = self.stiffness.map(|k| Stiffness::new(factor * k.si()));
        self.stiffness_per_area = self.stiffness_per_area.map(|k| AreaStiffness::new(factor * k.si()));
        for table in self.force_table.iter_mut() {
            table.load.iter_mut().for_each(|load| *load = Force::new(factor * load.si()));
        }
        for table in self.pressure_table.iter_mut() {
            table.load.iter_mut().for_each(|load| *load = Pressure::new(factor * load.si()));
        }
    }

    /// Parameters of the skin. Errors name `sensor`.
    pub fn parameters(&self, sensor: &str) -> Result<SpringParameters, SensorError> {
        let one_of = |keys, found| SensorError::OneOf { sensor: sensor.to_owned(), keys, found };
        let elasticities: Vec<Elasticity> = [
            self.stiffness.map(|k| Elasticity::PerTexel(k.si())),
            self.stiffness_per_area.map(|k| Elasticity::PerArea(k.si())),
            self.force_table.as_ref().map(|table| Elasticity::TexelTable(table.build())),
            self.pressure_table.as_ref().map(|table| Elasticity::AreaTable(table.build())),
        ]
        .into_iter()
        .flatten()
        .collect();
        let [elasticity] = <[Elasticity; 1]>::try_from(elasticities)
            .map_err(|all| one_of("`stiffness`, `stiffness_per_area`, `force_table`, `pressure_table`", all.len()))?;
        let damping = match (self.damping, self.damping_per_area) {
            (Some(c), None) => Damping::PerTexel(c.si()),
            (None, Some(c)) => Damping::PerArea(c.si()),
            (None, None) => Damping::PerTexel(0.0),
            (Some(_), Some(_)) => return Err(one_of("`damping`, `damping_per_area`", 2)),
        };
        Ok(SpringParameters {
            elasticity,
            damping,
            max_penetration_m: self.max_penetration.si(),
            law: self.law,
            friction: self.friction.build(sensor)?,
        })
    }
}
