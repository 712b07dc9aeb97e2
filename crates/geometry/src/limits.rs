//! The largest counts and sizes that a file, a flag or a request may ask for.
//!
//! A number beyond these is nearly always a slip of a unit, and would exhaust memory or hours; the error names the key.
//! [`crate::quantity`] limits the sizes of numbers with a unit. Limits of a solver (iterations, residuals) are beside the
//! solver.

// Descriptions.

/// Taxels and contact points of a sensor: `surface.grid.rows` times `cols`, `contact_points`, `<array>` of a URDF file.
pub const MAX_TAXELS: usize = 1_000_000;
/// Contact points along a side of a texel: `contact_points`.
pub const MAX_CONTACT_POINTS: usize = 100;
/// Magnets, and magnetometers, of a sensor: `magnets`, `magnetometers`.
pub const MAX_MAGNETS: usize = 10_000;
/// Triangles of a generated shape: `shape`, `roughness`, and `--object`.
pub const MAX_TRIANGLES: usize = 2_000_000;
/// Size of a shape, and coordinate of a vertex (m).
pub const MAX_SIZE_M: f64 = 1e6;
/// Heights of a height field: rows times columns.
pub const MAX_HEIGHTS: usize = 2_000_000;
/// Cells of a layer or an imprint: `skin.cell`.
pub const MAX_LAYER_CELLS: f64 = 2048.0 * 2048.0;
/// Cells of a gel: `skin.cell`; each holds eight particles.
pub const MAX_GEL_CELLS: usize = 20_000_000;
/// Pixels of a camera (`camera.width` times `height`) and of an image that is read.
pub const MAX_PIXELS: usize = 1 << 26;
/// Markers on a gel: `markers.rows` times `cols`.
pub const MAX_MARKERS: usize = 100_000;
/// Bodies of a scene: `[[body]]`.
pub const MAX_BODIES: usize = 10_000;
/// Sensors of a scene: `[[sensor]]`.
pub const MAX_SENSORS: usize = 1_000;
/// Time steps of a run: `world.duration` by `world.time_step`.
pub const MAX_STEPS: f64 = 1e9;
/// Recorded values of a run, which are kept in memory: `record.every`.
pub const MAX_RECORDED_VALUES: f64 = 2e8;
/// Values of an axis of a data set: `count` of an axis.
pub const MAX_AXIS_VALUES: usize = 1_000_000;
/// Episodes of a data set: `episodes`.
pub const MAX_EPISODES: usize = 1_000_000_000;
/// Size of a number without a unit, under any key.
pub const MAX_NUMBER: f64 = 1e12;

// Files.

/// Bytes of a description: a scene, a sensor, a data set, a robot, a table of labels.
pub const MAX_DESCRIPTION_BYTES: u64 = 16 << 20;
/// Bytes of a table of numbers as text.
pub const MAX_TABLE_BYTES: u64 = 1 << 30;
/// Bytes of an image file.
pub const MAX_IMAGE_BYTES: u64 = 256 << 20;
/// Bytes of a file of a recording.
pub const MAX_RECORDING_BYTES: u64 = 16 << 30;
/// Bytes of a mesh file, and of all buffers of a glTF file.
pub const MAX_MESH_BYTES: u64 = 16 << 30;
/// Triangles and tetrahedra of a mesh file.
pub const MAX_FILE_TRIANGLES: usize = 50_000_000;
/// Vertices of a mesh file.
pub const MAX_FILE_VERTICES: usize = 3 * MAX_FILE_TRIANGLES;
/// Triangles of a mesh that is dropped on the page, which must stay responsive.
pub const MAX_PAGE_TRIANGLES: usize = 300_000;
/// Bytes of a table of measurements of a real sensor.
pub const MAX_MEASUREMENT_BYTES: u64 = 256 << 20;
/// Bytes of an unpacked chunk of an MCAP file.
pub const MAX_MCAP_CHUNK_BYTES: usize = 256 << 20;
/// Bytes of all unpacked chunks of an MCAP file: this size plus [`MAX_MCAP_RATIO`] times the length of the file.
pub const MAX_MCAP_BYTES: usize = 1 << 30;
/// Unpacked bytes for each byte of an MCAP file.
pub const MAX_MCAP_RATIO: usize = 100;
/// Values of a Parquet file.
pub const MAX_PARQUET_VALUES: usize = 1 << 27;
/// Unpacked bytes of a Parquet file.
pub const MAX_PARQUET_BYTES: usize = 1 << 31;

// Arrays.

/// Rows of an array of poses, velocities or contact points.
pub const MAX_ROWS: usize = 10_000_000;
/// Values of any other array.
pub const MAX_ARRAY_VALUES: usize = 1 << 27;

// Memory.

/// Bytes of a vertex in the steps from an array to a mesh.
const VERTEX_BYTES: f64 = 100.0;
/// Bytes of a mesh with its search tree, for each triangle.
const TRIANGLE_BYTES: f64 = 300.0;

/// Memory that the system does not give.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("needs about {:.1} GiB of memory, which this system does not give", .bytes / f64::from(1 << 30))]
pub struct NoMemory {
    /// Bytes that were asked for.
    pub bytes: f64,
}

/// Asks the system for this many bytes and returns them at once: what a description asks for is refused in words before a
/// computation takes it in parts, which would end the process.
pub fn require_memory(bytes: f64) -> Result<(), NoMemory> {
    let mut asked: Vec<u8> = Vec::new();
    asked.try_reserve_exact(bytes.max(0.0) as usize).map_err(|_| NoMemory { bytes })
}

/// [`require_memory`] for a mesh with its search tree.
pub fn require_mesh_memory(triangles: f64) -> Result<(), NoMemory> {
    require_memory(triangles * TRIANGLE_BYTES)
}

/// A size that is refused before anything is copied.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SizeError {
    /// More than a limit of this module.
    #[error("has {count} {what}, and at most {max} are allowed")]
    TooMany { what: &'static str, count: usize, max: usize },
    /// More than the system has memory for.
    #[error(transparent)]
    NoMemory(#[from] NoMemory),
}

/// Refuses more than `max` elements, and more than the system has memory for, with `bytes` for each element.
pub fn check_size(what: &'static str, count: usize, max: usize, bytes: f64) -> Result<(), SizeError> {
    if count > max {
        return Err(SizeError::TooMany { what, count, max });
    }
    Ok(require_memory(count as f64 * bytes)?)
}

/// [`check_size`] for the vertices and triangles of a mesh that another program holds.
pub fn check_mesh(vertices: usize, triangles: usize) -> Result<(), SizeError> {
    check_size("vertices", vertices, MAX_FILE_VERTICES, VERTEX_BYTES)?;
    check_size("triangles", triangles, MAX_FILE_TRIANGLES, TRIANGLE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_refused_by_limit_and_by_memory() {
        assert_eq!(check_mesh(3, 1), Ok(()));
        assert_eq!(check_size("rows", 11, 10, 0.0), Err(SizeError::TooMany { what: "rows", count: 11, max: 10 }));
        assert!(matches!(check_size("rows", 10, 10, 1e29), Err(SizeError::NoMemory(_))));
    }

    #[test]
    fn memory_that_no_machine_has_is_refused_in_words() {
        assert_eq!(require_memory(1e6), Ok(()));
        for bytes in [1e15, 1e30, f64::INFINITY] {
            assert_eq!(require_memory(bytes), Err(NoMemory { bytes }));
        }
        assert!(require_memory(1e15).unwrap_err().to_string().contains("931322.6 GiB"));
    }
}
