//! A light fitted to ten balls under near lamps with shadows, shown on sharp objects that the fit has not seen.

use dermis_geometry::Random;
use dermis_sensor::calibration::optics::{
    AROUND, BallPress, CalibratedFit, INSIDE, Label, MAX_PLACE_DEGREE, Region, fit_calibrated, fit_calibrated_by_depth,
    rmse_255,
};
use dermis_sensor::optics::{BackgroundSpec, CalibratedSpec, FloatImage, Light, LightSpec, Relief};

const WIDTH: usize = 160;
const HEIGHT: usize = 120;
const PIXEL_M: f64 = 1.2e-4;
/// Lamps of red, green and blue: position right and down of the image centre, and above the gel (m).
const LAMPS: [[f64; 3]; 3] = [[0.016, -0.002, 0.004], [-0.009, -0.014, 0.0045], [-0.006, 0.016, 0.005]];

/// A relief from its heights (m), by central differences.
fn relief(height_m: impl Fn(f64, f64) -> f64) -> Relief {
    let at = |x: f64, y: f64| height_m((x - 79.5) * PIXEL_M, (y - 59.5) * PIXEL_M);
    let pixels = || (0..WIDTH * HEIGHT).map(|i| ((i % WIDTH) as f64, (i / WIDTH) as f64));
    let slope = |dx: f64, dy: f64| {
        pixels().map(|(x, y)| ((at(x + dx, y + dy) - at(x - dx, y - dy)) / PIXEL_M) as f32).collect::<Vec<f32>>()
    };
    Relief {
        width: WIDTH,
        height: HEIGHT,
        pixel_m: PIXEL_M,
        z_m: pixels().map(|(x, y)| at(x, y) as f32).collect(),
        slope_right: slope(0.5, 0.0),
        slope_down: slope(0.0, 0.5),
        seen: None,
    }
}

/// A ball of 2 mm radius in a gel that follows it to a contact radius and then rises exponentially.
fn ball(at: [f64; 2], contact_m: f64) -> Relief {
    const RADIUS_M: f64 = 2e-3;
    let edge = (RADIUS_M * RADIUS_M - contact_m * contact_m).sqrt();
    let (slope, length) = (contact_m / edge, 0.6e-3);
    relief(|x, y| {
        let far = (x - at[0]).hypot(y - at[1]);
        if far > contact_m {
            return -slope * length * (-(far - contact_m) / length).exp();
        }
        edge - (RADIUS_M * RADIUS_M - far * far).sqrt() - slope * length
    })
}

/// A ridge with a sharp edge, and a triangle with a flat face and walls of 63°.
fn sharp() -> [Relief; 2] {
    let ridge = |x: f64, y: f64| -(1.2e-3 - 1.8 * (0.6 * x + 0.8 * y).abs()).max(0.0);
    let wall = |x: f64, y: f64, degrees: f64| {
        let (sin, cos) = f64::to_radians(degrees).sin_cos();
        2.0 * (2.0e-3 - (x * cos + y * sin))
    };
    let triangle = move |x: f64, y: f64| {
        let inside = [90.0, 210.0, 330.0].into_iter().map(|degrees| wall(x, y, degrees)).fold(1e-3, f64::min);
        -inside.max(0.0)
    };
    [relief(ridge), relief(triangle)]
}

/// Image of near lamps: Lambert's law, falloff with the squared distance, and shadows, with 1.5 levels of noise.
fn photograph(relief: &Relief, random: &mut Random) -> FloatImage {
    let flat = Relief {
        z_m: vec![0.0; WIDTH * HEIGHT],
        slope_right: vec![0.0; WIDTH * HEIGHT],
        slope_down: vec![0.0; WIDTH * HEIGHT],
        ..relief.clone()
    };
    let mut image = background();
    for (c, channel) in image.channels.iter_mut().enumerate() {
        for (i, level) in channel.iter_mut().enumerate() {
            *level += (lit(relief, i, LAMPS[c]) - lit(&flat, i, LAMPS[c])) as f32 + 1.5 * random.normal() as f32;
            *level = level.clamp(0.0, 255.0).round();
        }
    }
    image
}

fn lit(relief: &Relief, i: usize, [right, down, above]: [f64; 3]) -> f64 {
    let (col, row) = ((i % WIDTH) as f64, (i / WIDTH) as f64);
    let height = -f64::from(relief.z_m[i]);
    let to = [right - (col - 79.5) * PIXEL_M, down - (row - 59.5) * PIXEL_M, above - height];
    let across = to[0].hypot(to[1]);
    let squared = across * across + to[2] * to[2];
    let normal = [f64::from(relief.slope_right[i]), f64::from(relief.slope_down[i]), 1.0];
    let length = normal.iter().map(|part| part * part).sum::<f64>().sqrt();
    let facing = (0..3).map(|k| normal[k] * to[k]).sum::<f64>() / (length * squared.sqrt());
    let mut horizon = 0.0f64;
    for step in 1..50 {
        let (x, y) = (col + step as f64 * to[0] / across, row + step as f64 * to[1] / across);
        if !(0.0..WIDTH as f64 - 0.5).contains(&x) || !(0.0..HEIGHT as f64 - 0.5).contains(&y) {
            break;
        }
        let there = -f64::from(relief.z_m[(y + 0.5) as usize * WIDTH + (x + 0.5) as usize]);
        horizon = horizon.max((there - height) / (step as f64 * PIXEL_M));
    }
    let hidden = ((horizon - 0.7 * to[2] / across) / (0.6 * to[2] / across)).clamp(0.0, 1.0);
    200.0 * 2.5e-4 / squared * (1.0 - hidden) * facing.max(0.0)
}

fn background() -> FloatImage {
    let levels = [vec![110.0, 20.0, 0.0], vec![120.0, 0.0, 15.0], vec![100.0, -10.0, 5.0]];
    BackgroundSpec::Polynomial { degree: 1, levels }.build(WIDTH, HEIGHT, None).unwrap()
}

fn balls(count: usize, random: &mut Random) -> Vec<BallPress> {
    let press = |_| {
        let at = [random.between(-6e-3, 6e-3), random.between(-4e-3, 4e-3)];
        let contact_m = random.between(1.3e-3, 1.7e-3);
        let relief = ball(at, contact_m);
        let image = photograph(&relief, random);
        let label = Label { column: 79.5 + at[0] / PIXEL_M, row: 59.5 + at[1] / PIXEL_M, radius: contact_m / PIXEL_M };
        BallPress { image, relief, label }
    };
    (0..count).map(press).collect()
}

/// A light fitted to ten balls, which may depend on the depth.
fn fitted(by_depth: bool) -> (CalibratedFit, Light, Random) {
    let mut random = Random::new(7);
    let presses = balls(10, &mut random);
    let all: Vec<&BallPress> = presses.iter().collect();
    let levels = BackgroundSpec::Colour([0.0; 3]);
    let fit = if by_depth { fit_calibrated_by_depth } else { fit_calibrated };
    let fit = fit(&background(), &all, levels, MAX_PLACE_DEGREE).unwrap();
    let light = LightSpec::Calibrated(fit.spec.clone()).build(WIDTH, HEIGHT, PIXEL_M, None).unwrap();
    (fit, light.on_background(background()), random)
}

/// Ten presses give the light of others, inside the contact and in its shadow. The falloff of lamps this near is only
/// approximated by polynomials of the position: measured 0.24 of the error of no contact inside.
#[test]
fn ten_balls_under_near_lamps_give_the_light_of_others() {
    for by_depth in [false, true] {
        let (_, light, mut random) = fitted(by_depth);
        let others = balls(5, &mut random);
        for (region, max) in [(INSIDE, 0.35), (AROUND, 0.6)] {
            let ours = rmse_255(&others, region, |press| light.shade(&press.relief, || None));
            let null = rmse_255(&others, region, |_| background());
            assert!(ours < max * null, "by depth {by_depth}, {region:?}: {ours} against {null}");
        }
    }
}

/// Sharp objects are closer to their image than no contact is, and have no level or change that the balls did not have.
#[test]
fn a_prism_and_a_triangle_are_better_than_no_contact_and_have_no_new_colour() {
    for by_depth in [false, true] {
        let (fit, light, mut random) = fitted(by_depth);
        let whole = Region { from: 0.0, to: 1.0 };
        for (name, relief) in ["prism", "triangle"].into_iter().zip(sharp()) {
            let image = photograph(&relief, &mut random);
            let shown = light.shade(&relief, || None);
            let label = Label { column: 79.5, row: 59.5, radius: 45.0 };
            let press = [BallPress { image, relief, label }];
            let ours = rmse_255(&press, whole, |_| shown.clone());
            let null = rmse_255(&press, whole, |_| background());
            assert!(ours < 0.8 * null, "by depth {by_depth}, {name}: {ours} against {null}");
            has_no_new_colour(&fit.spec, &shown, name);
        }
    }
}

/// No level beyond those of the calibration, and no change beyond its changes.
fn has_no_new_colour(spec: &CalibratedSpec, shown: &FloatImage, name: &str) {
    for c in 0..3 {
        let [[low, high], [least, most]] = [spec.range.unwrap()[c], spec.change.unwrap()[c]];
        for (level, rest) in shown.channels[c].iter().zip(&background().channels[c]) {
            let (level, change) = (f64::from(*level), f64::from(level - rest));
            assert!(level > low - 1e-3 && level < high + 1e-3, "{name}: level {level} of {low} to {high}");
            assert!(change > least - 1e-3 && change < most + 1e-3, "{name}: change {change} of {least} to {most}");
        }
    }
}

/// Mirrored lamps make the predictions worse: the error measures the light.
#[test]
fn a_light_turned_over_is_worse_than_no_contact() {
    let (mut fit, _, mut random) = fitted(false);
    fit.spec.levels.iter_mut().flatten().for_each(|level| *level = -*level);
    let light =
        LightSpec::Calibrated(fit.spec).build(WIDTH, HEIGHT, PIXEL_M, None).unwrap().on_background(background());
    let others = balls(2, &mut random);
    let ours = rmse_255(&others, INSIDE, |press| light.shade(&press.relief, || None));
    assert!(ours > rmse_255(&others, INSIDE, |_| background()), "{ours}");
}
