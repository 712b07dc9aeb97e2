//! Renders one image of every kind into the folder given as argument, or into `out/gallery`.

use dermis_draw::{
    Camera, ColourMap, Edges, FigurePage, HeatMap, Image, LineStyle, Marker, Material, PALETTE, Plot, ScatterMap,
    Scene, Series,
};
use dermis_geometry::{Pose, TriMesh, Vec2, Vec3};
use std::path::PathBuf;

/// Pressure (kPa) of a sphere on 14 × 6 cells, as a smooth bump.
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
        .extent_mm((-23.8, 23.8), (-10.2, 10.2))
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
        .series(Series::line("sphere, F = k d√d", law(4.0, 1.5)).band(band))
        .series(Series::line("flat punch, F = k d", law(6.0, 1.0)).style(LineStyle::Dashed))
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
        .render()
}

fn figure_page() -> Image {
    let frame = |i: usize| {
        let values = imprint(1.4 * i as f64, Vec2::new(1.5 + 1.2 * i as f64, 2.5));
        HeatMap::new(6, 14, &values).map(ColourMap::Grey).max(35.0).cell_px(14).bare().render()
    };
    (0..9)
        .fold(FigurePage::new(3).title("A sphere rolls over the pad"), |page, i| {
            page.image(frame(i), format!("t = {:.2} s", 0.05 * i as f64))
        })
        .render()
}

/// An axis-aligned box with edges of `size` (m), centred at the origin.
fn cuboid(size: Vec3) -> TriMesh {
    let sign = |bit: usize| if bit == 0 { -0.5 } else { 0.5 };
    let vertices = (0..8).map(|i| Vec3::new(sign(i & 1), sign(i & 2), sign(i & 4)) * size).collect();
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    TriMesh::new("box", vertices, triangles).expect("a box is a mesh")
}

/// A sphere of `radius` (m) about the origin, with `count` bands from pole to pole.
fn ball(radius: f64, count: u32) -> TriMesh {
    let turn = |i: u32, n: u32| f64::from(i) / f64::from(n) * std::f64::consts::PI;
    let at = |i: u32, j: u32| {
        let (polar, around) = (turn(i, count), turn(j, count));
        Vec3::new(polar.sin() * around.cos(), polar.sin() * around.sin(), polar.cos()) * radius
    };
    let across = 2 * count;
    let vertices = (0..=count).flat_map(|i| (0..across).map(move |j| at(i, j))).collect();
    let index = |i: u32, j: u32| i * across + j % across;
    let square = |i: u32, j: u32| {
        let [a, b, c, d] = [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    let triangles = (0..count).flat_map(|i| (0..across).flat_map(move |j| square(i, j))).collect();
    TriMesh::without_degenerates("ball", vertices, triangles).expect("a ball is a mesh")
}

/// A pad of `cells` × `cells` that bulges like a fingertip, with a value per vertex.
fn fingertip(cells: u32) -> (TriMesh, Vec<f64>) {
    let side = cells + 1;
    let place = |i: u32| Vec2::new(f64::from(i % side), f64::from(i / side)) / f64::from(cells) * 2.0 - Vec2::ONE;
    let height = |p: Vec2| 0.012 * (1.0 - 0.55 * p.x * p.x - 0.35 * p.y * p.y);
    let vertices = (0..side * side).map(place).map(|p| Vec3::new(0.012 * p.x, 0.016 * p.y, height(p))).collect();
    let corner = |i: u32| i / cells * side + i % cells;
    let square = |i: u32| [[i, i + 1, i + side + 1], [i, i + side + 1, i + side]];
    let triangles = (0..cells * cells).flat_map(|i| square(corner(i))).collect();
    let values = (0..side * side).map(place).map(|p| (-(p - Vec2::new(0.2, -0.1)).length_squared() * 5.0).exp());
    (TriMesh::new("fingertip", vertices, triangles).expect("a grid is a mesh"), values.collect())
}

fn gripper() -> Image {
    let at = |x: f64, y: f64, z: f64| Pose::from_translation(Vec3::new(x, y, z));
    let metal = Material::plain().edges(Edges::Creases);
    let skin = Material::new([58, 62, 70]).shine(0.1);
    let (finger, pad) = (cuboid(Vec3::new(0.012, 0.022, 0.070)), cuboid(Vec3::new(0.003, 0.020, 0.036)));
    let (palm, wrist) = (cuboid(Vec3::new(0.100, 0.034, 0.022)), cuboid(Vec3::new(0.040, 0.030, 0.034)));
    let radius = 0.020;
    let force = PALETTE[3];
    let scene = [-1.0, 1.0].into_iter().fold(Scene::new().ground(0.0), |scene, side| {
        let contact = Vec3::new(side * radius, 0.0, 0.045);
        scene
            .mesh(&finger, &at(side * (radius + 0.009), 0.0, 0.062), metal)
            .mesh(&pad, &at(side * (radius + 0.0015), 0.0, 0.046), skin)
            .arrow(
                contact + Vec3::new(side * 0.042, 0.0, 0.0),
                contact + Vec3::new(side * 0.016, 0.0, 0.0),
                0.0016,
                force,
            )
    });
    let scene = scene
        .mesh(&palm, &at(0.0, 0.0, 0.107), metal)
        .mesh(&wrist, &at(0.0, 0.0, 0.135), Material::new([96, 104, 116]).edges(Edges::Creases))
        .mesh(&ball(radius, 110), &at(0.0, 0.0, 0.045), Material::new(PALETTE[1]).shine(0.6))
        .mesh(&cuboid(Vec3::new(0.05, 0.05, 0.016)), &at(-0.04, 0.06, 0.008), Material::new(PALETTE[4]))
        .mesh(&ball(0.014, 40), &at(0.07, -0.005, 0.014), Material::new(PALETTE[2]).alpha(0.45).shine(0.8))
        .label(Vec3::new(0.058, 0.0, 0.045), "4.2 N")
        .label(Vec3::new(0.002, -0.014, 0.033), "sphere, ø 40 mm");
    let camera = Camera::framing(scene.bounds(), -62.0, 18.0);
    scene.render(&camera, 800, 600)
}

fn painted() -> Image {
    let (mesh, values) = fingertip(40);
    let colours: Vec<_> = values.iter().map(|&v| ColourMap::Ember.colour(v)).collect();
    let (coarse, coarse_values) = fingertip(14);
    let cells = coarse.triangles().iter().map(|t| coarse_values[t[0] as usize]);
    let cells: Vec<_> = cells.map(|v| ColourMap::Grey.colour(v)).collect();
    let aside = Pose::from_translation(Vec3::new(0.032, 0.0, 0.0));
    let wire = Material::plain().flat().edges(Edges::All);
    let scene = Scene::new()
        .ground(-0.001)
        .coloured_mesh(&mesh, &Pose::IDENTITY, &colours)
        .painted_mesh(&coarse, &aside, wire, &cells)
        .arrow(Vec3::new(0.0024, -0.0016, 0.024), Vec3::new(0.0024, -0.0016, 0.0125), 0.0005, PALETTE[0]);
    scene.render(&Camera::framing(scene.bounds(), -50.0, 32.0), 800, 560)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "out/gallery".into()));
    std::fs::create_dir_all(&folder)?;
    let save = |name: &str, image: Image| std::fs::write(folder.join(name), image.encode_png());
    let start = std::time::Instant::now();
    save("gripper.png", gripper())?;
    println!("gripper.png took {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    save("painted.png", painted())?;
    save("heat.png", heat_map())?;
    save("grey.png", grey_map())?;
    save("plot.png", plot())?;
    save("time.png", time_plot())?;
    save("scatter.png", scatter_map())?;
    save("page.png", figure_page())?;
    let both = FigurePage::new(2).title("Two plots on one page").image(plot(), "(a)").image(time_plot(), "(b)");
    save("subplots.png", both.render())?;
    let images =
        std::fs::read_dir(&folder)?.filter_map(Result::ok).filter(|f| f.path().extension() == Some("png".as_ref()));
    assert!(images.count() >= 9, "one image of every kind");
    Ok(())
}
