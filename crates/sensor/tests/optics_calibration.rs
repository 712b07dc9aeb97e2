//! Calibrates a light on ball presses with known ground truth.

use crate::ball;

use ball::Ball;
use dermis_geometry::quantity::{Angle, Length};
use dermis_geometry::{Random, Vec3};
use dermis_sensor::calibration::optics::{
    AROUND, BallPress, Dent, INSIDE, Label, MAX_PLACE_DEGREE, align, background_of_presses, fit_calibrated,
    fit_calibrated_by_depth, fit_phong, rmse_255,
};
use dermis_sensor::optics::{
    BackgroundSpec, CalibratedSpec, Camera, CameraSpec, DepthLightSpec, FloatImage, LightSourceSpec, LightSpec,
    PhongSpec, Relief, SideLampSpec,
};

const PIXEL_M: f64 = 6e-5;

fn camera() -> Camera {
    CameraSpec::plain(320, 240, PIXEL_M).build().unwrap()
}

fn lamp(azimuth_deg: f64, elevation_deg: f64, diffuse: [f64; 3]) -> LightSourceSpec {
    LightSourceSpec {
        azimuth: Angle::new(azimuth_deg.to_radians()),
        elevation: Angle::new(elevation_deg.to_radians()),
        diffuse,
        specular: [0.0; 3],
    }
}

/// A synthetic sensor: three coloured lamps, brighter to the right, with 1.5 levels of noise.
fn truth() -> PhongSpec {
    PhongSpec {
        background: BackgroundSpec::Polynomial {
            degree: 1,
            levels: [vec![110.0, 20.0, 0.0], vec![120.0, 0.0, 15.0], vec![100.0, -10.0, 5.0]],
        },
        relative: true,
        shininess: 5,
        sources: vec![
            lamp(20.0, 30.0, [120.0, 0.0, 0.0]),
            lamp(140.0, 25.0, [0.0, 110.0, 0.0]),
            lamp(265.0, 40.0, [0.0, 0.0, 130.0]),
        ],
        shadow: None,
        residual: None,
    }
}

/// Presses over the image, with label errors of up to a pixel, as in labels made by hand.
fn presses(count: usize) -> (FloatImage, Vec<BallPress>) {
    let camera = camera();
    let light = truth().build(320, 240, PIXEL_M, None).unwrap();
    let mut random = Random::new(11);
    let background = truth().background.build(320, 240, None).unwrap();
    let press = |_| {
        let contact_m = random.between(1.1e-3, 1.6e-3);
        let at = [random.between(-5e-3, 5e-3), random.between(-3.5e-3, 3.5e-3)];
        let field = Ball { radius_m: 2e-3, contact_m }.field(at, 160, 210, 1e-4);
        let relief = Relief::of(&field, &camera);
        let mut image = light.shade(&relief);
        for channel in &mut image.channels {
            channel
                .iter_mut()
                .for_each(|level| *level = (*level + 1.5 * random.normal() as f32).clamp(0.0, 255.0).round());
        }
        let middle = camera.project(Vec3::new(at[0], at[1], 0.0));
        let mut off = || random.between(-1.0, 1.0);
        let label = Label { column: middle[0] + off(), row: middle[1] + off(), radius: contact_m / PIXEL_M + off() };
        BallPress { image, relief, label }
    };
    (background, (0..count).map(press).collect())
}

fn even(presses: &[BallPress]) -> Vec<&BallPress> {
    presses.iter().step_by(2).collect()
}

/// Fitted to ten presses and tested on ten others: nearly at the noise level, and far better than the background alone.
#[test]
fn ten_presses_give_the_light_of_ten_others() {
    let (background, presses) = presses(20);
    let fit = fit_calibrated(&background, &even(&presses), truth().background, MAX_PLACE_DEGREE).unwrap();
    let light = LightSpec::Calibrated(fit.spec).build(320, 240, PIXEL_M, None).unwrap();
    let held_out = || presses.iter().skip(1).step_by(2);
    for (region, most) in [(INSIDE, 4.0), (AROUND, 4.0)] {
        let ours = rmse_255(held_out(), region, |press| light.shade(&press.relief, || None));
        let null = rmse_255(held_out(), region, |_| background.clone());
        assert!(ours < most && ours < 0.3 * null, "{region:?}: {ours} against {null}");
    }
    assert!(fit.cross_validated < 5.0, "{}", fit.cross_validated);
}

/// The lamps drift by up to 9 levels between the image without contact and the presses: the image at the time of the presses
/// is found, in contacts too, and other presses are reproduced as if nothing had drifted.
#[test]
fn a_drift_after_the_image_without_contact_is_found() {
    let (mut background, presses) = presses(20);
    let then = background.clone();
    let drift = |c: usize, i: usize| (5.0 - 3.0 * c as f64 + 4.0 * ((i % 320) as f64 / 320.0 - 0.5)) as f32;
    for (c, channel) in background.channels.iter_mut().enumerate() {
        channel.iter_mut().enumerate().for_each(|(i, level)| *level -= drift(c, i));
    }
    let off = |image: &FloatImage| {
        let pairs = image.channels.iter().flatten().zip(then.channels.iter().flatten());
        let squares: f64 = pairs.map(|(level, then)| f64::from(level - then).powi(2)).sum();
        (squares / (3.0 * 320.0 * 240.0)).sqrt()
    };
    let found = background_of_presses(&background, &even(&presses)).unwrap();
    assert!(off(&background) > 3.0 && off(&found) < 0.8, "{} to {}", off(&background), off(&found));
    let error = |background: &FloatImage| {
        let black = BackgroundSpec::Colour([0.0; 3]);
        let fit = fit_calibrated(background, &even(&presses), black, MAX_PLACE_DEGREE).unwrap();
        let light = LightSpec::Calibrated(fit.spec).build(320, 240, PIXEL_M, None).unwrap();
        let light = light.on_background(background.clone());
        rmse_255(presses.iter().skip(1).step_by(2), AROUND, |press| light.shade(&press.relief, || None))
    };
    let errors = [&found, &then, &background].map(error);
    assert!(errors[0] < errors[1] + 0.2 && errors[0] < errors[2], "{errors:?}");
}

/// A light that fades from one side to the other: the fit finds whether the change is proportional to the image without
/// contact, and reproduces it.
#[test]
fn a_change_proportional_to_the_image_without_contact_is_found() {
    let (background, mut presses) = presses(12);
    let uneven = BackgroundSpec::Polynomial {
        degree: 2,
        levels: [
            vec![120.0, 60.0, 0.0, -30.0, 0.0, 20.0],
            vec![110.0, -50.0, 20.0, 0.0, 30.0, 0.0],
            vec![100.0, 0.0, -60.0, 20.0, 0.0, 0.0],
        ],
    };
    let fitted = fit_calibrated(&background, &even(&presses), uneven.clone(), 0).unwrap().spec;
    let dark = uneven.build(320, 240, None).unwrap();
    for proportional in [false, true] {
        let spec = CalibratedSpec { proportional, change: None, range: None, shadow: None, ..fitted.clone() };
        let light = spec.build(320, 240, None).unwrap();
        presses.iter_mut().for_each(|press| press.image = light.shade(&press.relief, None));
        let found = fit_calibrated(&dark, &even(&presses), uneven.clone(), 1).unwrap().spec;
        assert_eq!(found.proportional, proportional);
        let light = found.build(320, 240, None).unwrap();
        let held_out = || presses.iter().skip(1).step_by(2);
        let left = rmse_255(held_out(), INSIDE, |press| light.shade(&press.relief, None));
        let null = rmse_255(held_out(), INSIDE, |_| dark.clone());
        assert!(left < 0.04 * null, "{left} of {null}");
    }
}

/// A light that depends on the depth, too: a fit that may find it reproduces other presses better than one that may not.
#[test]
fn a_light_that_depends_on_the_depth_is_found() {
    let (background, mut presses) = presses(24);
    let colour = BackgroundSpec::Colour([120.0, 110.0, 100.0]);
    let fitted = fit_calibrated(&background, &even(&presses), colour.clone(), 0).unwrap().spec;
    let even_light = colour.build(320, 240, None).unwrap();
    // For each monomial of the slope a constant and two gradients over the image.
    let levels = [0, 1, 2].map(|c| (0..18).map(|i| [25.0, -40.0, 30.0, 10.0, 0.0][(i + c) % 5]).collect());
    let proportional_levels = [0; 3].map(|_| vec![0.0; 18]);
    let depth = Some(DepthLightSpec { levels, proportional_levels, deepest: Length::new(5e-3) });
    let truth = CalibratedSpec { area: None, change: None, range: None, shadow: None, depth, ..fitted };
    let light = truth.build(320, 240, None).unwrap();
    presses.iter_mut().for_each(|press| press.image = light.shade(&press.relief, None));
    let left = |spec: CalibratedSpec| {
        let light = spec.build(320, 240, None).unwrap();
        rmse_255(presses.iter().skip(1).step_by(2), INSIDE, |press| light.shade(&press.relief, None))
    };
    let found = fit_calibrated_by_depth(&even_light, &even(&presses), colour.clone(), 1).unwrap().spec;
    assert!(found.depth.is_some());
    let plain = fit_calibrated(&even_light, &even(&presses), colour, 1).unwrap().spec;
    let [found, plain] = [found, plain].map(left);
    assert!(found < 0.6 * plain, "{found} against {plain}");
}

/// Shadows that take the light of their lamp away, on an uneven image without contact, are found and reproduced. Their
/// lamps are found between the trial directions and elevations.
#[test]
fn shadows_that_replace_the_light_are_found() {
    let (background, mut presses) = presses(12);
    let colour = BackgroundSpec::Colour([120.0, 110.0, 100.0]);
    let fitted = fit_calibrated(&background, &even(&presses), colour, 0).unwrap().spec;
    let uneven = BackgroundSpec::Polynomial {
        degree: 1,
        levels: [vec![120.0, 80.0, 0.0], vec![110.0, -70.0, 20.0], vec![100.0, 0.0, -60.0]],
    };
    let dark = uneven.build(320, 240, None).unwrap();
    let mut shadow = fitted.shadow.clone().unwrap();
    // A fully hidden lamp leaves half of the image without contact, whatever the slope.
    shadow.levels = [0, 1, 2].map(|c| (0..shadow.levels[c].len()).map(|i| if i == 0 { -64.0 } else { 0.0 }).collect());
    shadow.replaces = true;
    for lamp in &mut shadow.lamps {
        lamp.azimuth = Angle::new(lamp.azimuth.si() + 14f64.to_radians());
        lamp.distance = Some(Length::new(320.0 * PIXEL_M * 0.6));
        lamp.elevation = [0.13f64, 0.38].map(|tangent| Angle::new(tangent.atan()));
    }
    let lamps = shadow.lamps;
    let limits = CalibratedSpec { background: uneven.clone(), change: None, range: None, ..fitted };
    let light = CalibratedSpec { shadow: Some(shadow), ..limits }.build(320, 240, None).unwrap();
    presses.iter_mut().for_each(|press| press.image = light.shade(&press.relief, None));
    let found = fit_calibrated(&dark, &even(&presses), uneven, 1).unwrap().spec;
    let shadow = found.shadow.as_ref().unwrap();
    assert!(shadow.replaces);
    for (found, truth) in shadow.lamps.iter().zip(lamps) {
        let off_deg = (found.azimuth.si() - truth.azimuth.si()).to_degrees();
        assert!(((off_deg + 180.0).rem_euclid(360.0) - 180.0).abs() < 4.0, "{found:?}, {truth:?}");
        let tangents = |lamp: &SideLampSpec| lamp.elevation.map(|edge| edge.si().tan());
        let [found_edges, edges] = [tangents(found), tangents(&truth)];
        assert!((found_edges[0] - edges[0]).abs() < 0.03, "{found_edges:?}, {edges:?}");
        let ratio = found.distance.unwrap().si() / truth.distance.unwrap().si();
        assert!((ratio - 1.0).abs() < 0.15, "{found:?}, {truth:?}");
    }
    let light = found.build(320, 240, None).unwrap();
    let held_out = || presses.iter().skip(1).step_by(2);
    let left = rmse_255(held_out(), INSIDE, |press| light.shade(&press.relief, None));
    let null = rmse_255(held_out(), INSIDE, |_| dark.clone());
    assert!(left < 0.1 * null, "{left} of {null}");
}

/// The fit recovers the directions of the lamps: the brightest of each colour within 3°.
#[test]
fn lamps_come_back_where_they_stand() {
    let (background, presses) = presses(12);
    let found = fit_phong(&background, &even(&presses), truth().background).unwrap();
    for (channel, truth) in truth().sources.iter().enumerate() {
        let brightest = found
            .sources
            .iter()
            .filter(|source| source.diffuse[channel] > 0.0)
            .max_by(|a, b| a.diffuse[channel].total_cmp(&b.diffuse[channel]))
            .unwrap();
        let (a, b) = (truth.direction(), brightest.direction());
        let angle = a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>().clamp(-1.0, 1.0).acos().to_degrees();
        assert!(angle < 3.0, "{channel}: {angle} degrees, {brightest:?}");
    }
    let light = LightSpec::Phong(found).build(320, 240, PIXEL_M, None).unwrap();
    let ours = rmse_255(presses.iter().skip(1).step_by(2), INSIDE, |press| light.shade(&press.relief, || None));
    assert!(ours < 3.0, "{ours}");
}

/// The images correct label errors of up to ten pixels, and deeper presses receive larger depths.
#[test]
fn loose_labels_are_put_right() {
    let camera = camera();
    let light = truth().build(320, 240, PIXEL_M, None).unwrap();
    let background = truth().background.build(320, 240, None).unwrap();
    let contacts_m = [0.9e-3, 1.1e-3, 1.3e-3, 1.5e-3, 1.7e-3];
    let shape = |i: usize| Ball { radius_m: 2e-3, contact_m: contacts_m[i] };
    let relief = |i: usize, at: [f64; 2]| Relief::of(&shape(i).field(at, 160, 210, 1e-4), &camera);
    let dents: Vec<Dent> =
        (0..5).map(|i| Dent::of(&relief(i, [0.0; 2]), camera.project(Vec3::ZERO), shape(i).depth_m())).collect();
    let mut random = Random::new(4);
    let (mut presses, mut middles) = (Vec::new(), Vec::new());
    for i in 0..10 {
        let at = [random.between(-2e-3, 2e-3), random.between(-1.5e-3, 1.5e-3)];
        let relief = relief(i % 5, at);
        let image = light.shade(&relief);
        let middle = camera.project(Vec3::new(at[0], at[1], 0.0));
        let mut off = || random.between(-10.0, 10.0);
        let label = Label { column: middle[0] + off(), row: middle[1] + off(), radius: 22.0 };
        presses.push(BallPress { image, relief, label });
        middles.push(middle);
    }
    let depths_m = align(&background, &mut presses, &camera, &dents, &[0, 1, 2, 3, 4]).unwrap();
    for (press, middle) in presses.iter().zip(middles) {
        let off = (press.label.column - middle[0]).hypot(press.label.row - middle[1]);
        assert!(off < 2.0, "{off} pixels");
    }
    for five in depths_m.chunks(5) {
        assert!(five.is_sorted() && five[4] > five[0], "{depths_m:?}");
    }
    assert!(align(&background, &mut presses, &camera, &[], &[0]).is_err());
}

#[test]
fn two_presses_are_too_few() {
    let (background, presses) = presses(2);
    let few: Vec<&BallPress> = presses.iter().collect();
    let message = fit_calibrated(&background, &few, truth().background, 0).unwrap_err().to_string();
    assert!(message.contains('2') && message.contains("light"), "{message}");
    assert!(fit_phong(&background, &few, truth().background).is_err());
}
