//! Reads meshes from files: triangles from STL, OBJ, PLY, glTF and GLB, tetrahedra from VTK and Gmsh, points from XYZ
//! and PLY.
//!
//! Each reader returns positions and elements as in the file; this module scales them to metres, checks them and welds
//! them into a [`TriMesh`]. Two rules hold for all readers. First, length units are never guessed: a format without
//! units needs [`Import::unit`]. Second, no count of a file is trusted before its data are present: truncated and
//! damaged files are refused with the position of the damage.
//!
//! Unused vertices are kept.

mod error;
mod gltf;
mod msh;
mod obj;
mod ply;
mod points;
mod raw_mesh;
mod stl;
mod text;
mod unit;
mod vtk;
mod weld;
mod write;

pub use error::{FileError, Place, Problem};
pub use points::read_points;
pub use unit::{LengthUnit, UnknownUnit};
pub use write::{write_obj, write_stl};

use crate::limits::MAX_MESH_BYTES;
use crate::{MeshError, TetMesh, TriMesh, Vec3, regular_file};
use raw_mesh::RawMesh;
use std::fmt;
use std::io::Read;
use std::path::Path;

/// Options for reading a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    /// Length unit of the file. Required for STL, OBJ and PLY; glTF defaults to metres.
    pub unit: Option<LengthUnit>,
    /// Merges vertices closer than 1e-9 of the diagonal of the bounding box. STL has no shared vertices, and exporters
    /// split vertices at seams: without welding such meshes are open.
    pub weld: bool,
    /// Drops triangles without area, including those that collapse by welding, instead of refusing the file.
    pub drop_degenerate: bool,
}

impl Default for Import {
    fn default() -> Self {
        Self { unit: None, weld: true, drop_degenerate: false }
    }
}

/// A mesh file format. To add a format, add a module with its reader, a constant like [`Format::STL`] and an entry in
/// [`Format::ALL`].
#[derive(Clone, Copy)]
pub struct Format {
    name: &'static str,
    extension: &'static str,
    /// The length unit that the format prescribes.
    unit: Option<LengthUnit>,
    parse: fn(bytes: &[u8], external: &gltf::External) -> Result<RawMesh, FileError>,
}

impl Format {
    /// All supported formats.
    pub const ALL: [Self; 5] = [Self::STL, Self::OBJ, Self::PLY, Self::GLTF, Self::GLB];

    /// The file name extension, lower case, without the dot.
    pub fn extension(self) -> &'static str {
        self.extension
    }

    /// The format of a path, by its extension in upper or lower case.
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Self::ALL.into_iter().find(|format| format.extension.eq_ignore_ascii_case(extension))
    }

    /// The extensions as text for messages: `.stl .obj …`.
    pub fn extension_list() -> String {
        Self::ALL.map(|format| format!(".{}", format.extension)).join(" ")
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Reads a mesh file; the format comes from the extension (see [`Format::ALL`]).
///
/// The path becomes the name of the mesh. External buffers of a glTF file are read from its folder.
pub fn read(path: &Path, import: &Import) -> Result<TriMesh, FileError> {
    let file = path.display().to_string();
    regular_file::open(path, MAX_MESH_BYTES).map_err(|error| Problem::from_io(&error).in_file(&file))?;
    let Some(format) = Format::from_path(path) else {
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        return Err(Problem::UnknownExtension { extension }.in_file(&file));
    };
    // Checks the unit before reading the file.
    unit_of(&file, format, import)?;
    let bytes = read_regular(path, u64::MAX).map_err(|problem| problem.in_file(&file))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse_with(&file, format, &bytes, import, &gltf::External::Folder(folder))
}

/// Reads a mesh from bytes, without a file system; errors name the file `name`.
///
/// A glTF file with buffers in other files is refused.
pub fn parse(name: &str, format: Format, bytes: &[u8], import: &Import) -> Result<TriMesh, FileError> {
    parse_with(name, format, bytes, import, &gltf::External::Refused)
}

/// A file format of tetrahedral meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TetFormat {
    /// VTK legacy, an unstructured grid, text or binary.
    Vtk,
    /// Gmsh 2.2 or 4.1, text.
    Msh,
}

/// Reads a tetrahedral mesh; the extension selects the format (`.vtk .msh`, upper or lower case). Neither format has
/// units.
pub fn read_tets(path: &Path, unit: LengthUnit) -> Result<TetMesh, FileError> {
    let file = path.display().to_string();
    let format = match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("vtk") => TetFormat::Vtk,
        Some("msh") => TetFormat::Msh,
        extension => {
            let extension = extension.unwrap_or_default().to_owned();
            return Err(Problem::UnknownTetExtension { extension }.in_file(&file));
        }
    };
    let bytes = read_regular(path, u64::MAX).map_err(|problem| problem.in_file(&file))?;
    parse_tets(&file, format, &bytes, unit)
}

/// Reads a tetrahedral mesh from bytes; errors name the file `name`.
pub fn parse_tets(name: &str, format: TetFormat, bytes: &[u8], unit: LengthUnit) -> Result<TetMesh, FileError> {
    if bytes.is_empty() {
        return Err(Problem::Empty.in_file(name));
    }
    let mesh = match format {
        TetFormat::Vtk => vtk::parse(bytes),
        TetFormat::Msh => msh::parse(bytes),
    }
    .map_err(|error| error.in_file(name))?;
    mesh.finish(name, unit)
}

/// Reads a mesh file, at most its first `max_bytes`.
fn read_regular(path: &Path, max_bytes: u64) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    regular_file::open(path, MAX_MESH_BYTES)
        .and_then(|file| file.take(max_bytes.min(MAX_MESH_BYTES)).read_to_end(&mut bytes))
        .map_err(|error| Problem::from_io(&error))?;
    Ok(bytes)
}

fn parse_with(
    file: &str,
    format: Format,
    bytes: &[u8],
    import: &Import,
    external: &gltf::External,
) -> Result<TriMesh, FileError> {
    let unit = unit_of(file, format, import)?;
    if bytes.is_empty() {
        return Err(Problem::Empty.in_file(file));
    }
    finish(file, (format.parse)(bytes, external).map_err(|error| error.in_file(file))?, unit, import)
}

fn unit_of(file: &str, format: Format, import: &Import) -> Result<LengthUnit, FileError> {
    import.unit.or(format.unit).ok_or_else(|| Problem::NoUnit { format }.in_file(file))
}

/// Scales, checks, welds and checks again. The first check uses the numbering of the file, so that errors refer to it;
/// after that a triangle can lose its area only by welding.
fn finish(file: &str, mesh: RawMesh, unit: LengthUnit, import: &Import) -> Result<TriMesh, FileError> {
    let RawMesh { mut vertices, triangles, origins } = mesh;
    for vertex in &mut vertices {
        *vertex = unit.in_metres(*vertex);
    }
    let in_file = checked(file, vertices, triangles, import).map_err(|error| origins.locate(error).in_file(file))?;
    if !import.weld {
        return Ok(in_file);
    }
    let welded = weld::weld(in_file.vertices());
    let triangles = in_file.triangles().iter().map(|t| t.map(|i| welded.from_original[i as usize])).collect();
    checked(file, welded.vertices, triangles, import).map_err(|error| match error {
        // No triangle was dropped here, so the number is that of the file.
        MeshError::ZeroArea { mesh, triangle, .. } => {
            let [a, b, c] = in_file.triangles()[triangle];
            origins.locate(MeshError::ZeroArea { mesh, triangle, a, b, c }).in_file(file)
        }
        other => origins.locate(other).in_file(file),
    })
}

fn checked(name: &str, vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>, import: &Import) -> Result<TriMesh, MeshError> {
    if import.drop_degenerate {
        TriMesh::without_degenerates(name, vertices, triangles)
    } else {
        TriMesh::new(name, vertices, triangles)
    }
}
