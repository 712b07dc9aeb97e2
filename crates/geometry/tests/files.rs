//! Meshes from files of every format: valid, refused and damaged files.

#[path = "files/damage.rs"]
mod damage;
#[path = "files/gltf_scenes.rs"]
mod gltf_scenes;
#[path = "files/make.rs"]
mod make;
#[path = "files/refusals.rs"]
mod refusals;

use dermis_geometry::files::{self, FileError, Format, Import, LengthUnit, Place, Problem};
use dermis_geometry::{MeshError, TriMesh, Vec3};
use std::path::Path;

fn in_unit(unit: LengthUnit) -> Import {
    Import { unit: Some(unit), ..Import::default() }
}

fn parse(format: Format, bytes: &[u8]) -> Result<TriMesh, FileError> {
    files::parse("part", format, bytes, &in_unit(LengthUnit::Millimetre))
}

/// All valid files, each a cube with edges of 10 file units.
fn good_files() -> Vec<(&'static str, Format, Vec<u8>)> {
    vec![
        ("text STL", Format::STL, make::stl_text().into()),
        ("binary STL", Format::STL, make::stl_binary("by hand")),
        ("binary STL that says solid", Format::STL, make::stl_binary("solid by hand")),
        ("OBJ", Format::OBJ, make::obj().into()),
        ("text PLY", Format::PLY, make::ply("ascii")),
        ("little-endian PLY", Format::PLY, make::ply("binary_little_endian")),
        ("big-endian PLY", Format::PLY, make::ply("binary_big_endian")),
        ("glTF", Format::GLTF, make::gltf().into()),
        ("GLB", Format::GLB, make::glb(&make::gltf_json(""), &make::gltf_buffer())),
    ]
}

/// Checks the cube: eight corners, twelve triangles, closed and outward, with the volume of its scale.
fn assert_cube(what: &str, mesh: &TriMesh, edge_m: f64) {
    assert_eq!(mesh.vertices().len(), 8, "{what}");
    assert_eq!(mesh.triangles().len(), 12, "{what}");
    assert_eq!(mesh.check_closed(), Ok(()), "{what}");
    assert!((mesh.volume_m3() / edge_m.powi(3) - 1.0).abs() < 1e-12, "{what}: {} m^3", mesh.volume_m3());
    for (i, v) in mesh.vertices().iter().enumerate() {
        assert!(mesh.vertices()[..i].iter().all(|other| other != v), "{what}: {v} twice");
        assert!(v.to_array().iter().all(|x| *x == 0.0 || (x / edge_m - 1.0).abs() < 1e-15), "{what}: {v}");
    }
}

#[test]
fn a_cube_is_the_same_in_every_format_and_unit() {
    for (what, format, bytes) in good_files() {
        for (unit, edge_m) in [
            (LengthUnit::Millimetre, 0.01),
            (LengthUnit::Centimetre, 0.1),
            (LengthUnit::Metre, 10.0),
            (LengthUnit::Inch, 0.254),
        ] {
            let mesh = files::parse(what, format, &bytes, &in_unit(unit)).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(mesh.name(), what);
            assert_cube(what, &mesh, edge_m);
        }
    }
}

/// Formats that share vertices keep the file's order.
#[test]
fn vertices_keep_their_order() {
    for (what, format, bytes) in good_files().into_iter().filter(|(_, format, _)| *format != Format::STL) {
        let mesh = files::parse(what, format, &bytes, &in_unit(LengthUnit::Metre)).unwrap();
        let expected: Vec<Vec3> = make::cube().0.into_iter().map(Vec3::from_array).collect();
        assert_eq!(mesh.vertices(), expected, "{what}");
    }
}

#[test]
fn an_unwelded_stl_is_open() {
    let import = Import { weld: false, ..in_unit(LengthUnit::Millimetre) };
    let mesh = files::parse("part", Format::STL, &make::stl_binary(""), &import).unwrap();
    assert_eq!(mesh.vertices().len(), 36);
    assert!(mesh.check_closed().is_err());
}

#[test]
fn only_gltf_knows_its_unit() {
    for (what, format, bytes) in good_files() {
        let result = files::parse("part", format, &bytes, &Import::default());
        if [Format::GLTF, Format::GLB].contains(&format) {
            assert_cube(what, &result.unwrap(), 10.0);
        } else {
            let error = result.unwrap_err();
            assert_eq!((error.file.as_str(), &error.problem), ("part", &Problem::NoUnit { format }));
            assert!(error.to_string().contains("does not say its unit; say mm or m"), "{error}");
        }
    }
}

#[test]
fn units_are_written_as_they_are_read() {
    for (unit, text) in [
        (LengthUnit::Metre, "m"),
        (LengthUnit::Centimetre, "cm"),
        (LengthUnit::Millimetre, "mm"),
        (LengthUnit::Inch, "in"),
    ] {
        assert_eq!(text.parse(), Ok(unit));
        assert_eq!(unit.to_string(), text);
        let json = format!("{text:?}");
        assert_eq!(serde_json::to_string(&unit).unwrap(), json);
        assert_eq!(serde_json::from_str::<LengthUnit>(&json).unwrap(), unit);
    }
    let error = "ft".parse::<LengthUnit>().unwrap_err().to_string();
    assert!(error.contains("\"ft\"") && error.contains("mm"), "{error}");
}

#[test]
fn what_is_written_is_read() {
    let cube = parse(Format::OBJ, make::obj().as_bytes()).unwrap();
    for unit in [LengthUnit::Metre, LengthUnit::Centimetre, LengthUnit::Millimetre, LengthUnit::Inch] {
        let stl = files::parse("stl", Format::STL, &files::write_stl(&cube, unit), &in_unit(unit)).unwrap();
        assert_eq!(stl.check_closed(), Ok(()));
        assert!((stl.volume_m3() / cube.volume_m3() - 1.0).abs() < 1e-6, "rounded to f32 in {unit}");

        let obj = files::parse("obj", Format::OBJ, files::write_obj(&cube, unit).as_bytes(), &in_unit(unit)).unwrap();
        assert_eq!(obj.triangles(), cube.triangles());
        for (a, b) in obj.vertices().iter().zip(cube.vertices()) {
            assert!(a.distance(*b) <= 1e-15 * b.length(), "{a} for {b} in {unit}");
        }
    }
}

#[test]
fn the_extension_names_the_format() {
    for (name, format) in [
        ("a.stl", Some(Format::STL)),
        ("a.b/c.OBJ", Some(Format::OBJ)),
        ("a.Ply", Some(Format::PLY)),
        ("a.gltf", Some(Format::GLTF)),
        ("a.GLB", Some(Format::GLB)),
        ("a.step", None),
        ("stl", None),
        (".stl", None),
    ] {
        assert_eq!(Format::from_path(Path::new(name)), format, "{name}");
    }
}

#[test]
fn files_are_read_with_what_lies_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Part.STL");
    std::fs::write(&path, make::stl_text()).unwrap();
    let mesh = files::read(&path, &in_unit(LengthUnit::Millimetre)).unwrap();
    assert_eq!(mesh.name(), path.display().to_string());
    assert_cube("STL", &mesh, 0.01);

    let json = make::gltf_json(r#""uri": "my%20part.bin", "#);
    let path = folder.path().join("part.gltf");
    std::fs::write(&path, &json).unwrap();
    let error = files::read(&path, &Import::default()).unwrap_err();
    assert!(
        matches!(error.problem, Problem::GltfBuffer { .. }) && error.place == Some(Place::Element("buffer", 0)),
        "{error}"
    );
    assert!(error.to_string().contains("my part.bin"), "{error}");
    std::fs::write(folder.path().join("my part.bin"), make::gltf_buffer()).unwrap();
    assert_cube("glTF", &files::read(&path, &Import::default()).unwrap(), 10.0);

    let error = files::parse("part", Format::GLTF, json.as_bytes(), &Import::default()).unwrap_err();
    assert!(
        matches!(error.problem, Problem::GltfExternal { .. }) && error.place == Some(Place::Element("buffer", 0)),
        "{error}"
    );
    assert!(error.to_string().contains("my%20part.bin") && error.to_string().contains(".glb"), "{error}");
}

#[test]
fn what_is_not_there_or_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let import = in_unit(LengthUnit::Metre);
    let read = |name: &str| files::read(&folder.path().join(name), &import).unwrap_err();
    assert!(matches!(read("none.stl").problem, Problem::NotFound));
    std::fs::create_dir(folder.path().join("folder.stl")).unwrap();
    assert!(matches!(read("folder.stl").problem, Problem::IsDirectory));
    std::fs::write(folder.path().join("part.step"), "x").unwrap();
    let error = read("part.step");
    assert!(matches!(&error.problem, Problem::UnknownExtension { extension } if extension == "step"));
    assert!(error.to_string().contains(".stl") && error.to_string().contains("part.step"), "{error}");
    for name in ["a.stl", "a.obj", "a.ply", "a.gltf", "a.glb"] {
        std::fs::write(folder.path().join(name), "").unwrap();
        assert!(matches!(read(name).problem, Problem::Empty), "{name}");
    }
}

/// A device or a pipe never ends: a glTF buffer, a mesh, tetrahedra and points refuse it.
#[cfg(target_os = "linux")]
#[test]
fn devices_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let gltf = folder.path().join("part.gltf");
    for uri in ["zero", "../../../../../../../../../../dev/zero"] {
        std::fs::write(&gltf, make::gltf_json(&format!(r#""uri": "{uri}", "#))).unwrap();
        let link = folder.path().join("zero");
        if !link.exists() {
            std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        }
        let error = files::read(&gltf, &Import::default()).unwrap_err();
        assert_eq!(error.place, Some(Place::Element("buffer", 0)), "{error}");
        assert!(error.to_string().contains("in the folder of this one or below"), "{error}");
    }
    for name in ["a.stl", "a.obj", "a.ply", "a.gltf", "a.glb", "a.vtk", "a.msh", "a.xyz"] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let error = match name {
            "a.vtk" | "a.msh" => files::read_tets(&path, LengthUnit::Metre).unwrap_err(),
            "a.xyz" => files::read_points(&path, LengthUnit::Metre).unwrap_err(),
            _ => files::read(&path, &in_unit(LengthUnit::Metre)).unwrap_err(),
        };
        assert!(matches!(error.problem, Problem::NotRegular), "{name}: {error}");
    }
}

/// `../secret.bin` and `..%2fsecret.bin` were read.
#[cfg(unix)]
#[test]
fn buffers_outside_of_the_folder_are_not_read() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("model");
    std::fs::create_dir_all(folder.join("below")).unwrap();
    let (secret, gltf) = (root.path().join("secret.bin"), folder.join("part.gltf"));
    for path in [&secret, &folder.join("own.bin"), &folder.join("below/own.bin")] {
        std::fs::write(path, make::gltf_buffer()).unwrap();
    }
    std::os::unix::fs::symlink(&secret, folder.join("link.bin")).unwrap();
    std::os::unix::fs::symlink(root.path(), folder.join("up")).unwrap();
    std::os::unix::fs::symlink(folder.join("own.bin"), folder.join("inner.bin")).unwrap();
    let read = |uri: &str| {
        std::fs::write(&gltf, make::gltf_json(&format!(r#""uri": "{uri}", "#))).unwrap();
        files::read(&gltf, &Import::default())
    };
    let absolute = secret.display().to_string();
    let outside = [
        "../secret.bin",
        "..%2fsecret.bin",
        "%2e%2e/secret.bin",
        "below/../../secret.bin",
        "link.bin",
        "up/secret.bin",
    ];
    for uri in
        outside.into_iter().chain([absolute.as_str(), "file:///etc/passwd", "../missing.bin", "below/../own.bin"])
    {
        let error = read(uri).unwrap_err();
        assert!(error.to_string().contains("in the folder of this one or below"), "{uri}: {error}");
    }
    for uri in ["own.bin", "./own.bin", "below/own.bin", "below%2Fown.bin", "inner.bin"] {
        assert_cube("glTF", &read(uri).unwrap(), 10.0);
    }
}

/// Only the declared length of a buffer is read, so a longer file is not loaded whole.
#[test]
fn a_buffer_file_may_be_longer_than_its_buffer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.gltf");
    std::fs::write(&path, make::gltf_json(r#""uri": "part.bin", "#)).unwrap();
    std::fs::write(folder.path().join("part.bin"), [&make::gltf_buffer()[..], &[7; 100]].concat()).unwrap();
    assert_cube("glTF", &files::read(&path, &Import::default()).unwrap(), 10.0);
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.stl");
    std::fs::write(&path, make::stl_text()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // A superuser may read every file, so that this case cannot be tested.
    if std::fs::read(&path).is_err() {
        let error = files::read(&path, &in_unit(LengthUnit::Metre)).unwrap_err();
        assert!(matches!(error.problem, Problem::NotPermitted), "{error}");
    }
}

/// Vertices 3 and 1 differ by less than the tolerance, so that welding collapses the second triangle.
#[test]
fn triangles_that_collapse_by_welding_are_refused_or_dropped() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1e-10 0 0\nv 0 0 1\nf 1 2 3\nf 1 4 5\n";
    let import = in_unit(LengthUnit::Metre);
    let parse = |import: &Import| files::parse("part", Format::OBJ, text.as_bytes(), import);
    assert_eq!(parse(&Import { weld: false, ..import }).unwrap().triangles().len(), 2);
    assert_eq!(parse(&Import { drop_degenerate: true, ..import }).unwrap().triangles().len(), 1);
    let error = parse(&import).unwrap_err();
    let in_file = MeshError::ZeroArea { mesh: "part".into(), triangle: 1, a: 0, b: 3, c: 4 };
    assert!(matches!(&error.problem, Problem::Mesh(error) if *error == in_file), "{error}");
    assert!(error.to_string().contains("line 7"), "{error}");
}

/// The points of a cloud are the vertices of a PLY file of any encoding, with or without faces, and the lines of an XYZ
/// file.
#[test]
fn points_are_read_from_ply_and_xyz() {
    let folder = std::env::temp_dir().join(format!("dermis-cloud-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let read = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        files::read_points(&path, LengthUnit::Millimetre)
    };
    for kind in ["ascii", "binary_little_endian", "binary_big_endian"] {
        let points = read("cube.ply", &make::ply(kind)).unwrap();
        assert_eq!(points.len(), 8, "{kind}");
        assert!(points.contains(&Vec3::splat(0.01)) && points.contains(&Vec3::ZERO), "{kind}");
    }
    let bare = b"ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n4 5 6\n";
    assert_eq!(read("bare.ply", bare).unwrap()[1], Vec3::new(4e-3, 5e-3, 6e-3));
    assert_eq!(read("a.xyz", b"1 2 3 9 9 9\n# no point\n4,5,6\n").unwrap()[1], Vec3::new(4e-3, 5e-3, 6e-3));
    let slips = [
        read("b.xyz", b"1 2 3\n4 5\n").unwrap_err().to_string(),
        read("c.xyz", b"1 2 nan\n").unwrap_err().to_string(),
        read("d.xyz", b"").unwrap_err().to_string(),
        read("e.stl", b"solid").unwrap_err().to_string(),
    ];
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(slips[0].contains("b.xyz") && slips[0].contains("2"), "{}", slips[0]);
    assert!(slips[1].contains("c.xyz") && slips[2].contains("empty") && slips[3].contains(".xyz"), "{slips:?}");
}
