//! Time of one step of a full response chain.

use super::nanoseconds;
use super::springs::{ball, skin, step_ns};
use dermis::geometry::quantity::{Force, Frequency, Time};
use dermis::sensor::response::{
    Ageing, Creep, Crosstalk, Curve, Delay, Faults, Gain, Hysteresis, Noise, PerTaxel, Sampling, Saturation, Scan,
    Stuck, Threshold, ThresholdKind,
};
use dermis::sensor::{Response, ResponseSpec, Spread, Taxels};
use std::collections::BTreeMap;
use std::hint::black_box;

/// A chain with every stage.
fn everything() -> ResponseSpec {
    let creep = |amplitude, seconds| Creep { amplitude, time: Time::new(seconds) };
    ResponseSpec {
        quantised: true,
        spread: Some(Spread::gaussian(0.5, 3)),
        hysteresis: Some(Hysteresis { fraction: 0.08, width: Force::new(0.0) }),
        creep: vec![creep(0.1, 0.5), creep(0.05, 8.0)],
        ageing: Some(Ageing {
            loss_by_use: 0.2,
            presses: 1e5,
            pressed_above: Force::new(0.1),
            loss_by_time: 0.1,
            time: Time::new(1e6),
        }),
        gain: Some(Gain { gain_sd: 0.1, ..Gain::default() }),
        threshold: Some(Threshold { force: PerTaxel::All(Force::new(0.02)), kind: ThresholdKind::DeadBand }),
        curve: Some(Curve::Polynomial { coefficients: vec![1.0, -0.05, 0.002], until: Force::new(3.0) }),
        saturation: Some(Saturation { force: PerTaxel::All(Force::new(1.6)) }),
        crosstalk: Some(Crosstalk { adjacent: 0.01, diagonal: 0.002, line: 0.0005, reach: None }),
        noise: Some(Noise { sd: Force::new(2e-3), relative: 0.0, seed: 1 }),
        faults: Some(Faults { dead: vec![5], stuck: vec![Stuck { taxel: 9, force: Force::new(0.3) }] }),
        sampling: Some(Sampling { rate: Frequency::new(1000.0), scan: Scan::Rows }),
        delay: Some(Delay { time: Time::new(5e-3) }),
        ..Response { counts_per_newton: 1.0 / 4.2e-4, bits: 12 }.into()
    }
}

pub(super) fn run() -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    let Ok(chain) = everything().build(&Taxels::grid(14, 6, 3.85758e-3), None) else { return numbers };
    let mut state = chain.rest();
    let mut values = vec![0.0; 84];
    let response = nanoseconds(|step| {
        for (i, value) in values.iter_mut().enumerate() {
            *value = 0.5 + 0.5 * (0.01 * step as f64 + i as f64).sin();
        }
        if let Ok((report, next)) = chain.respond(&state, &values, 1e-3) {
            state = next;
            black_box(report.raw);
        }
    });
    numbers.insert("ns_per_step_full_chain_84_taxels".into(), response);
    if let (Some(skin), Some(object)) = (skin(14, 6, 3.85758e-3), ball(10_000)) {
        let touch = step_ns(&skin, &object);
        numbers.insert("ns_per_step_springs_84_texels_10k_triangles".into(), touch);
        numbers.insert("chain_over_springs_ratio".into(), response / touch);
    }
    numbers
}
