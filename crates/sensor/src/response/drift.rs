//! Change of gain and offset with temperature.

use super::ResponseError;
use super::error::require;
use dermis_geometry::quantity::{Force, TemperatureDifference, Time};
use serde::{Deserialize, Serialize};

/// Change of gains and offsets with temperature: y = g (1 + a ΔT) x + o + b ΔT. The transducer and its amplifier drift, so
/// this acts with the gain: after the cover, before threshold, curve, saturation and rounding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// Temperature ΔT above that at which gains and offsets hold.
    pub rise: TemperatureDifference,
    /// Time constant in which the temperature rises from zero, such as that of warming up; a single press reads as after it.
    /// Default: it has risen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Relative change a of the gains per kelvin.
    #[serde(default)]
    pub gain_per_kelvin: f64,
    /// Change b of the offsets per kelvin.
    #[serde(default = "none")]
    pub offset_per_kelvin: Force,
}

fn none() -> Force {
    Force::new(0.0)
}

/// Temperature (K) above the reference at a time since rest (s), infinity for after warming up: it rises to `rise` with a
/// time constant, or has risen.
pub(crate) fn rise_kelvin(rise: TemperatureDifference, constant: Option<Time>, time_s: f64) -> f64 {
    rise.si() * constant.map_or(1.0, |constant| -(-time_s / constant.si()).exp_m1())
}

impl Drift {
    /// Factor on the gains and term of the offsets (N) at a time since rest (s).
    pub(super) fn at(&self, time_s: f64) -> (f64, f64) {
        let kelvin = rise_kelvin(self.rise, self.time, time_s);
        (1.0 + self.gain_per_kelvin * kelvin, self.offset_per_kelvin.si() * kelvin)
    }

    pub(super) fn validate(&self) -> Result<(), ResponseError> {
        require(true, "gain.drift.gain_per_kelvin", "a finite number", self.gain_per_kelvin)?;
        let factor = self.gain_per_kelvin * self.rise.si();
        require(factor > -1.0, "gain.drift.gain_per_kelvin", "more than -1 when multiplied by `rise`", factor)?;
        let time_s = self.time.map_or(1.0, Time::si);
        require(time_s > 0.0, "gain.drift.time", "a positive time", time_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Taxels;
    use crate::response::{Gain, PerTaxel, ResponseSpec, Saturation};

    fn warm(time: Option<Time>) -> ResponseSpec {
        let rise = TemperatureDifference::new(20.0);
        let drift = Drift { rise, time, gain_per_kelvin: 0.03, offset_per_kelvin: Force::new(1e-3) };
        let (gain, offset) = (PerTaxel::Each(vec![1.0, 0.5]), PerTaxel::All(Force::new(0.1)));
        ResponseSpec { gain: Some(Gain { gain, offset, drift: Some(drift), ..Gain::default() }), ..Default::default() }
    }

    /// y = g (1 + a ΔT) x + o + b ΔT, then saturation; by the gains of the file it has the slope (1 + a ΔT) x.
    #[test]
    fn a_warm_array_reads_more() {
        let taxels = Taxels::grid(1, 2, 1e-3);
        let spec = warm(None);
        let chain = spec.build(&taxels, None).unwrap();
        let truth = [1.6 * 2.0 + 0.1 + 0.02, 0.5 * 1.6 * 2.0 + 0.1 + 0.02];
        for newton in [
            chain.respond(&chain.rest(), &[2.0; 2], 1e-3).unwrap().0.newton,
            chain.respond_at_once(&[2.0; 2]).newton,
            warm(Some(Time::new(30.0))).build(&taxels, None).unwrap().respond_at_once(&[2.0; 2]).newton,
        ] {
            assert!(newton.iter().zip(&truth).all(|(found, truth)| (found - truth).abs() < 1e-14), "{newton:?}");
        }
        let (by_values, parameters) = chain.vjp(&[2.0; 2], &[1.0, 3.0]);
        assert!((by_values[0] - 1.6).abs() < 1e-14 && (by_values[1] - 2.4).abs() < 1e-14, "{by_values:?}");
        let by_gain = &parameters.iter().find(|(name, _)| *name == "gain").unwrap().1;
        assert!((by_gain[0] - 3.2).abs() < 1e-14 && (by_gain[1] - 9.6).abs() < 1e-14, "{by_gain:?}");
        assert_eq!(parameters.iter().find(|(name, _)| *name == "offset").unwrap().1, [1.0, 3.0]);
        let load = spec.inverse(2).unwrap()(1, 1e3 * truth[1]).unwrap();
        assert!((load - 2.0).abs() < 1e-12, "{load}");
        let clipped = ResponseSpec { saturation: Some(Saturation { force: PerTaxel::All(Force::new(2.0)) }), ..spec };
        let clipped = clipped.build(&taxels, None).unwrap().respond_at_once(&[2.0; 2]).newton;
        assert!(clipped[0] == 2.0 && (clipped[1] - truth[1]).abs() < 1e-14, "{clipped:?}");
    }

    /// ΔT (1 − e^(−t/τ)), for any length of the steps.
    #[test]
    fn an_array_warms_up() {
        let chain = warm(Some(Time::new(30.0))).build(&Taxels::grid(1, 2, 1e-3), None).unwrap();
        for steps in [1, 9] {
            let (mut state, mut report) = (chain.rest(), None);
            for _ in 0..steps {
                let (found, next) = chain.respond(&state, &[2.0; 2], 45.0 / f64::from(steps)).unwrap();
                (state, report) = (next, Some(found));
            }
            let kelvin = 20.0 * (1.0 - (-1.5f64).exp());
            let truth = (1.0 + 0.03 * kelvin) * 2.0 + 0.1 + 1e-3 * kelvin;
            let found = report.unwrap().newton[0];
            assert!((found - truth).abs() < 1e-13, "{found} {truth}");
        }
        let gain = |spec: ResponseSpec| {
            let operations = spec.build(&Taxels::grid(1, 2, 1e-3), None).unwrap().operations().unwrap();
            (operations[0].per_taxel.clone(), operations[0].cpu_only)
        };
        let (lists, reason) = gain(warm(None));
        assert!((lists[0][1] - 0.8).abs() < 1e-15 && (lists[1][0] - 0.12).abs() < 1e-15 && reason.is_none());
        assert!(gain(warm(Some(Time::new(30.0)))).1.is_some_and(|reason| reason.contains("gain.drift.time")));
    }

    #[test]
    fn drifts_that_end_the_gain_are_refused() {
        let refused = |change: fn(&mut Drift)| {
            let mut spec = warm(None);
            change(spec.gain.as_mut().unwrap().drift.as_mut().unwrap());
            spec.validate(2).unwrap_err().to_string()
        };
        let told = refused(|drift| drift.gain_per_kelvin = -0.06);
        assert!(told.contains("`gain.drift.gain_per_kelvin` must be more than -1 when multiplied by `rise`"), "{told}");
        assert!(refused(|drift| drift.gain_per_kelvin = f64::NAN).contains("NaN"));
        assert!(
            refused(|drift| drift.time = Some(Time::new(0.0))).contains("`gain.drift.time` must be a positive time")
        );
    }
}
