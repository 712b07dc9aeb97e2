//! Meshes from files: triangles from STL, OBJ, PLY, glTF and GLB, tetrahedra from VTK and Gmsh, points from XYZ and PLY.
//!
//! Each format has a reader that hands on positions and triangles as the file has them; here they are scaled
//! to metres, checked, welded, and become a [`TriMesh`]. Two rules hold for all of them. A length is never
//! guessed: a format that does not say its unit is refused until [`Import::unit`] does. And no count in a file
//! is believed before the bytes behind it are there: what was cut off or damaged is refused, with the place.
//!
//! Vertices that no triangle uses are kept, as the file has them.

mod error;
mod gltf;
mod msh;
mod obj;
mod ply;
mod points;
mod soup;
mod stl;
mod tet_soup;
mod text;
mod unit;
mod vtk;
mod weld;
mod write;

pub use error::{FileError, Place};
pub use points::read_points;
pub use unit::{LengthUnit, UnknownUnit};
pub use write::{write_obj, write_stl};

use crate::{MeshError, TetMesh, TriMesh, Vec3};
use soup::Soup;
use std::fmt;
use std::path::Path;

/// How a file becomes a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    /// What one unit of the file's coordinates is. Needed for STL, OBJ and PLY; glTF is in metres unless told.
    pub unit: Option<LengthUnit>,
    /// Makes one vertex of those at the same place, within 1e-9 of the diagonal of the box around the mesh. STL
    /// has no shared vertices at all and exporters split them at seams: without welding such meshes look open.
    pub weld: bool,
    /// Leaves out triangles without area, also those that lose it by welding, instead of refusing the file.
    pub drop_degenerate: bool,
}

impl Default for Import {
    fn default() -> Self {
        Self { unit: None, weld: true, drop_degenerate: false }
    }
}

/// A mesh file format. A new format is a file with its reader and a constant like [`Format::STL`], and an entry in [`Format::ALL`].
#[derive(Clone, Copy)]
pub struct Format {
    name: &'static str,
    extension: &'static str,
    /// The length unit that the format prescribes.
    unit: Option<LengthUnit>,
    parse: fn(file: &str, bytes: &[u8], external: &gltf::External) -> Result<Soup, FileError>,
}

impl Format {
    /// All formats that are read.
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

    /// The extensions for a message: `.stl .obj …`.
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
/// The mesh is named by the path. Buffers that a glTF file keeps beside itself are read too.
pub fn read(path: &Path, import: &Import) -> Result<TriMesh, FileError> {
    let file = path.display().to_string();
    let metadata = std::fs::metadata(path).map_err(|error| FileError::from_io(&file, &error))?;
    if metadata.is_dir() {
        return Err(FileError::IsDirectory { file });
    }
    let Some(format) = Format::from_path(path) else {
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        return Err(FileError::UnknownExtension { file, extension });
    };
    // Before the bytes are read: this answer costs nothing.
    unit_of(&file, format, import)?;
    let bytes = std::fs::read(path).map_err(|error| FileError::from_io(&file, &error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse_with(&file, format, &bytes, import, &gltf::External::Folder(folder))
}

/// The same from bytes, without a file system; `name` appears in messages.
///
/// A glTF file must then hold its buffers itself: one that keeps them in other files is refused.
pub fn parse(name: &str, format: Format, bytes: &[u8], import: &Import) -> Result<TriMesh, FileError> {
    parse_with(name, format, bytes, import, &gltf::External::Refused)
}

/// A kind of file with tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TetFormat {
    /// VTK legacy, an unstructured grid, text or binary.
    Vtk,
    /// Gmsh 2.2 or 4.1, text.
    Msh,
}

/// Reads a file of tetrahedra; the format comes from the extension (`.vtk .msh`, in either case). Neither format says
/// its unit.
pub fn read_tets(path: &Path, unit: LengthUnit) -> Result<TetMesh, FileError> {
    let file = path.display().to_string();
    let format = match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("vtk") => TetFormat::Vtk,
        Some("msh") => TetFormat::Msh,
        extension => {
            return Err(FileError::UnknownTetExtension { file, extension: extension.unwrap_or_default().to_owned() });
        }
    };
    let bytes = std::fs::read(path).map_err(|error| FileError::from_io(&file, &error))?;
    parse_tets(&file, format, &bytes, unit)
}

/// The same from bytes; `name` appears in messages.
pub fn parse_tets(name: &str, format: TetFormat, bytes: &[u8], unit: LengthUnit) -> Result<TetMesh, FileError> {
    if bytes.is_empty() {
        return Err(FileError::Empty { file: name.into() });
    }
    let soup = match format {
        TetFormat::Vtk => vtk::parse(name, bytes),
        TetFormat::Msh => msh::parse(name, bytes),
    }?;
    soup.finish(name, unit)
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
        return Err(FileError::Empty { file: file.into() });
    }
    finish(file, (format.parse)(file, bytes, external)?, unit, import)
}

fn unit_of(file: &str, format: Format, import: &Import) -> Result<LengthUnit, FileError> {
    import.unit.or(format.unit).ok_or_else(|| FileError::NoUnit { file: file.into(), format })
}

/// Scales, checks, welds and checks again. The first check is on the file's own numbering, so that what is
/// wrong in the file is named as it stands there; after it only welding can take a triangle's area.
fn finish(file: &str, soup: Soup, unit: LengthUnit, import: &Import) -> Result<TriMesh, FileError> {
    let Soup { mut vertices, triangles, origins } = soup;
    for vertex in &mut vertices {
        *vertex = unit.in_metres(*vertex);
    }
    let in_file = checked(file, vertices, triangles, import).map_err(|error| origins.locate(error))?;
    if !import.weld {
        return Ok(in_file);
    }
    let welded = weld::weld(in_file.vertices());
    let triangles = in_file.triangles().iter().map(|t| t.map(|i| welded.from_original[i as usize])).collect();
    checked(file, welded.vertices, triangles, import).map_err(|error| match error {
        // No triangle was dropped on this way, so the number is the file's.
        MeshError::ZeroArea { mesh, triangle, .. } => {
            let [a, b, c] = in_file.triangles()[triangle];
            origins.locate(MeshError::ZeroArea { mesh, triangle, a, b, c })
        }
        other => origins.locate(other),
    })
}

fn checked(name: &str, vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>, import: &Import) -> Result<TriMesh, MeshError> {
    if import.drop_degenerate {
        TriMesh::without_degenerates(name, vertices, triangles)
    } else {
        TriMesh::new(name, vertices, triangles)
    }
}
