//! A virtual bench that characterises any simulated sensor (Kappassov 2020, section III-A).

use crate::{Aim, Goal, PressError, ResponseError, Sensor, press};
use dermis_geometry::shapes::{ShapeError, prism};
use dermis_skin::{Object, Warning};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The protocol of the bench.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Diameter of the flat, round indenter (m).
    pub indenter_m: f64,
    /// Depths (m), increasing: pressed in this order, then in reverse.
    pub depths_m: Vec<f64>,
    /// Number of presses per taxel.
    pub presses: usize,
    /// Time each depth is held before the reading (s).
    pub dwell_s: f64,
    /// Time without load after a press (s).
    pub rest_s: f64,
    /// Time between two readings (s).
    pub step_s: f64,
    /// Taxels whose creep is recorded.
    pub creep_taxels: Vec<usize>,
    /// Depth of the creep presses (m).
    pub creep_depth_m: f64,
    /// Duration of the creep presses (s).
    pub creep_s: f64,
}

impl Default for Protocol {
    /// An indenter of 2 mm, which covers a tenth or more of the contact points of a tactel of 3.4 mm (the paper has 1 mm),
    /// and the depths of 0.2 … 1.4 mm of the paper; three presses, ten seconds of creep on one taxel.
    fn default() -> Self {
        Self {
            indenter_m: 2e-3,
            depths_m: (1..=7).map(|i| f64::from(i) * 0.2e-3).collect(),
            presses: 3,
            dwell_s: 0.1,
            rest_s: 2.0,
            step_s: 0.01,
            creep_taxels: vec![0],
            creep_depth_m: 0.8e-3,
            creep_s: 10.0,
        }
    }
}

/// One reading of a press, at the end of a period of constant load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PressRow {
    /// The taxel under the indenter.
    pub taxel: usize,
    /// Number of the press, from 0.
    pub press: usize,
    /// Time without load before this row (s), if it was recorded; the virtual bench has rows without load instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_s: Option<f64>,
    /// Duration of the constant load (s).
    pub held_s: f64,
    /// Depth (m); zero between presses.
    pub depth_m: f64,
    /// Force of the indenter (N), from a separate force sensor.
    pub force_newton: f64,
    /// Temperature above the reference (K), if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rise_kelvin: Option<f64>,
    /// Counts of all taxels.
    pub raw: Vec<u32>,
}

/// One reading under a constant load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreepRow {
    /// The taxel under the indenter.
    pub taxel: usize,
    /// Time since the load was applied (s).
    pub time_s: f64,
    /// Force of the indenter (N).
    pub force_newton: f64,
    /// Counts of that taxel.
    pub raw: u32,
}

/// All measurements, in chronological order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bench {
    /// Presses: every depth up and down, then the pause without load.
    pub presses: Vec<PressRow>,
    /// Creep.
    pub creep: Vec<CreepRow>,
    /// Warnings of the skin, the first of each kind.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// Errors of the virtual bench.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum BenchError {
    /// An invalid protocol.
    #[error("`{key}` of the bench must be {rule}, got {got}")]
    Bad { key: &'static str, rule: &'static str, got: f64 },
    /// The indenter lies between contact points.
    #[error(
        "a {indenter_mm} mm indenter on taxel {taxel} of sensor {sensor:?} touches none of its contact points; use a wider indenter, or an odd `contact_points`"
    )]
    TouchesNothing { sensor: String, taxel: usize, indenter_mm: f64 },
    /// An error of the press.
    #[error(transparent)]
    Press(#[from] PressError),
    /// An error of the response.
    #[error(transparent)]
    Response(#[from] ResponseError),
    /// An invalid shape of the indenter.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

impl Protocol {
    /// Returns an error for an invalid protocol.
    pub fn validate(&self) -> Result<(), BenchError> {
        let positive = [
            ("indenter_m", self.indenter_m),
            ("dwell_s", self.dwell_s),
            ("rest_s", self.rest_s),
            ("step_s", self.step_s),
            ("creep_depth_m", self.creep_depth_m),
            ("creep_s", self.creep_s),
        ];
        for (key, got) in positive {
            if !(got > 0.0 && got.is_finite()) {
                return Err(BenchError::Bad { key, rule: "positive", got });
            }
        }
        let rising = self.depths_m.first().is_some_and(|d| *d > 0.0) && self.depths_m.is_sorted_by(|a, b| a < b);
        if !rising {
            let got = self.depths_m.len() as f64;
            return Err(BenchError::Bad { key: "depths_m", rule: "rising from above zero; its length", got });
        }
        if self.presses == 0 {
            return Err(BenchError::Bad { key: "presses", rule: "at least 1", got: 0.0 });
        }
        Ok(())
    }
}

/// A repeatable press: the loads of the taxels and the force of the indenter.
pub(crate) struct Load {
    pub values_newton: Vec<f64>,
    pub force_newton: f64,
    pub warnings: Vec<Warning>,
}

/// The flat, round indenter of the bench over a sensor.
pub(crate) struct Indenter<'a> {
    sensor: &'a Sensor,
    object: Object,
    diameter_m: f64,
}

impl<'a> Indenter<'a> {
    pub fn new(sensor: &'a Sensor, diameter_m: f64) -> Result<Self, BenchError> {
        if !(diameter_m > 0.0 && diameter_m.is_finite()) {
            return Err(BenchError::Bad { key: "indenter_m", rule: "positive", got: diameter_m });
        }
        let object = Object::new(prism(32, 0.5 * diameter_m, 10e-3)?.named("indenter"));
        Ok(Self { sensor, object, diameter_m })
    }

    /// Presses the middle of a taxel to a depth (m).
    pub fn load(&self, taxel: usize, depth_m: f64) -> Result<Load, BenchError> {
        let sensor = self.sensor;
        let center = sensor.taxels().centers()[taxel];
        let aim = Aim { at_m: [center.x, center.y], ..Aim::default() };
        let pressed = press(sensor, &self.object, &aim, Goal::Depth(depth_m))?;
        let force_newton = -pressed.touch.on_sensor.force.z;
        if pressed.touch.facets.is_empty() {
            let indenter_mm = self.diameter_m * 1e3;
            return Err(BenchError::TouchesNothing { sensor: sensor.name().to_owned(), taxel, indenter_mm });
        }
        let warnings = pressed.touch.all_warnings().collect();
        Ok(Load { values_newton: pressed.reading.values_newton, force_newton, warnings })
    }
}

/// Measures a sensor. `progress` receives the fraction done (0…1) and ends the measurement early by returning false.
pub fn characterise(
    sensor: &Sensor,
    protocol: &Protocol,
    mut progress: impl FnMut(f64) -> bool,
) -> Result<Bench, BenchError> {
    protocol.validate()?;
    let taxels = sensor.taxels().len();
    if let Some(&taxel) = protocol.creep_taxels.iter().find(|&&taxel| taxel >= taxels) {
        return Err(BenchError::Bad { key: "creep_taxels", rule: "taxels of the sensor", got: taxel as f64 });
    }
    let indenter = Indenter::new(sensor, protocol.indenter_m)?;
    let nothing = Load { values_newton: vec![0.0; taxels], force_newton: 0.0, warnings: Vec::new() };
    let mut state = sensor.chain().rest();
    let mut hold =
        |load: &Load, seconds: f64, step_s: f64, each: &mut dyn FnMut(f64, &[u32])| -> Result<f64, ResponseError> {
            let steps = (seconds / step_s).round().max(1.0) as usize;
            for step in 1..=steps {
                let dt_s = seconds / steps as f64;
                let (report, next) = sensor.chain().respond(&state, &load.values_newton, dt_s)?;
                state = next;
                each(step as f64 * dt_s, &report.raw);
            }
            Ok(state.time_s)
        };
    let mut bench = Bench::default();
    for taxel in 0..taxels {
        let loads = protocol.depths_m.iter().map(|&d| indenter.load(taxel, d)).collect::<Result<Vec<Load>, _>>()?;
        let warned = std::mem::take(&mut bench.warnings);
        let new = loads.iter().flat_map(|load| load.warnings.iter().cloned());
        bench.warnings = Warning::first_of_each_kind(warned.into_iter().chain(new));
        let there_and_back = || (0..loads.len()).chain((0..loads.len() - 1).rev());
        for press in 0..protocol.presses {
            let mut held = |depth_m: f64, load: &Load, held_s: f64, step_s: f64| -> Result<(), ResponseError> {
                let mut raw = Vec::new();
                let time_s = hold(load, held_s, step_s, &mut |_, counts| raw = counts.to_vec())?;
                let (force_newton, rise_kelvin) = (load.force_newton, sensor.chain().rise_kelvin(time_s));
                bench.presses.push(PressRow {
                    taxel,
                    press,
                    rest_s: None,
                    held_s,
                    depth_m,
                    force_newton,
                    rise_kelvin,
                    raw,
                });
                Ok(())
            };
            for i in there_and_back() {
                held(protocol.depths_m[i], &loads[i], protocol.dwell_s, protocol.step_s)?;
            }
            // No reading is taken without contact.
            held(0.0, &nothing, protocol.rest_s, 10.0 * protocol.step_s)?;
        }
        if !progress((taxel + 1) as f64 / taxels as f64) {
            return Ok(bench);
        }
    }
    for &taxel in &protocol.creep_taxels {
        let load = indenter.load(taxel, protocol.creep_depth_m)?;
        hold(&nothing, 10.0 * protocol.creep_s, 10.0 * protocol.step_s, &mut |_, _| {})?;
        hold(&load, protocol.creep_s, protocol.step_s, &mut |time_s, raw| {
            bench.creep.push(CreepRow { taxel, time_s, force_newton: load.force_newton, raw: raw[taxel] });
        })?;
    }
    Ok(bench)
}

impl Bench {
    /// The presses as CSV with units in the header.
    pub fn presses_csv(&self) -> String {
        let has_rise = self.presses.first().is_some_and(|row| row.rise_kelvin.is_some());
        let has_rest = self.presses.iter().any(|row| row.rest_s.is_some());
        let mut text = String::from("taxel,press");
        text.push_str(if has_rest { ",rest_s" } else { "" });
        text.push_str(",held_s,depth_mm,force_N");
        text.push_str(if has_rise { ",rise_K" } else { "" });
        for taxel in 0..self.presses.first().map_or(0, |row| row.raw.len()) {
            let _ = write!(text, ",raw_{taxel}_counts");
        }
        text.push('\n');
        for row in &self.presses {
            let (depth, force) = (row.depth_m * 1e3, row.force_newton);
            let _ = write!(text, "{},{}", row.taxel, row.press);
            if has_rest {
                let _ = write!(text, ",{}", row.rest_s.unwrap_or_default());
            }
            let _ = write!(text, ",{},{depth},{force}", row.held_s);
            if has_rise {
                let _ = write!(text, ",{}", row.rise_kelvin.unwrap_or_default());
            }
            for raw in &row.raw {
                let _ = write!(text, ",{raw}");
            }
            text.push('\n');
        }
        text
    }

    /// The creep as CSV with units in the header.
    pub fn creep_csv(&self) -> String {
        let mut text = String::from("taxel,time_s,force_N,raw_counts\n");
        for row in &self.creep {
            let _ = writeln!(text, "{},{},{},{}", row.taxel, row.time_s, row.force_newton, row.raw);
        }
        text
    }

    /// Depth (m) and force (N) of all presses during loading, for a stiffness fit.
    pub fn force_against_depth(&self) -> Vec<(f64, f64)> {
        let pressed = self.presses.iter().filter(|row| row.depth_m > 0.0);
        pressed.map(|row| (row.depth_m, row.force_newton)).collect()
    }
}
