//! Sensors with a layer for their skin, pressed many times at once on a GPU.

use crate::array::Poses;
use crate::layer::{
    CameraDescription, Dots, LampDescription, LightDescription, ShadowDescription, SheetBatch, SheetDescription,
    SheetObject, SheetTouches, Span, TaxelCells, Wanted,
};
use crate::{Gpu, GpuError};
use dermis_geometry::{Pose, Vec3};
use dermis_sensor::Sensor;
use dermis_sensor::optics::{
    Calibrated, Frame, Lattice, Light, MIN_PRESSED_MM, MIN_SLOPE, Membrane, Optics, Phong, along_row,
};
use dermis_skin::layer::Pair;
use dermis_skin::{Layer, Object, Skin, SurfaceField};
use std::sync::Arc;

/// A sensor and an object on a GPU. Each press starts from rest and ends where nothing changes any more, as [`Skin::settle`] does, with the
/// same friction, surface, stress on the base and images.
#[derive(Debug)]
pub struct LayerBatch {
    batch: SheetBatch,
    object: SheetObject,
}

impl LayerBatch {
    /// Brings both there. Sensors whose skin is no layer, or whose camera has noise, are refused.
    pub fn new(gpu: &Arc<Gpu>, sensor: &Sensor, object: &Object) -> Result<Self, GpuError> {
        let batch = SheetBatch::new(gpu, &describe_layer(sensor, object)?)?;
        Ok(Self { batch, object: SheetObject::new(gpu, &object.surface)? })
    }

    /// The layer on the GPU.
    pub fn batch(&self) -> &SheetBatch {
        &self.batch
    }

    /// Presses in many poses.
    pub fn press(&self, sensor_from_object: &[Pose], wanted: Wanted) -> Result<SheetTouches, GpuError> {
        let numbers = |pose: &Pose| {
            let (at, turn) = (pose.translation, pose.rotation);
            [at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w]
        };
        let poses: Vec<[f64; 7]> = sensor_from_object.iter().map(numbers).collect();
        self.batch.press(&self.object, &poses, wanted)
    }

    /// Presses in poses that are on the GPU.
    pub fn press_on_device(&self, poses: &Poses, wanted: Wanted) -> Result<SheetTouches, GpuError> {
        self.batch.press_on_device(&self.object, &poses.values.view(), wanted)
    }
}

fn refused(sensor: &Sensor, why: &str) -> GpuError {
    GpuError::Unsupported { what: format!("a batch of presses on sensor {:?}", sensor.name()), why: why.to_owned() }
}

/// A sensor with a layer, and the friction of an object on it, as plain numbers. Refuses what a GPU cannot do.
pub fn describe_layer(sensor: &Sensor, object: &Object) -> Result<SheetDescription, GpuError> {
    let Some(layer) = sensor.skin_as::<Layer>() else {
        return Err(refused(sensor, "its skin is no layer"));
    };
    let (parameters, grid) = (layer.parameters(), layer.grid());
    // From rest nothing but pressure pulls the surface sideways: where it does not, friction has nothing to hold.
    let mu = if parameters.coupled { object.mu.unwrap_or(parameters.mu) } else { 0.0 };
    let lateral = parameters.lateral || mu > 0.0;
    // In the order that the GPU wants them.
    let influences = Pair::ALL.map(|pair| {
        let moves_sideways = matches!(pair, Pair::XPressure | Pair::YPressure);
        if moves_sideways && !parameters.coupled {
            vec![0.0; grid.rows * grid.cols]
        } else {
            layer.influences().get(pair).values.clone()
        }
    });
    let field = SurfaceField {
        rows: grid.rows,
        cols: grid.cols,
        cell_m: grid.cell_m,
        center: Vec3::new(grid.center.x, grid.center.y, 0.0),
        values: Vec::new(),
        rest_heights_m: None,
    };
    Ok(SheetDescription {
        name: format!("sensor {:?}", sensor.name()),
        rows: grid.rows,
        cols: grid.cols,
        cell_m: grid.cell_m,
        center_m: grid.center.to_array(),
        influences,
        mu,
        tolerance: parameters.tolerance,
        lateral,
        highest_m: layer.max_height_m(),
        deepest_m: layer.max_depth_m(),
        taxels: taxels(sensor, &field),
        camera: sensor.optics().map(|optics| camera(sensor, optics, &field)).transpose()?,
    })
}

fn taxels(sensor: &Sensor, field: &SurfaceField) -> Option<TaxelCells> {
    let ((rows, cols), pitch_m) = (sensor.taxels().size()?, sensor.taxels().pitch_m()?);
    let [over_rows, over_cols] = sensor.taxels().overlaps(field)?;
    Some(TaxelCells { pitch_m, rows: spans(rows, &over_rows), cols: spans(cols, &over_cols) })
}

/// For each taxel the cells over it, from for each cell the taxels under it.
fn spans(taxels: usize, cells: &[Vec<(usize, f64)>]) -> Vec<Span> {
    let mut spans = vec![Span::default(); taxels];
    for (cell, under) in cells.iter().enumerate() {
        for &(taxel, share) in under {
            let span = &mut spans[taxel];
            if span.shares.is_empty() {
                span.first = cell;
            }
            span.shares.push(share);
        }
    }
    spans
}

fn camera(sensor: &Sensor, optics: &Optics, field: &SurfaceField) -> Result<CameraDescription, GpuError> {
    let (camera, exposure) = (optics.camera(), optics.exposure());
    if exposure.noise.is_some() {
        return Err(refused(sensor, "its camera has noise, whose numbers come one after the other"));
    }
    let (lattice, sheet) = (Lattice::over(field, camera), Membrane::new(field));
    let taps = |axis: usize| lattice.taps(&sheet, camera, axis).iter().map(|tap| (tap.first, tap.weights)).collect();
    let dots = |markers: &dermis_sensor::optics::Markers| Dots {
        points_m: markers.points_m().to_vec(),
        radius_px: (markers.radius_m() / camera.pixel_m) as f32,
        colour: markers.colour(),
    };
    let (background, light) = match optics.light() {
        Light::Calibrated(light) => (light.background(), fitted(light, camera.width, camera.height)),
        Light::Phong(light) => (light.background(), lamps(light)),
    };
    Ok(CameraDescription {
        width: camera.width,
        height: camera.height,
        pixel_m: camera.pixel_m,
        distance_m: camera.distance_m,
        axis_m: camera.axis_m,
        axis_px: camera.axis_px,
        mirror: camera.mirror,
        first: lattice.first.map(|first| first as i32),
        stride: lattice.stride,
        nodes: [lattice.rows, lattice.cols],
        across: taps(1),
        down: taps(0),
        exposure: exposure.factor,
        vignetting: exposure.vignetting,
        markers: optics.markers().map(dots),
        background: background.channels.clone(),
        light,
    })
}

fn fitted(light: &Calibrated, width: usize, height: usize) -> LightDescription {
    let (degree, frame) = (light.position_degree(), Frame::new(width, height, light.area()));
    let per_monomial = (degree + 1) * (degree + 2) / 2;
    let mut lines = Vec::new();
    for row in 0..height {
        let y = frame.at(0.0, row as f64)[1];
        for coefficients in light.levels().iter().flat_map(|levels| levels.chunks_exact(per_monomial)) {
            lines.extend_from_slice(&along_row(coefficients, degree, y)[..=degree]);
        }
    }
    LightDescription::Fitted {
        degree,
        monomials: light.monomials().collect(),
        lines,
        places: (0..width).map(|column| frame.at(column as f64, 0.0)[0] as f32).collect(),
        deepest_mm: light.deepest_mm(),
        least_slope: MIN_SLOPE,
        least_mm: MIN_PRESSED_MM,
    }
}

fn lamps(light: &Phong) -> LightDescription {
    let lamp = |(source, flat): (&dermis_sensor::optics::Source, [f32; 2])| LampDescription {
        direction: source.direction,
        diffuse: source.diffuse,
        specular: source.specular,
        flat,
    };
    LightDescription::Lamps {
        lamps: light.sources().map(lamp).collect(),
        shininess: light.shininess(),
        shadow: light.shadow().map(|shadow| ShadowDescription {
            strength: shadow.strength,
            softness_m: shadow.softness_m,
            pixel_m: shadow.pixel_m,
        }),
    }
}
