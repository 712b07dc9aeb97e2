//! Displacements of the markers of an optical sensor under a ball, with at most four fitted numbers.

use super::neighbours::from_neighbours;
use super::row::{Comparison, FITTED, Figure, Measure, NULL};
use super::score::{Sample, Statistic};
use super::split::Split;
use super::table::Table;
use super::{RealError, Setting};
use dermis::draw::{Canvas, FigurePage, Image};
use dermis::geometry::Vec2;
use dermis::geometry::shapes::sphere;
use dermis::sensor::{Aim, Goal, Sensor, press};
use dermis::skin::{Object, SurfaceField};
use std::path::Path;

/// The measurements of a row.
pub struct Field<'a> {
    /// Table of `Mx`, `My`, `dx`, `dy` (pixels).
    pub file: &'a Path,
    /// Diameter of the ball (m).
    pub ball_m: f64,
    /// Centre of the contact (pixels).
    pub center_px: [f64; 2],
    /// Radius of the contact (pixels).
    pub contact_px: f64,
    /// Size of a pixel (m).
    pub pixel_m: f64,
    /// True if the ball was moved along the gel.
    pub sheared: bool,
}

/// Displacement of the surface per metre of shear, or by the press (m), right and down in the image.
struct Displacements {
    field: SurfaceField,
    pixel_m: f64,
}

/// A ball that is moved along the gel.
struct Sheared {
    /// Displacement of the surface (m) per pixel of shear to the right.
    field: Displacements,
    /// Tangential force per shear (N/m).
    stiffness_newton_per_m: f64,
}

/// Name of the model whose mount yields.
const MOUNT: &str = "mount that yields, no other shift";
/// Name of the prediction of each marker from the others.
const NEIGHBOURS: &str = "each marker from the others";
/// Largest shift in the mount by the shear of the ball, in hundredths.
const MAX_YIELD_HUNDREDTHS: u32 = 1000;

impl Sheared {
    /// What a mount that shifts the gel by a part of the shear (m) of the ball has as its stiffness.
    fn note(&self, shift_per_shear: f64, shear_m: [f64; 2]) -> String {
        let length_m = shear_m[0].hypot(shear_m[1]);
        let force_newton = self.stiffness_newton_per_m * length_m;
        let shear = format!("the ball sheared by {:.2} mm pulls with {force_newton:.2} N", 1e3 * length_m);
        let moves = format!("{MOUNT} (three numbers): {shear} on a gel of this modulus and moves the gel by");
        let shift_m = shift_per_shear * length_m;
        if shift_m == 0.0 {
            return format!("{moves} nothing: a rigid mount");
        }
        format!("{moves} {:.2} mm: {:.2} N/mm", 1e3 * shift_m, 1e-3 * force_newton / shift_m)
    }
}

impl Displacements {
    /// Displacement (pixels) at a position relative to the contact (pixels).
    fn at(&self, [right, down]: [f64; 2]) -> [f64; 2] {
        let field = &self.field;
        let x = right * self.pixel_m / field.cell_m + 0.5 * (field.cols as f64 - 1.0);
        let y = down * self.pixel_m / field.cell_m + 0.5 * (field.rows as f64 - 1.0);
        let last = |count: usize| count as f64 - 1.001;
        let (x, y) = (x.clamp(0.0, last(field.cols)), y.clamp(0.0, last(field.rows)));
        let (i, j, fx, fy) = (x as usize, y as usize, x.fract(), y.fract());
        let value = |row: usize, col: usize| field.values[row * field.cols + col];
        let u = value(j, i) * ((1.0 - fx) * (1.0 - fy))
            + value(j, i + 1) * (fx * (1.0 - fy))
            + value(j + 1, i) * ((1.0 - fx) * fy)
            + value(j + 1, i + 1) * (fx * fy);
        [u.x / self.pixel_m, -u.y / self.pixel_m]
    }
}

impl Field<'_> {
    /// Fits shift and, for a sheared field, the shear of the ball, or the dilation of the image by a mount that yields.
    pub fn compare(&self, setting: &Setting<'_>) -> Result<Comparison, RealError> {
        let table = Table::read(&setting.folder.join(self.file))?;
        let [mx, my, dx, dy] = ["Mx", "My", "dx", "dy"].map(|name| table.column(name));
        let (mx, my, dx, dy) = (mx?, my?, dx?, dy?);
        let markers: Vec<[f64; 2]> =
            mx.iter().zip(&my).map(|(x, y)| [x - self.center_px[0], y - self.center_px[1]]).collect();
        let measured: Vec<[f64; 2]> = dx.iter().zip(&dy).map(|(x, y)| [*x, *y]).collect();
        let (pressed, sheared, depth_m) = self.fields(&setting.spec()?.build(None)?)?;
        // Displacement per pixel of shear of the ball to the right, and down: by isotropy, the second is the first, rotated.
        let shears = |field: &Displacements, at: [f64; 2]| {
            let rotated = field.at([at[1], -at[0]]);
            [field.at(at), [-rotated[1], rotated[0]]]
        };
        // Columns of the linear model, besides the press itself.
        let columns = |at: [f64; 2]| -> Vec<[f64; 2]> {
            let mut columns = vec![[1.0, 0.0], [0.0, 1.0]];
            match &sheared {
                None => columns.push([at[0] / 100.0, at[1] / 100.0]),
                Some(sheared) => columns.extend(shears(&sheared.field, at)),
            }
            columns
        };
        let n = markers.len();
        let split = match setting.fit.filter(|&count| count > 0) {
            Some(count) => Split::even(n, count),
            None => Split { fitted: (0..n).collect(), kept_out: (0..n).collect() },
        };
        // Coefficients of columns for what `own` leaves of the fitted markers.
        let fit_to = |columns: &dyn Fn([f64; 2]) -> Vec<[f64; 2]>, own: &dyn Fn([f64; 2]) -> [f64; 2]| {
            let rows = split.fitted.iter().flat_map(|&i| {
                let (columns, own) = (columns(markers[i]), own(markers[i]));
                let row = |c: usize| columns.iter().map(|column| column[c]).collect::<Vec<f64>>();
                [0, 1].map(|c| (row(c), measured[i][c] - own[c]))
            });
            least_squares(&rows.collect::<Vec<_>>())
        };
        let fit = |count: usize, own: &dyn Fn([f64; 2]) -> [f64; 2]| {
            fit_to(&|at| columns(at).into_iter().take(count).collect(), own)
        };
        let with = |columns: Vec<[f64; 2]>, numbers: &[f64], at: [f64; 2]| {
            let own = pressed.at(at);
            [0, 1].map(|c| own[c] + columns.iter().zip(numbers).map(|(column, x)| column[c] * x).sum::<f64>())
        };
        let numbers = fit(usize::MAX, &|at| pressed.at(at));
        let predicted: Vec<[f64; 2]> = markers.iter().map(|&at| with(columns(at), &numbers, at)).collect();
        let mean = measured.iter().map(|d| d[0] * d[0] + d[1] * d[1]).sum::<f64>() / n as f64;
        let samples = |model: &dyn Fn(usize) -> [f64; 2]| -> Vec<Sample> {
            let error = |i: usize| [0, 1].iter().map(|&c| (model(i)[c] - measured[i][c]).powi(2)).sum();
            split.kept_out.iter().map(|&i| Sample { error: error(i), weight: mean }).collect()
        };
        let mut measure = Measure::new("markers", "displacements: rmse by their root mean square", Statistic::Rms);
        measure.add(FITTED, &samples(&|i| predicted[i]));
        measure.add("press alone, nothing fitted", &samples(&|i| pressed.at(markers[i])));
        let shown: Vec<String> = numbers.iter().map(|number| format!("{number:.3}")).collect();
        let mut notes = vec![format!("pressed to {:.2} mm; fitted numbers: {} px", 1e3 * depth_m, shown.join(", "))];
        if let Some(sheared) = &sheared {
            let mount = |shift_per_shear: f64| {
                move |at: [f64; 2]| -> Vec<[f64; 2]> {
                    let [[right, down], along_y] = shears(&sheared.field, at);
                    vec![[right + shift_per_shear, down], [along_y[0], along_y[1] + shift_per_shear]]
                }
            };
            let trial = |shift_per_shear: f64| {
                let columns = mount(shift_per_shear);
                let numbers = fit_to(&columns, &|at| pressed.at(at));
                let of = |i: usize| with(columns(markers[i]), &numbers, markers[i]);
                let off = |&i: &usize| [0, 1].map(|c| of(i)[c] - measured[i][c]);
                let error = split.fitted.iter().flat_map(off).map(|off| off * off).sum::<f64>();
                (error, shift_per_shear, numbers)
            };
            let trials = (0..=MAX_YIELD_HUNDREDTHS).map(|hundredths| trial(0.01 * f64::from(hundredths)));
            if let Some((_, shift_per_shear, shear_px)) = trials.min_by(|a, b| a.0.total_cmp(&b.0)) {
                let columns = mount(shift_per_shear);
                measure.add(MOUNT, &samples(&|i| with(columns(markers[i]), &shear_px, markers[i])));
                notes.push(sheared.note(shift_per_shear, [0, 1].map(|c| shear_px[c] * self.pixel_m)));
            }
        }
        let shift = fit(2, &|_| [0.0; 2]);
        measure.add("uniform shift", &samples(&|_| [shift[0], shift[1]]));
        if !self.sheared {
            let dilation = fit(3, &|_| [0.0; 2]);
            let at = |i: usize| [0, 1].map(|c| dilation[c] + dilation[2] * markers[i][c] / 100.0);
            measure.add("shift and dilation, no skin", &samples(&at));
        }
        measure.add(NULL, &samples(&|_| [0.0; 2]));
        if let Some(smooth) = from_neighbours(&markers, &measured) {
            measure.add(NEIGHBOURS, &samples(&|i| smooth.predicted[i]));
            notes.push(format!(
                "{NEIGHBOURS}: a smooth field (leave-one-out Gaussian process; length {:.0} px and noise {:.3} of its variance \
                 have the least error); markers that it does not predict do not move as their neighbours do",
                smooth.length, smooth.noise
            ));
        }
        measure.add("rounding to pixels", &samples(&|i| [0, 1].map(|c| measured[i][c] + (1.0f64 / 12.0).sqrt())));
        let names = if self.sheared {
            "shift and shear of the ball (four numbers)"
        } else {
            "shift and dilation (three numbers)"
        };
        Ok(Comparison {
            samples: n,
            fitted_on: split.fitted.len(),
            fitted: format!("{names} on {} markers", split.fitted.len()),
            kept_out: match split.fitted.len() {
                // Nothing is kept out of a fit to all markers.
                fitted if fitted == n => Vec::new(),
                _ => split.kept_out.iter().map(|&i| format!("({}, {})", mx[i], my[i])).collect(),
            },
            measures: vec![measure],
            notes,
            figures: vec![self.figure(&mx, &my, &measured, &predicted)],
        })
    }

    /// The fields of the press and of a shear along the image's x, with the depth at which the contact has its radius.
    fn fields(&self, sensor: &Sensor) -> Result<(Displacements, Option<Sheared>, f64), RealError> {
        const SHEAR_M: f64 = 0.1e-3;
        let ball = Object::new(sphere(0.5 * self.ball_m, self.ball_m / 100.0)?);
        let wanted_m2 = std::f64::consts::PI * (self.contact_px * self.pixel_m).powi(2);
        let (mut low, mut high) = (0.0, sensor.skin().max_depth_m().min(0.6 * self.ball_m) * 0.999);
        for _ in 0..10 {
            let depth_m = 0.5 * (low + high);
            let area = press(sensor, &ball, &Aim::default(), Goal::Depth(depth_m))?.touch.area_m2();
            if area < wanted_m2 { low = depth_m } else { high = depth_m }
        }
        let depth_m = 0.5 * (low + high);
        let pressed = press(sensor, &ball, &Aim::default(), Goal::Depth(depth_m))?;
        let field = |surface: Option<SurfaceField>| {
            let field = surface.ok_or_else(|| RealError::NoSurface { sensor: sensor.name().to_owned() })?;
            Ok::<_, RealError>(Displacements { field, pixel_m: self.pixel_m })
        };
        let before = field(pressed.touch.surface.clone())?;
        if !self.sheared {
            return Ok((before, None, depth_m));
        }
        let moved = pressed.sheared(sensor, &ball, [SHEAR_M, 0.0], Goal::Depth(depth_m))?;
        let stiffness_newton_per_m = moved.touch.on_sensor.force.x / SHEAR_M;
        let mut field = field(moved.touch.surface)?;
        for (after, before) in field.field.values.iter_mut().zip(&before.field.values) {
            *after = (*after - *before) * (self.pixel_m / SHEAR_M);
        }
        Ok((before, Some(Sheared { field, stiffness_newton_per_m }), depth_m))
    }

    fn figure(&self, mx: &[f64], my: &[f64], measured: &[[f64; 2]], predicted: &[[f64; 2]]) -> Figure {
        const ZOOM: f64 = 1.2;
        const LONGER: f64 = 3.0;
        let size = |values: &[f64]| (ZOOM * (values.iter().copied().fold(0.0, f64::max) + 15.0)) as usize;
        let draw = |vectors: &dyn Fn(usize) -> [f64; 2]| {
            let mut image = Image::new(size(mx), size(my), [255; 3]);
            let mut canvas = Canvas::new(&mut image);
            for i in 0..mx.len() {
                let from = Vec2::new(ZOOM * mx[i], ZOOM * my[i]);
                let [x, y] = vectors(i);
                canvas.arrow(from, from + Vec2::new(x, y) * (ZOOM * LONGER), 1.2, [30, 60, 120]);
            }
            image
        };
        let off = |i: usize| [0, 1].map(|c| predicted[i][c] - measured[i][c]);
        let page = FigurePage::new(3)
            .image(draw(&|i| measured[i]), "measured, three times as long")
            .image(draw(&|i| predicted[i]), "simulated")
            .image(draw(&off), "simulated − measured");
        Figure { caption: "Displacements of the markers".into(), image: page.render() }
    }
}

/// Coefficients that minimise Σ (row · c − target)², by Gaussian elimination of the normal equations.
fn least_squares(rows: &[(Vec<f64>, f64)]) -> Vec<f64> {
    let n = rows.first().map_or(0, |row| row.0.len());
    let mut matrix = vec![vec![0.0; n + 1]; n];
    for (row, target) in rows {
        for i in 0..n {
            (0..n).for_each(|j| matrix[i][j] += row[i] * row[j]);
            matrix[i][n] += row[i] * target;
        }
    }
    for i in 0..n {
        let pivot = matrix[i].clone();
        if pivot[i].abs() < 1e-12 {
            continue;
        }
        for (_, row) in matrix.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    (0..n).map(|i| if matrix[i][i].abs() < 1e-12 { 0.0 } else { matrix[i][n] / matrix[i][i] }).collect()
}
