//! The scoreboard of real sensors on small data sets that dermis makes itself.

use dermis::sensor::image::Image;
use dermis::sensor::optics::CameraSpec;
use dermis::sensor::{Aim, Goal, SensorSpec, press};
use dermis::skin::Object;
use dermis_research::validate::real::{FITTED, NULL, Options, Row, Status, run};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dermis-real-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn row(folder: &Path) -> Row {
    let board = run(&[folder.to_owned()], &Options::default(), &mut |_| {}).unwrap();
    let row = board.rows.into_iter().next().unwrap();
    assert_eq!(row.status, Status::Scored, "{:?}", row.reason);
    assert!(!row.comparison.figures.is_empty());
    row
}

fn score(row: &Row, measure: &str, model: &str) -> f64 {
    row.comparison.measures.iter().find(|m| m.name == measure).unwrap().score(model).unwrap().value
}

const WIDTH: usize = 160;
const HEIGHT: usize = 120;
const PIXEL_M: f64 = 1.18e-4;

/// Images of eight presses of the preset `gelsight`; `shown` changes an image, `label` its label.
fn ball_images(folder: &Folder, shown: impl Fn(usize, Image) -> Image, label: impl Fn(usize, [f64; 3]) -> [f64; 3]) {
    let (spec, _) = SensorSpec::find("gelsight").unwrap();
    let sensor = SensorSpec { camera: Some(CameraSpec::plain(WIDTH, HEIGHT, PIXEL_M)), ..spec }.build(None).unwrap();
    let ball = Object::new(dermis::geometry::shapes::sphere(2e-3, 0.05e-3).unwrap());
    let mut table = "file,center_x_px,center_y_px,contact_radius_px\n".to_owned();
    for i in 0..8usize {
        let at_m = [1.5e-3 * ((i % 3) as f64 - 1.0), 1.2e-3 * ((i % 4) as f64 - 1.5)];
        let pressed = press(&sensor, &ball, &Aim { at_m, ..Aim::default() }, Goal::Depth(0.4e-3)).unwrap();
        let image = sensor.render(&pressed.touch, 0).unwrap().image.to_rgb8();
        folder.write(&format!("{i}.png"), shown(i, image).encode_png());
        let column = at_m[0] / PIXEL_M + 0.5 * (WIDTH - 1) as f64;
        let row = 0.5 * (HEIGHT - 1) as f64 - at_m[1] / PIXEL_M;
        let radius = (pressed.touch.area_m2() / std::f64::consts::PI).sqrt() / PIXEL_M;
        let [column, row, radius] = label(i, [column, row, radius]);
        let _ = writeln!(table, "{i}.png,{column},{row},{radius}");
    }
    let far = press(&sensor, &ball, &Aim { at_m: [9e-3, 9e-3], ..Aim::default() }, Goal::Depth(1e-6)).unwrap();
    folder.write("background.png", sensor.render(&far.touch, 0).unwrap().image.to_rgb8().encode_png());
    folder.write("labels.csv", table);
    folder.write(
        "dataset.toml",
        "name = \"made\"\n[[row]]\nsensor = \"gelsight\"\nfit = 6\n[row.data]\nkind = \"ball-images\"\nbackground = \"background.png\"\n\
         labels = \"labels.csv\"\nball = \"4 mm\"\npixel = \"0.118 mm\"\n",
    );
}

/// Kept-out presses of the split of six of eight.
const KEPT_OUT: [usize; 2] = [2, 6];

#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn an_image_that_is_upside_down_makes_its_row_worse() {
    let folder = Folder::new("upright");
    ball_images(&folder, |_, image| image, |_, label| label);
    let upright = row(&folder.0);
    assert_eq!(upright.comparison.kept_out, KEPT_OUT.map(|i| format!("{i}.png")));
    let null = score(&upright, "inside", NULL);
    assert!(score(&upright, "inside", FITTED) < 0.35 * null, "{:?}", upright.comparison.measures[0]);
    // Flips the kept-out images: prediction and image are then mirror images of each other.
    let flipped = Folder::new("flipped");
    let flip = |i: usize, image: Image| {
        if !KEPT_OUT.contains(&i) {
            return image;
        }
        Image::from_fn(WIDTH, HEIGHT, |x, y| image.pixel(x, HEIGHT - 1 - y))
    };
    let flip_label =
        |i: usize, [x, y, r]: [f64; 3]| [x, if KEPT_OUT.contains(&i) { (HEIGHT - 1) as f64 - y } else { y }, r];
    ball_images(&flipped, flip, flip_label);
    let flipped = row(&flipped.0);
    assert!(
        score(&flipped, "inside", FITTED) > 2.0 * score(&upright, "inside", FITTED),
        "{:?}",
        flipped.comparison.measures[0]
    );
}

#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn shuffled_labels_are_no_better_than_the_null_model() {
    let folder = Folder::new("shuffled");
    // Labels of other places, far from the contact of their image.
    let label = |i: usize, [x, y, r]: [f64; 3]| {
        [(x + 37.0 + 11.0 * (i % 3) as f64) % (WIDTH as f64 - 1.0), (y + 41.0) % (HEIGHT as f64 - 1.0), r]
    };
    ball_images(&folder, |_, image| image, label);
    let row = row(&folder.0);
    assert!(score(&row, "inside", FITTED) > 0.8 * score(&row, "inside", NULL), "{:?}", row.comparison.measures[0]);
}

/// Balls whose labels are off are found by geometry alone, and the figure as labelled stands beside it.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn balls_with_loose_labels_are_found_in_their_images() {
    let folder = Folder::new("loose");
    let off = |i: usize, [x, y, r]: [f64; 3]| {
        [x + [2.5, -2.0, 3.0, -3.0][i % 4], y + [-2.5, 3.0, 2.0][i % 3], r * [1.3, 0.8][i % 2]]
    };
    ball_images(&folder, |_, image| image, off);
    let text = std::fs::read_to_string(folder.0.join("dataset.toml")).unwrap();
    folder.write("dataset.toml", text + "loose = true\n");
    let row = row(&folder.0);
    let (found, labelled) = (score(&row, "inside", FITTED), score(&row, "inside", "dermis, fitted, balls as labelled"));
    assert!(found < 0.6 * labelled, "{found} against {labelled}");
    assert!(row.comparison.notes.iter().any(|note| note.contains("geometry alone")), "{:?}", row.comparison.notes);
}

#[test]
fn a_bar_that_is_no_measure_is_refused_by_name() {
    let folder = Folder::new("bars");
    folder.write("force.csv", "depth_mm,force_N\n0.5,1.0\n1.0,3.0\n");
    folder.write(
        "dataset.toml",
        "name = \"made\"\n[[row]]\nsensor = \"gelsight\"\nbars = { forse = 5.0 }\n[row.data]\nkind = \"force-depth\"\ntable = \"force.csv\"\n\
         ball = \"6 mm\"\n",
    );
    let board = run(std::slice::from_ref(&folder.0), &Options::default(), &mut |_| {}).unwrap();
    let reason = board.rows[0].reason.clone().unwrap();
    assert_eq!(board.rows[0].status, Status::Failed);
    assert!(reason.contains("`bars.forse`") && reason.contains("force"), "{reason}");
}

/// Records of the preset `weiss-dsa` under a stamp with four weights; `shown` changes the counts of a weight.
fn weights(folder: &Folder, shown: impl Fn(f64, Vec<u32>) -> Vec<u32>) {
    let sensor = SensorSpec::find("weiss-dsa").unwrap().0.build(None).unwrap();
    let stamp = Object::new(dermis::geometry::shapes::prism(48, 5.25e-3, 5e-3).unwrap());
    for grams in [200.0, 400.0, 600.0, 800.0] {
        let aim = Aim { at_m: [1e-3, 6e-3], ..Aim::default() };
        let pressed = press(&sensor, &stamp, &aim, Goal::Force(1e-3 * grams * 9.80665)).unwrap();
        let (mut state, mut text) = (sensor.chain().rest(), String::new());
        for _ in 0..60 {
            let (report, next) = sensor.chain().respond(&state, &pressed.reading.values_newton, 0.2).unwrap();
            state = next;
            let _ = write!(text, "{:.3}", state.time_s);
            shown(grams, report.raw).iter().for_each(|counts| {
                let _ = write!(text, ",{counts}");
            });
            text.push('\n');
        }
        folder.write(&format!("room-{grams}g-1.csv"), text);
    }
    folder.write(
        "dataset.toml",
        "name = \"made\"\n[[row]]\nsensor = \"weiss-dsa\"\n[row.data]\nkind = \"weights\"\nfiles = \"room-{grams}g-*.csv\"\nstamp = \"10.5 mm\"\n\
         fit_grams = [200.0, 800.0]\n",
    );
}

#[test]
fn taxels_in_reverse_order_make_their_row_worse() {
    let folder = Folder::new("array");
    weights(&folder, |_, counts| counts);
    let right = row(&folder.0);
    assert_eq!((right.comparison.samples, right.comparison.fitted_on, right.comparison.kept_out.len()), (4, 2, 2));
    assert!(score(&right, "taxels", FITTED) > 0.97, "{:?}", right.comparison.measures);
    let asked = Options { fit: Some(50), ..Options::default() };
    let board = run(std::slice::from_ref(&folder.0), &asked, &mut |_| {}).unwrap();
    let told = "`fit` asks for 50 of 4 samples: 3 are fitted, and one is kept out";
    assert!(board.rows[0].comparison.notes.iter().any(|note| note == told), "{:?}", board.rows[0].comparison.notes);
    assert!(
        score(&right, "totals", FITTED) < 8.0 && score(&right, "creep", FITTED) < 5.0,
        "{:?}",
        right.comparison.measures
    );
    let folder = Folder::new("reversed");
    weights(&folder, |grams, mut counts| {
        if (300.0..700.0).contains(&grams) {
            counts.reverse();
        }
        counts
    });
    let reversed = row(&folder.0);
    assert!(score(&reversed, "taxels", FITTED) < 0.5, "{:?}", reversed.comparison.measures);
}

#[test]
fn exchanged_weights_are_no_better_than_the_null_model() {
    let folder = Folder::new("exchanged");
    weights(&folder, |_, counts| counts);
    let swap = |a: &str, b: &str| {
        let file = |name: &str| folder.0.join(format!("room-{name}g-1.csv"));
        std::fs::rename(file(a), file("x")).unwrap();
        std::fs::rename(file(b), file(a)).unwrap();
        std::fs::rename(file("x"), file(b)).unwrap();
    };
    // 200 g carries the name 800 g: no rising curve explains this.
    swap("200", "800");
    swap("400", "600");
    let row = row(&folder.0);
    assert!(score(&row, "totals", FITTED) > 0.7 * score(&row, "totals", NULL), "{:?}", row.comparison.measures);
}

#[test]
fn a_page_is_self_contained_and_a_missing_data_set_says_how_to_get_it() {
    let board = run(&[], &Options::default(), &mut |_| {}).unwrap();
    let page = board.html("today");
    for word in ["src=\"http", "href=\"http", "url(http", "<script", "<link", "@import"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(board.rows.iter().all(|row| row.status == Status::NoData));
    assert!(page.contains("no data") && page.contains("Clone the public repository"));
}

/// Tracks of the markers of `gelsight-dots` under a ball, as a camera at 12 mm sees them, before and after a shear, and a
/// description. The image is shifted and dilated besides.
fn marker_fields(folder: &Folder, keys: &str) {
    let camera = serde_json::json!({ "width": 320, "height": 240, "pixel": "0.05 mm", "distance": "12 mm" });
    let changes = serde_json::json!({ "camera": camera, "skin": { "cell": "0.25 mm" } });
    let (spec, _) = SensorSpec::find("gelsight-dots").unwrap();
    let spec = spec.with_overrides(changes.as_object().unwrap()).unwrap();
    folder.write("mine.toml", spec.to_toml());
    let sensor = spec.build(None).unwrap();
    let ball = Object::new(dermis::geometry::shapes::sphere(3e-3, 0.06e-3).unwrap());
    let (goal, at_m) = (Goal::Depth(0.9e-3), [-1e-3, -0.5e-3]);
    let pressed = press(&sensor, &ball, &Aim { at_m, ..Aim::default() }, goal).unwrap();
    let sheared = pressed.sheared(&sensor, &ball, [0.05e-3, -0.2e-3], goal).unwrap();
    let contact = (pressed.touch.area_m2() / std::f64::consts::PI).sqrt() / 0.05e-3;
    for (name, touch, shift) in [("press.csv", &pressed.touch, [0.6, -0.9]), ("shear.csv", &sheared.touch, [0.7, 1.0])]
    {
        let mut table = "Mx,My,dx,dy\n".to_owned();
        for [x, y, to_x, to_y] in sensor.render(touch, 0).unwrap().markers {
            let (dx, dy) = (to_x - x + shift[0] + 0.006 * (x - 159.5), to_y - y + shift[1] + 0.006 * (y - 119.5));
            let _ = writeln!(table, "{x},{y},{dx},{dy}");
        }
        folder.write(name, table);
    }
    folder.write(
        "dataset.toml",
        format!(
            "name = \"made\"\n[[row]]\nsensor = \"mine.toml\"\n[row.data]\nkind = \"markers\"\nball = \"6 mm\"\n\
             center_px = [139.5, 129.5]\ncontact_px = {contact}\npixel = \"0.05 mm\"\n{keys}"
        ),
    );
}

/// The distance of the camera is found from a press, as well as cells of 0.25 mm resolve its contact, and a shear is then predicted; an orthographic camera misses both.
#[test]
fn markers_of_a_camera_with_perspective_are_found() {
    let axis = "axis_px = [159.5, 119.5]\n";
    let row_of = |keys: &str| {
        let folder = Folder::new("markers");
        marker_fields(&folder, keys);
        row(&folder.0)
    };
    let press = row_of(&format!("field = \"press.csv\"\n{axis}"));
    let (error, notes) = (score(&press, "markers", FITTED), press.comparison.notes.join("; "));
    let distance: f64 = notes.split("camera at ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(error < 0.03 && (distance / 12.0 - 1.0).abs() < 0.1, "{error}: {notes}");
    // The press was one of 0.9 mm.
    let depth =
        |notes: &str| -> f64 { notes.split("pressed to ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap() };
    assert!((depth(&notes) / 0.9 - 1.0).abs() < 0.03, "{notes}");
    let orthographic = score(&row_of("field = \"press.csv\"\n"), "markers", FITTED);
    assert!(orthographic > 5.0 * error, "{orthographic} against {error}");
    let shear = row_of(&format!("field = \"shear.csv\"\nbefore = \"press.csv\"\nsheared = true\n{axis}"));
    for measure in ["markers", "shear"] {
        let error = score(&shear, measure, FITTED);
        assert!(error < 0.06, "{measure}: {error}: {:?}", shear.comparison.notes);
    }
}

#[test]
fn fields_of_markers_are_refused_by_name() {
    let folder = Folder::new("before");
    let reason = |keys: &str| {
        marker_fields(&folder, keys);
        folder.write("few.csv", "Mx,My,dx,dy\n1,2,0,0\n");
        folder.write("other.csv", format!("Mx,My,dx,dy\n{}", "1,2,0,0\n".repeat(6)));
        let board = run(std::slice::from_ref(&folder.0), &Options::default(), &mut |_| {}).unwrap();
        board.rows[0].reason.clone().unwrap()
    };
    let other = reason("field = \"shear.csv\"\nbefore = \"other.csv\"\nsheared = true\n");
    assert!(other.contains("`before = \"other.csv\"`") && other.contains("shear.csv"), "{other}");
    let pressed = reason("field = \"shear.csv\"\nbefore = \"press.csv\"\n");
    assert!(pressed.contains("sheared = true"), "{pressed}");
    let few = reason("field = \"few.csv\"\n");
    assert!(few.contains("few.csv: has 1 markers and needs at least 6"), "{few}");
    let text = std::fs::read_to_string(folder.0.join("dataset.toml")).unwrap();
    let line = text.lines().find(|line| line.starts_with("contact_px")).unwrap();
    for contact in ["-3", "0", "500"] {
        let text = text.replace(line, &format!("contact_px = {contact}")).replace("few.csv", "press.csv");
        folder.write("dataset.toml", text);
        let board = run(std::slice::from_ref(&folder.0), &Options::default(), &mut |_| {}).unwrap();
        let refused = board.rows[0].reason.clone().unwrap();
        assert!(refused.contains(&format!("`contact_px = {contact}`")) && refused.contains("60.0"), "{refused}");
    }
}

/// A larger radius of the contact is a deeper press, also where the contact gains no cell: the depth grows evenly with the area.
#[test]
fn the_depth_of_a_marker_field_follows_the_radius_of_its_contact() {
    let folder = Folder::new("radius");
    marker_fields(&folder, "field = \"press.csv\"\n");
    let text = std::fs::read_to_string(folder.0.join("dataset.toml")).unwrap();
    let line = text.lines().find(|line| line.starts_with("contact_px")).unwrap().to_owned();
    let depth_mm = |contact: f64| -> f64 {
        folder.write("dataset.toml", text.replace(&line, &format!("contact_px = {contact}")));
        let notes = row(&folder.0).comparison.notes.join("; ");
        notes.split("pressed to ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let depths = [30.0, 30.3, 30.6].map(depth_mm);
    let steps: Vec<f64> = depths.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| (0.003..0.03).contains(step)), "{depths:?}");
    // Light presses are told apart, too; on a thick layer the depth grows with the square of the radius.
    let light = [8.0, 11.0, 16.0].map(depth_mm);
    assert!(light[0] < 0.06 && light.windows(2).all(|pair| pair[1] > 1.5 * pair[0]), "{light:?}");
    folder.write("dataset.toml", text.replace(&line, "contact_px = 59.9"));
    let board = run(std::slice::from_ref(&folder.0), &Options::default(), &mut |_| {}).unwrap();
    let refused = board.rows[0].reason.clone().unwrap();
    assert!(refused.contains("`contact_px = 59.9`") && refused.contains("no contact of this ball"), "{refused}");
}

fn reason(folder: &Folder) -> String {
    let board = run(std::slice::from_ref(&folder.0), &Options::default(), &mut |_| {}).unwrap();
    board.rows[0].reason.clone().unwrap()
}

/// Forces and depths that are not positive have no relative error, and two presses one image.
#[test]
fn measurements_that_are_none_are_refused_by_name() {
    let folder = Folder::new("forces");
    folder.write(
        "dataset.toml",
        "name = \"made\"\n[[row]]\nsensor = \"gelsight\"\nfit = 1\nbars = { force = 5.0 }\n[row.data]\nkind = \"force-depth\"\n\
         table = \"force.csv\"\nball = \"4 mm\"\n",
    );
    for (rows, words) in [("0.5,-1.0\n1.0,-3.0\n", "`force_N`: must be positive, got -1"), ("0,1\n1,3\n", "`depth_mm`")]
    {
        folder.write("force.csv", format!("depth_mm,force_N\n{rows}"));
        assert!(reason(&folder).contains(words), "{}", reason(&folder));
    }
    // Millinewtons as newtons.
    folder.write("force.csv", "depth_mm,force_N\n0.3,300\n0.4,500\n");
    let notes = row(&folder.0).comparison.notes.join("; ");
    assert!(notes.contains("check the sensor, and the units"), "{notes}");
    let images = Folder::new("same");
    let first = std::cell::OnceCell::new();
    ball_images(&images, |i, image| if i < 2 { first.get_or_init(|| image).clone() } else { image }, |_, label| label);
    assert!(reason(&images).contains("1.png is the same image as 0.png above"), "{}", reason(&images));
}

/// A folder without a description that has the files of a public data set is scored as one, and says so.
#[test]
fn a_folder_that_is_taken_for_a_public_data_set_says_so() {
    let folder = Folder::new("taken");
    ball_images(&folder, |_, image| image, |_, label| label);
    std::fs::remove_file(folder.0.join("dataset.toml")).unwrap();
    let board = run(std::slice::from_ref(&folder.0), &Options::default(), &mut |_| {}).unwrap();
    let row = &board.rows[0];
    let notes = row.comparison.notes.join("; ");
    assert!(row.name.starts_with("digit-ball") && notes.contains("write a dataset.toml if it is another"), "{notes}");
}
