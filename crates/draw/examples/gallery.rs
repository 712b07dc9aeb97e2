//! Makes one picture of every kind, into the folder given as argument or `out/gallery`.

use dermis_draw::{ColourMap, HeatMap, Image, LineStyle, Marker, Plot, ScatterMap, Series, Sheet};
use dermis_geometry::Vec2;
use std::path::{Path, PathBuf};

/// Pressure (kPa) under a sphere pressed into 14 × 6 cells, as a soft bump.
fn imprint(depth: f64, at: Vec2) -> Vec<f64> {
    let cell = |i: usize| {
        let offset = Vec2::new((i % 14) as f64, (i / 14) as f64) - at;
        (depth - offset.length_squared() * 0.9).max(0.0) * 3.1
    };
    (0..6 * 14).map(cell).collect()
}

fn heat_map() -> Image {
    let at = Vec2::new(8.3, 2.6);
    let mut values = imprint(11.0, at);
    values[0] = f64::NAN;
    let shear = |i: usize| (Vec2::new((i % 14) as f64, (i / 14) as f64) - at) * values[i];
    let arrows: Vec<Vec2> = (0..values.len()).map(shear).collect();
    HeatMap::new(6, 14, &values)
        .title("Sphere of 20 mm on a 14 × 6 pad")
        .unit("Pressure (kPa)")
        .extent_mm(47.6, 20.4)
        .arrows(&arrows)
        .render()
}

fn grey_map() -> Image {
    HeatMap::new(6, 14, &imprint(11.0, Vec2::new(6.0, 2.5)))
        .title("The same in grey, with values")
        .unit("Pressure (kPa)")
        .map(ColourMap::Grey)
        .cell_values(0)
        .max(40.0)
        .render()
}

fn plot() -> Image {
    let x = |i: u32| 10f64.powf(f64::from(i) / 12.0 - 2.0);
    let law = |stiffness: f64, power: f64| (0..=36).map(move |i| (x(i), stiffness * x(i).powf(power)));
    let measured = [(0.02, 0.011), (0.05, 0.05), (0.12, 0.16), (0.4, 1.1), (1.1, 4.4), (3.0, 20.0), (7.0, 75.0)];
    let band = law(4.0, 1.5).map(|(_, y)| (0.8 * y, 1.25 * y));
    Plot::new()
        .title("Force against depth")
        .x_label("Depth (mm)")
        .y_label("Force (N)")
        .log_x()
        .log_y()
        .series(Series::line("sphere, F ∝ d√d", law(4.0, 1.5)).band(band))
        .series(Series::line("flat punch, F ∝ d", law(6.0, 1.0)).style(LineStyle::Dashed))
        .series(Series::scatter("measured ± 20 %", measured).errors(measured.map(|m| 0.2 * m.1)))
        .render()
}

fn time_plot() -> Image {
    let wave = |k: f64, decay: f64| {
        (0..400).map(move |i| f64::from(i) * 0.005).map(move |t| (t, 2.2e-3 * (k * t).sin() * (-decay * t).exp()))
    };
    Plot::new()
        .title("Slip after release")
        .x_label("Time (s)")
        .y_label("Displacement (m)")
        .series(Series::line("soft", wave(9.0, 0.8)))
        .series(Series::line("medium", wave(14.0, 1.2)).style(LineStyle::Dotted))
        .series(Series::line("stiff", wave(22.0, 2.0).step_by(8)).marker(Marker::Ring))
        .render()
}

fn scatter_map() -> Image {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let point = |i: usize| Vec2::from_angle(i as f64 * golden) * (i as f64 + 0.5).sqrt();
    let points: Vec<Vec2> = (0..260).map(point).collect();
    let values: Vec<f64> = points.iter().map(|p| (-(*p - Vec2::new(4.0, 3.0)).length_squared() / 30.0).exp()).collect();
    let signed: Vec<f64> = points.iter().zip(&values).map(|(p, v)| v * (p.x - 4.0)).collect();
    ScatterMap::new(&points, &signed)
        .title("Fingertip, unwrapped")
        .unit("Shear (kPa)")
        .map(ColourMap::Diverging)
        .scale_bar(5.0, "5 mm")
        .render()
}

fn contact_sheet() -> Image {
    let frame = |i: usize| {
        let values = imprint(1.4 * i as f64, Vec2::new(1.5 + 1.2 * i as f64, 2.5));
        HeatMap::new(6, 14, &values).map(ColourMap::Grey).max(35.0).cell_px(14).bare().render()
    };
    (0..9)
        .fold(Sheet::new(3).title("A sphere rolls over the pad"), |sheet, i| {
            sheet.picture(frame(i), format!("t = {:.2} s", 0.05 * i as f64))
        })
        .render()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "out/gallery".into()));
    std::fs::create_dir_all(&folder)?;
    let save = |name: &str, image: Image| image.save(&folder.join(Path::new(name)));
    save("heat.png", heat_map())?;
    save("grey.png", grey_map())?;
    save("plot.png", plot())?;
    save("time.png", time_plot())?;
    save("scatter.png", scatter_map())?;
    save("sheet.png", contact_sheet())?;
    let both = Sheet::new(2).title("Two plots on one page").picture(plot(), "(a)").picture(time_plot(), "(b)");
    save("subplots.png", both.render())?;
    Ok(())
}
