//! Transforms of glTF nodes, and the kinds of primitives.

use super::{FileError, Format, Place, Problem, TriMesh, Vec3, assert_cube, files, make};
use dermis_geometry::files::Import;

fn parse(json: &str) -> Result<TriMesh, FileError> {
    files::parse("part", Format::GLTF, json.as_bytes(), &Import::default())
}

/// The file of the cube with other nodes; the first is the root.
fn with_nodes(nodes: &str) -> Result<TriMesh, FileError> {
    parse(&make::gltf().replacen(r#""nodes": [{"mesh": 0}]"#, &format!(r#""nodes": [{nodes}]"#), 1))
}

/// A rotation by 90° about z, a scale of one half and a translation, in a parent that translates again. Computed by
/// hand for the corner (10, 0, 0): it moves to (0, 5, 0), to (1, 5, 0), to (1, 5, 3).
#[test]
fn transforms_nest() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let child = format!(
        r#"{{"mesh": 0, "translation": [1, 0, 0], "rotation": [0, 0, {half}, {half}], "scale": [0.5, 0.5, 0.5]}}"#
    );
    let matrix = r#"{"children": [1], "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,3,1]}"#;
    let mesh = with_nodes(&format!("{matrix}, {child}")).unwrap();
    assert!(mesh.vertices()[1].distance(Vec3::new(1.0, 5.0, 3.0)) < 1e-12, "{}", mesh.vertices()[1]);
    assert!((mesh.volume_m3() - 125.0).abs() < 1e-9);
    assert_eq!(mesh.check_closed(), Ok(()));
}

#[test]
fn a_mirror_keeps_faces_outward() {
    for node in [
        r#"{"mesh": 0, "scale": [-1, 1, 1]}"#,
        r#"{"mesh": 0, "matrix": [1,0,0,0, 0,0,1,0, 0,1,0,0, 0,0,0,1]}"#,
        r#"{"children": [1], "scale": [1, -1, 1]}, {"mesh": 0, "scale": [-1, -1, -1]}"#,
    ] {
        let mesh = with_nodes(node).unwrap();
        assert_eq!(mesh.check_closed(), Ok(()), "{node}");
        assert!((mesh.volume_m3() - 1000.0).abs() < 1e-9, "{node}");
    }
}

#[test]
fn a_mesh_may_be_shown_twice() {
    let mesh = with_nodes(r#"{"mesh": 0, "children": [1]}, {"mesh": 0, "translation": [20, 0, 0]}"#).unwrap();
    assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (16, 24));
    assert_eq!(mesh.check_closed(), Ok(()));
    assert_eq!(mesh.bounds().max, Vec3::new(30.0, 10.0, 10.0));
}

#[test]
fn nodes_must_be_a_tree() {
    for nodes in [
        r#"{"mesh": 0, "children": [0]}"#,
        r#"{"mesh": 0, "children": [1]}, {"children": [0]}"#,
        r#"{"mesh": 0, "children": [1, 2]}, {"children": [2]}, {}"#,
    ] {
        let error = with_nodes(nodes).unwrap_err();
        assert!(matches!(error.problem, Problem::GltfCycle), "{nodes}: {error}");
    }
}

/// The chain is far deeper than a call stack.
#[test]
fn a_long_chain_of_nodes_is_read() {
    let count = 100_000;
    let chain: Vec<String> = (1..count).map(|child| format!(r#"{{"children": [{child}]}}"#)).collect();
    assert_cube("chain", &with_nodes(&format!(r#"{}, {{"mesh": 0}}"#, chain.join(","))).unwrap(), 10.0);
}

#[test]
fn transforms_must_be_possible() {
    let error = with_nodes(r#"{"mesh": 0, "rotation": [0, 0, 0, 0]}"#).unwrap_err().to_string();
    assert!(error.contains("node 0") && error.contains("unit length"), "{error}");
    let error = with_nodes(r#"{"mesh": 0, "matrix": [1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1]}"#).unwrap_err().to_string();
    assert!(error.contains("node 0") && error.contains("last row"), "{error}");
    let error = with_nodes(r#"{"mesh": 0, "scale": [1, 0, 0]}"#).unwrap_err().to_string();
    assert!(error.contains("no area") && error.contains("mesh 0, primitive 0"), "{error}");
    let error = with_nodes(r#"{"mesh": 0, "scale": [1e30, 1e30, 1e30]}"#).unwrap_err().to_string();
    assert!(error.contains("1e6 m") && error.contains("mesh 0, primitive 0"), "{error}");
}

/// Exporters write names, data of their own, materials and extensions that do not change the shape.
#[test]
fn what_does_not_shape_the_mesh_is_ignored() {
    let node =
        r#"{"mesh": 0, "name": "part", "extras": {"made by": ["hand", 3]}, "extensions": {"ACME_note": {"a": 1}}}"#;
    assert_cube("extras", &with_nodes(node).unwrap(), 10.0);
    let json = make::gltf().replacen(
        r#""scene": 0"#,
        r#""materials": [{"name": "red", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}, "extras": {"x": 1}}],
"extensionsUsed": ["KHR_materials_unlit"], "scene": 0"#,
        1,
    );
    assert_cube("materials", &parse(&json).unwrap(), 10.0);
}

#[test]
fn without_a_scene_all_roots_are_shown() {
    let json = make::gltf().replacen(r#""scene": 0, "scenes": [{"nodes": [0]}],"#, "", 1);
    assert_cube("no scene", &parse(&json).unwrap(), 10.0);
    let first = make::gltf().replacen(r#""scene": 0, "#, "", 1);
    assert_cube("first scene", &parse(&first).unwrap(), 10.0);
}

/// A square of four vertices as list, strip and fan, with indices of each size and without indices.
#[test]
fn strips_fans_and_index_sizes() {
    let list = [0, 1, 2, 1, 3, 2];
    for (mode, component, indices) in [
        (4, 5121, Some(&list[..])),
        (4, 5123, Some(&list[..])),
        (4, 5125, Some(&list[..])),
        (5, 5121, Some(&[0, 1, 2, 3][..])),
        (6, 5123, Some(&[0, 1, 3, 2][..])),
        (5, 5121, None),
    ] {
        let mesh = parse(&square(mode, component, indices)).unwrap_or_else(|e| panic!("mode {mode}: {e}"));
        assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (4, 2));
        assert!((mesh.area_m2() - 1.0).abs() < 1e-15);
        for triangle in 0..2 {
            assert_eq!(mesh.face_normal(triangle), Vec3::Z, "mode {mode}");
        }
    }
}

#[test]
fn points_and_lines_are_left_out() {
    let error = parse(&square(1, 5121, Some(&[0, 1, 2, 3]))).unwrap_err();
    assert_eq!(error.problem, Problem::GltfNothing { skipped: 1 });
    assert_eq!((error.file.as_str(), error.place), ("part", Some(Place::Element("scene", 0))));
    let cube = make::gltf();
    let beside =
        cube.replacen(r#""primitives": ["#, r#""primitives": [{"mode": 0, "attributes": {"POSITION": 0}}, "#, 1);
    assert_cube("beside points", &parse(&beside).unwrap(), 10.0);
}

fn square(mode: u32, component: u32, indices: Option<&[u32]>) -> String {
    let mut bytes: Vec<u8> = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
        .iter()
        .flatten()
        .flat_map(|&x: &u8| f32::from(x).to_le_bytes())
        .collect();
    for index in indices.unwrap_or_default() {
        let size = match component {
            5121 => 1,
            5123 => 2,
            _ => 4,
        };
        bytes.extend(&index.to_le_bytes()[..size]);
    }
    let count = indices.map_or(1, <[u32]>::len);
    let member = indices.map_or("", |_| r#", "indices": 1"#);
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0}}],
"meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "mode": {mode}{member}}}]}}],
"accessors": [{{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"}},
 {{"bufferView": 0, "byteOffset": 48, "componentType": {component}, "count": {count}, "type": "SCALAR"}}],
"bufferViews": [{{"buffer": 0, "byteLength": {0}}}],
"buffers": [{{{1}"byteLength": {0}}}]}}"#,
        bytes.len(),
        make::data_uri(&bytes)
    )
}
