//! Viscoelastic relaxation, compared with closed forms of the standard linear solid.

use dermis_geometry::{HeightField, Twist};
use dermis_skin::layer::{Branch, IndenterHeightMap, LayerContact, Ply, Poisson};
use dermis_skin::{Layer, LayerParameters, Skin, State, Touch};

const TAU: f64 = 0.3;
const RATIO: f64 = 0.8;

fn gel(branches: Vec<Branch>) -> Layer {
    let ply = Ply { thickness_m: 2e-3, young_pa: 2e5, poisson: Poisson::Ratio(0.45) };
    let parameters = LayerParameters::new(ply, [12e-3; 2], 0.25e-3);
    Layer::new(LayerParameters {
        relaxation: branches,
        contact: LayerContact { tolerance: 1e-9, ..parameters.contact },
        ..parameters
    })
    .unwrap()
}

fn solid() -> Layer {
    gel(vec![Branch { ratio: RATIO, time_s: TAU }])
}

fn punch(layer: &Layer, depth: f64) -> IndenterHeightMap {
    let height = |x: f64, y: f64| if x.hypot(y) < 2e-3 { -depth } else { f64::INFINITY };
    IndenterHeightMap::of_heights(&HeightField::from_fn(layer.grid(), height))
}

fn force(touch: &Touch) -> f64 {
    -touch.on_sensor.force.z
}

fn step(layer: &Layer, state: &State, indenter: &IndenterHeightMap, dt_s: f64) -> (Touch, State) {
    layer.step_under(state, indenter, &Twist::ZERO, Some(dt_s)).unwrap()
}

/// Step indentation, then held: F(t) = F∞ (1 + r e^{−t/τ}) for any step length; in equilibrium F∞.
#[test]
fn a_held_punch_relaxes() {
    let layer = solid();
    let indenter = punch(&layer, 1e-4);
    let rest = force(&layer.settle_under(&layer.rest(), &indenter).unwrap().0);
    for dt in [0.05, 0.2] {
        let (touch, mut state) = step(&layer, &layer.rest(), &indenter, 1e-9);
        assert!((force(&touch) / (rest * (1.0 + RATIO)) - 1.0).abs() < 1e-6);
        let mut time = 0.0;
        while time < 0.9 {
            let (touch, next) = step(&layer, &state, &indenter, dt);
            (time, state) = (time + dt, next);
            let truth = rest * (1.0 + RATIO * f64::exp(-time / TAU));
            assert!((force(&touch) / truth - 1.0).abs() < 1e-6, "{time}: {} {truth}", force(&touch));
        }
        let (touch, _) = layer.settle_under(&state, &indenter).unwrap();
        assert!((force(&touch) / rest - 1.0).abs() < 1e-6);
    }
}

/// Indentation at constant speed over a time T: F(T) = F∞ (1 + r τ/T (1 − e^{−T/τ})): faster is stiffer, and one step
/// equals eight.
#[test]
fn faster_is_stiffer() {
    let layer = solid();
    let rest = force(&layer.settle_under(&layer.rest(), &punch(&layer, 1e-4)).unwrap().0);
    for total in [0.03, 0.3, 3.0] {
        let truth = rest * (1.0 + RATIO * TAU / total * (1.0 - f64::exp(-total / TAU)));
        for steps in [1, 8] {
            let mut now = (Touch::default(), layer.rest());
            for k in 1..=steps {
                let depth = 1e-4 * f64::from(k) / f64::from(steps);
                now = step(&layer, &now.1, &punch(&layer, depth), total / f64::from(steps));
            }
            assert!((force(&now.0) / truth - 1.0).abs() < 1e-6, "{total}, {steps}: {} {truth}", force(&now.0));
        }
    }
}

/// Released after a long hold, the surface creeps back: the remaining imprint is r/(1 + r) e^{−t/(τ(1 + r))} of the
/// depth, for a stress-free standard linear solid with retardation time τ (1 + r). Second order in the step.
#[test]
fn an_imprint_creeps_back() {
    let layer = solid();
    let (_, state) = layer.settle_under(&layer.rest(), &punch(&layer, 1e-4)).unwrap();
    let gone = punch(&layer, -1e-3);
    let deepest = |touch: &Touch| -> f64 {
        touch.surface.as_ref().unwrap().values.iter().map(|value| -value.z).fold(0.0, f64::max)
    };
    let errors: Vec<f64> = [20, 40]
        .map(|steps: u32| {
            let (_, mut state) = step(&layer, &state, &gone, 1e-9);
            let mut touch = Touch::default();
            for _ in 0..steps {
                (touch, state) = step(&layer, &state, &gone, 0.5 / f64::from(steps));
            }
            assert_eq!(force(&touch), 0.0);
            let truth = 1e-4 * RATIO / (1.0 + RATIO) * f64::exp(-0.5 / (TAU * (1.0 + RATIO)));
            (deepest(&touch) / truth - 1.0).abs()
        })
        .into();
    println!("imprint: {errors:?}");
    assert!(errors[1] < 1e-3 && errors[1] < errors[0] / 3.0, "{errors:?}");
}

/// A branch that relaxes instantly has no effect; a state of another spectrum returns an error.
#[test]
fn branches_that_are_gone_do_not_count() {
    let (quick, elastic) = (gel(vec![Branch { ratio: 2.0, time_s: 1e-9 }]), gel(Vec::new()));
    let indenter = punch(&quick, 1e-4);
    let (a, _) = step(&quick, &quick.rest(), &indenter, 1.0);
    let (b, _) = step(&elastic, &elastic.rest(), &indenter, 1.0);
    assert!((force(&a) / force(&b) - 1.0).abs() < 1e-6);
    assert!(elastic.settle_under(&quick.rest(), &indenter).is_err());
}
