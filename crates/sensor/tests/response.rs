//! The complete chain: without stages it is the identity; with all stages it can be serialised, stopped and resumed.
//!
//! Each stage is compared with its closed form in its own file. Not tested here: whether a real sensor has these stages
//! in this order.

use crate::common::{flat, sphere};
use dermis_geometry::Random;
use dermis_sensor::response::Curve;
use dermis_sensor::{Aim, Chain, Goal, Response, ResponseSpec, ResponseState, SensorSpec, Taxels, parse_toml, press};

/// Every stage, as written in a file.
const EVERYTHING: &str = r#"
force_per_count = "0.42 mN"
bits = 12
quantised = true

[spread]
sigma_taxels = 0.5
kernel = 3

[hysteresis]
fraction = 0.08
width = "5 mN"

[[creep]]
amplitude = 0.1
time = "0.5 s"

[[creep]]
amplitude = 0.05
time = "8 s"

[ageing]
loss_by_use = 0.2
presses = 1e5
pressed_above = "0.1 N"
loss_by_time = 0.1
time = "1e6 s"

[gain]
gain = 1.0
offset = "0 N"
gain_sd = 0.1
offset_sd = "5 mN"
seed = 3
drift = { rise = "15 K", time = "0.1 s", gain_per_kelvin = 0.01, offset_per_kelvin = "0.5 mN" }

[threshold]
force = "0.1 N"
kind = "dead-band"

[curve]
kind = "polynomial"
coefficients = [1.0, -0.05, 0.002]
until = "3 N"

[saturation]
force = "1.6 N"

[crosstalk]
adjacent = 0.01
diagonal = 0.002
line = 0.0005

[noise]
sd = "2 mN"
relative = 0.002
seed = 8

[faults]
dead = [5]
stuck = [{ taxel = 9, force = "0.3 N" }]

[sampling]
rate = "100 Hz"
scan = "rows"

[delay]
time = "25 ms"
"#;

fn everything() -> ResponseSpec {
    parse_toml("everything", EVERYTHING).unwrap()
}

fn chain(spec: &ResponseSpec) -> Chain {
    spec.build(&Taxels::grid(14, 6, 3.4e-3), None).unwrap()
}

fn loads(steps: usize) -> Vec<Vec<f64>> {
    let mut random = Random::new(1);
    (0..steps).map(|_| (0..84).map(|_| random.between(-0.2, 3.0)).collect()).collect()
}

/// Values and counts are equal bit for bit, step after step, also through a sensor.
#[test]
fn a_chain_with_everything_off_is_the_identity() {
    let counts = Response { counts_per_newton: 1000.0, bits: 12 };
    for chain in [Chain::from(counts), chain(&counts.into())] {
        let mut state = chain.rest();
        for values in loads(20) {
            let (report, next) = chain.respond(&state, &values, 1e-3).unwrap();
            assert_eq!(report.newton, values);
            assert_eq!(report.raw, values.iter().map(|&v| counts.counts(v)).collect::<Vec<_>>());
            assert_eq!(chain.respond_at_once(&values), report);
            state = next;
        }
    }
    let sensor = flat(14, 6, counts);
    let touch = press(&sensor, &sphere(8e-3, 1e-3), &Aim::default(), Goal::Depth(1e-3)).unwrap().touch;
    let (sensed, _) = sensor.sense(&sensor.chain().rest(), &touch, 1e-3).unwrap();
    assert_eq!(sensed, sensor.read(&touch));
    assert_eq!(sensed.reported_newton, sensed.values_newton);
}

#[test]
fn every_stage_is_written_and_read() {
    let spec = everything();
    let text = toml::to_string(&spec).unwrap();
    assert_eq!(parse_toml::<ResponseSpec>("again", &text).unwrap(), spec);
    let stranger = EVERYTHING.replace("fraction", "fractoin");
    assert!(parse_toml::<ResponseSpec>("typo", &stranger).unwrap_err().to_string().contains("fractoin"));
}

/// A run that is stopped, written to JSON, read and resumed equals the uninterrupted run bit for bit.
#[test]
fn a_run_can_be_resumed() {
    let chain = chain(&everything());
    let loads = loads(120);
    let run = |state: ResponseState, loads: &[Vec<f64>]| {
        let mut reports = Vec::new();
        let mut state = state;
        for values in loads {
            let (report, next) = chain.respond(&state, values, 1.7e-3).unwrap();
            reports.push(report);
            state = next;
        }
        (reports, state)
    };
    let (whole, end) = run(chain.rest(), &loads);
    let (first, middle) = run(chain.rest(), &loads[..50]);
    let middle: ResponseState = serde_json::from_str(&serde_json::to_string(&middle).unwrap()).unwrap();
    let (second, resumed_end) = run(middle, &loads[50..]);
    assert_eq!(whole, [first, second].concat());
    assert_eq!(end, resumed_end);
}

/// Steps of the converter are 0.42 mN, full scale is 2^12 − 1 of them, and the rounding error is at most half a step.
#[test]
fn quantisation_has_the_step_of_its_converter() {
    let mut spec = ResponseSpec::from(Response { counts_per_newton: 1.0 / 4.2e-4, bits: 12 });
    spec.quantised = true;
    let chain = chain(&spec);
    for values in loads(50) {
        let report = chain.respond(&chain.rest(), &values, 1e-3).unwrap().0;
        for ((value, newton), raw) in values.iter().zip(&report.newton).zip(&report.raw) {
            assert!((newton / 4.2e-4 - f64::from(*raw)).abs() < 1e-9);
            let shown = value.clamp(0.0, 4095.0 * 4.2e-4);
            assert!((newton - shown).abs() <= 2.1e-4 + 1e-12, "{value} read as {newton}");
        }
    }
}

#[test]
fn states_and_values_of_another_sensor_are_refused() {
    let chain = chain(&everything());
    assert!(chain.respond(&chain.rest(), &[0.0; 83], 1e-3).unwrap_err().to_string().contains("83"));
    assert!(chain.respond(&ResponseState::default(), &[0.0; 84], 1e-3).is_err());
    assert!(chain.respond(&chain.rest(), &[0.0; 84], f64::NAN).is_err());
    let mut spec = everything();
    spec.curve = Some(Curve::Linear { slope: -1.0 });
    assert!(spec.build(&Taxels::grid(14, 6, 3.4e-3), None).is_err());
}

/// The file of a sensor contains its response, and errors in it name the sensor.
#[test]
fn a_sensor_file_may_hold_every_stage() {
    let mut spec = SensorSpec::find("wts0614").unwrap().0;
    spec.response = everything();
    let again = SensorSpec::parse("again", &spec.to_toml()).unwrap();
    assert_eq!(again, spec);
    again.build(None).unwrap();
    spec.response.faults.as_mut().unwrap().dead = vec![84];
    let message = spec.build(None).unwrap_err().to_string();
    assert!(message.contains("wts0614") && message.contains("84"), "{message}");
}

/// A reading that is sampled, held and delayed is that of one step, however long the sensor runs: a sum of 300,000 steps of 1 ms
/// would drift by more than a millionth of a step past the times of samples.
#[test]
fn samples_stay_at_their_steps_for_minutes() {
    const DELAY: u32 = 20;
    // Frames of one and of two and a half steps.
    for (rate_hz, steps_per_frame) in [(1000, 1.0), (400, 2.5)] {
        let text = format!(
            "force_per_count = \"1 mN\"\nbits = 32\nsampling = {{ rate = \"{rate_hz} Hz\" }}\ndelay = {{ time = \"{DELAY} ms\" }}"
        );
        let spec: ResponseSpec = parse_toml("slow frames", &text).unwrap();
        let chain = spec.build(&Taxels::grid(1, 1, 1e-3), None).unwrap();
        let mut state = chain.rest();
        for step in 0..300_000_u32 {
            let (report, after) = chain.respond(&state, &[f64::from(step)], 1e-3).unwrap();
            state = after;
            let truth = step.checked_sub(DELAY).map_or(0.0, |sent| {
                let frame = (f64::from(sent + 1) / steps_per_frame).ceil() - 1.0;
                (frame * steps_per_frame).floor()
            });
            assert_eq!(report.newton[0], truth, "{rate_hz} Hz, step {step}");
        }
    }
}
