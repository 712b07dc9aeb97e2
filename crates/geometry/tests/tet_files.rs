//! Tetrahedra from VTK and Gmsh files: one tetrahedron of edge 2 mm in every encoding, and damaged ones.

use dermis_geometry::files::{FileError, LengthUnit, Problem, TetFormat, parse_tets};
use dermis_geometry::{TetMesh, Vec3};

const ASCII: &str = "# vtk DataFile Version 3.0
a tetrahedron
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 5 double
9 9 9
0 0 0 2 0 0
0 2 0
0 0 2
CELLS 2 9
4 1 2 3 4
3 1 2 3
CELL_TYPES 2
10
5
";

fn truth() -> TetMesh {
    let vertices = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|v| v * 2e-3).to_vec();
    TetMesh::new("t", vertices, vec![[0, 1, 2, 3]]).unwrap()
}

fn vtk(bytes: &[u8]) -> Result<TetMesh, FileError> {
    parse_tets("t", TetFormat::Vtk, bytes, LengthUnit::Millimetre)
}

fn msh(text: &str) -> Result<TetMesh, FileError> {
    parse_tets("t", TetFormat::Msh, text.as_bytes(), LengthUnit::Millimetre)
}

/// The unused vertex and the triangle are dropped.
#[test]
fn vtk_as_text() {
    assert_eq!(vtk(ASCII.as_bytes()).unwrap(), truth());
}

#[test]
fn vtk_in_binary_and_with_offsets() {
    let mut bytes = b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n".to_vec();
    for c in [0f32, 0., 0., 2., 0., 0., 0., 2., 0., 0., 0., 2.] {
        bytes.extend(c.to_be_bytes());
    }
    let points = bytes.clone();
    bytes.extend(b"\nCELLS 1 5\n");
    for i in [4i32, 0, 1, 2, 3] {
        bytes.extend(i.to_be_bytes());
    }
    bytes.extend(b"\nCELL_TYPES 1\n");
    bytes.extend(10i32.to_be_bytes());
    assert_eq!(vtk(&bytes).unwrap(), truth());
    assert!(matches!(vtk(&bytes[..bytes.len() - 2]).unwrap_err().problem, Problem::CutOff { .. }));

    let mut newer = points;
    newer.extend(b"\nMETADATA\nINFORMATION 0\n\nCELLS 2 4\nOFFSETS vtktypeint64\n");
    for i in [0i64, 4] {
        newer.extend(i.to_be_bytes());
    }
    newer.extend(b"\nCONNECTIVITY vtktypeint64\n");
    for i in [0i64, 1, 2, 3] {
        newer.extend(i.to_be_bytes());
    }
    newer.extend(b"\nCELL_TYPES 1\n");
    newer.extend(10i32.to_be_bytes());
    assert_eq!(vtk(&newer).unwrap(), truth());
}

#[test]
fn gmsh_2_and_4() {
    let two = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n7 0 0 0\n3 2 0 0\n5 0 2 0\n9 0 0 2\n$EndNodes\n\
               $Elements\n2\n1 2 2 0 1 7 3 5\n2 4 2 0 1 7 3 5 9\n$EndElements\n";
    assert_eq!(msh(two).unwrap(), truth());
    let four = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n\
                $Nodes\n2 4 3 9\n2 -1 1 1\n7\n0 0 0 0.5 0.5\n3 1 0 3\n3\n5\n9\n2 0 0\n0 2 0\n0 0 2\n$EndNodes\n\
                $Elements\n2 2 1 2\n2 1 2 1\n1 7 3 5\n3 1 4 1\n2 7 3 5 9\n$EndElements\n";
    assert_eq!(msh(four).unwrap(), truth());
    assert!(matches!(msh(&two.replace("2.2 0", "3 0")).unwrap_err().problem, Problem::MshVersion { .. }));
    assert!(matches!(
        msh(&two.replace("2 4 2 0 1 7 3 5 9", "2 5 2 0 1 7 3 5 9 1 1 1 1")).unwrap_err().problem,
        Problem::NotTets { .. }
    ));
    assert!(matches!(msh(&two.replace("7 3 5 9", "7 3 5 8")).unwrap_err().problem, Problem::Mesh(_)));
    assert!(matches!(msh(&two[..60]).unwrap_err().problem, Problem::CutOff { .. }));
    assert!(matches!(
        msh("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n").unwrap_err().problem,
        Problem::MshMissing { section: "$Nodes" }
    ));
}

/// Any truncation or change gives an error or a mesh, never a panic, and never an allocation for a count that exceeds
/// the file.
#[test]
fn damaged_files_are_refused() {
    for end in 0..ASCII.len() - 3 {
        assert!(vtk(&ASCII.as_bytes()[..end]).is_err(), "cut at {end}");
    }
    for (from, to) in [("CELLS 2", "CELLS 99999999999"), ("10\n5", "10\n12"), ("4 1 2", "44 1 2"), ("4 1 2", "4 -1 2")]
    {
        assert!(vtk(ASCII.replace(from, to).as_bytes()).is_err(), "{to}");
    }
    for byte in 0..ASCII.len() {
        let mut bytes = ASCII.as_bytes().to_vec();
        bytes[byte] = b'~';
        let _ = vtk(&bytes);
    }
}
