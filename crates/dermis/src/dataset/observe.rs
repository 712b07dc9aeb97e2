//! Converts a touch into the recorded observation of one sensor.

use super::episode::{CameraImages, PixelCounts, SensorFrame};
use super::error::EpisodeError;
use dermis_geometry::{Pose, Vec3};
use dermis_sensor::image::encode_grey8;
use dermis_sensor::optics::Camera;
use dermis_sensor::{Reading, Sensor};
use dermis_skin::{Load, Touch};

/// The observation of a touch with an object at a pose. `frame` seeds the camera noise.
pub fn observe(
    sensor: &Sensor,
    touch: &Touch,
    reading: &Reading,
    sensor_from_object: &Pose,
    frame: u64,
) -> Result<SensorFrame, EpisodeError> {
    let camera = match sensor.optics() {
        None => None,
        Some(optics) => {
            let rendered = sensor.render(touch, frame)?;
            let image = rendered.image.to_rgb8();
            let view = optics.camera();
            let contact = contact_mask(touch, view);
            Some(CameraImages {
                image_png: image.encode_png_fast(),
                // The lengths match, so encoding succeeds.
                contact_png: encode_grey8(view.width, view.height, &contact).unwrap_or_default(),
                levels: PixelCounts::of(image.pixels().iter().copied()),
                contact: PixelCounts::of_grey(&contact),
                warning: optics.warning(&rendered.relief),
            })
        }
    };
    let Pose { translation, rotation } = *sensor_from_object;
    let [x, y, z] = translation.to_array();
    let [qx, qy, qz, qw] = rotation.to_array();
    // A rotation has two unit quaternions; the one with w ≥ 0 is recorded.
    let sign = if qw < 0.0 { -1.0 } else { 1.0 };
    let force = touch.on_sensor.force.to_array();
    let torque = touch.on_sensor.torque.to_array();
    Ok(SensorFrame {
        pose: [x, y, z, sign * qx, sign * qy, sign * qz, sign * qw].map(plain),
        depth_m: plain(touch.max_depth_m()),
        wrench: [force[0], force[1], force[2], torque[0], torque[1], torque[2]].map(plain),
        reported_newton: reading.reported_newton.iter().copied().map(plain).collect(),
        forces_newton: reading.forces_newton.iter().flat_map(|force: &Vec3| force.to_array()).map(plain).collect(),
        magnetic_ut: reading
            .magnetic_tesla
            .iter()
            .flatten()
            .flat_map(|field| (*field * 1e6).to_array())
            .map(plain)
            .collect(),
        contact: touched_taxels(sensor, touch, reading),
        camera,
    })
}

/// The taxels under the contact. For most skins these are the loaded taxels. A skin with a base stress loads all
/// taxels, so there each contact facet is assigned to the nearest taxel.
fn touched_taxels(sensor: &Sensor, touch: &Touch, reading: &Reading) -> Vec<bool> {
    if touch.base.is_none() {
        return reading.forces_newton.iter().map(|force| *force != Vec3::ZERO).collect();
    }
    let centers = sensor.taxels().centers();
    let mut touched = vec![false; centers.len()];
    for facet in &touch.facets {
        let at = match &facet.load {
            Load::Point { force, .. } if *force == Vec3::ZERO => continue,
            Load::Point { anchor, .. } => *anchor,
            Load::Polygon(corners) => {
                corners.iter().map(|corner| corner.at).sum::<Vec3>() / corners.len().max(1) as f64
            }
        };
        let distance = |taxel: &usize| centers[*taxel].distance_squared(at);
        if let Some(nearest) = (0..centers.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))) {
            touched[nearest] = true;
        }
    }
    touched
}

/// Converts to `f32`; negative zero becomes zero.
pub fn plain(value: f64) -> f32 {
    value as f32 + 0.0
}

/// 255 at pixels that see contact, 0 elsewhere.
fn contact_mask(touch: &Touch, camera: &Camera) -> Vec<u8> {
    let mut mask = vec![0; camera.width * camera.height];
    let span = |from: f64, to: f64, end: usize| {
        let (low, high) = (from.min(to), from.max(to));
        let inside = |pixel: f64| pixel.clamp(0.0, end as f64) as usize;
        // Pixels whose centres lie in the facet.
        inside(low.ceil())..inside(high.floor() + 1.0)
    };
    for facet in &touch.facets {
        let (low, high) = match &facet.load {
            Load::Point { at, area_m2, force, .. } if *force != Vec3::ZERO => {
                let half = Vec3::new(0.5, 0.5, 0.0) * area_m2.sqrt();
                (*at - half, *at + half)
            }
            Load::Point { .. } => continue,
            Load::Polygon(corners) => {
                let lowest = corners.iter().fold(Vec3::INFINITY, |low, corner| low.min(corner.at));
                (lowest, corners.iter().fold(Vec3::NEG_INFINITY, |high, corner| high.max(corner.at)))
            }
        };
        let shift_m = camera.mount_shift_m(touch.on_sensor.force);
        let ([x0, y0], [x1, y1]) = (camera.project(low + shift_m), camera.project(high + shift_m));
        for row in span(y0, y1, camera.height) {
            let columns = span(x0, x1, camera.width);
            mask[row * camera.width..][columns].fill(255);
        }
    }
    mask
}
