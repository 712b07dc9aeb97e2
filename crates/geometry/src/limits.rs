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
/// Cells of a layer or an imprint: `skin.cell`.
pub const MAX_LAYER_CELLS: f64 = 2048.0 * 2048.0;
/// Cells of a gel: `skin.cell`; each holds eight particles.
pub const MAX_GEL_CELLS: usize = 20_000_000;
/// Pixels of a camera (`camera.width` times `height`) and of an image that is read.
pub const MAX_PIXELS: usize = 1 << 26;
/// Markers on a gel: `markers.rows` times `cols`.
pub const MAX_MARKERS: usize = 100_000;
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

// Memory.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_no_machine_has_is_refused_in_words() {
        assert_eq!(require_memory(1e6), Ok(()));
        for bytes in [1e15, 1e30, f64::INFINITY] {
            assert_eq!(require_memory(bytes), Err(NoMemory { bytes }));
        }
        assert!(require_memory(1e15).unwrap_err().to_string().contains("931322.6 GiB"));
    }
}
