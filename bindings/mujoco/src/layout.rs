//! Where a version of MuJoCo keeps the fields that are read here.
//!
//! mjModel and mjData are not stable: almost every version moves something. `offsets.py` compiles a program against the
//! headers of each and writes [`table`]. What is not in the table is refused.

/// Makes [`Layout`] and its rows from the table: a line of versions, then a line for each field.
macro_rules! layout {
    ($($version:literal)*; $($field:ident: $($offset:literal)*;)*) => {
        /// Offsets in bytes, except for `count_bytes` (the size of a count such as ngeom) and `disable_…` (bits of mjOption's flags).
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "named as in MuJoCo")]
        pub struct Layout {
            $(pub $field: usize,)*
        }

        /// The versions that are known, oldest first.
        pub const VERSIONS: &[&str] = &[$($version),*];

        impl Layout {
            /// Of the version at a place in [`VERSIONS`].
            pub(super) fn row(place: usize) -> Self {
                Self { $($field: [$($offset),*][place],)* }
            }
        }
    };
}

#[allow(missing_docs, reason = "named as in MuJoCo")]
pub mod table;

pub use table::{Layout, VERSIONS};

use crate::PluginError;

impl Layout {
    /// The layout of a version as `mj_versionString` writes it.
    pub fn of(version: &str) -> Result<Self, PluginError> {
        let place = VERSIONS.iter().position(|known| *known == version);
        place.map(Self::row).ok_or_else(|| PluginError::UnknownVersion {
            version: version.to_owned(),
            first: VERSIONS[0],
            last: VERSIONS[VERSIONS.len() - 1],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_version_is_refused_by_name() {
        for version in ["3.2.7", "3.3", "4.0.1", ""] {
            let message = Layout::of(version).unwrap_err().to_string();
            assert!(message.contains(&format!("{version:?}")) && message.contains("3.3.0"), "{message}");
        }
    }

    /// What a C compiler says of two versions' headers (`offsetof(mjData, sensordata)`).
    #[test]
    fn rows_belong_to_their_versions() {
        assert_eq!(Layout::of("3.3.0").unwrap().count_bytes, 4);
        assert_eq!(Layout::of("4.0.0").unwrap().count_bytes, 8);
        assert_eq!(Layout::of("4.0.0").unwrap().sensordata, 160_816);
        assert_eq!(Layout::of("3.3.7").unwrap().sensordata, 161_768);
    }

    /// Fields of one struct do not lie on each other.
    #[test]
    fn fields_are_apart() {
        for version in VERSIONS {
            let l = Layout::of(version).unwrap();
            let mut model =
                [l.geom_type, l.geom_contype, l.geom_bodyid, l.mesh_vert, l.mesh_face, l.sensor_adr, l.body_mass];
            model.sort_unstable();
            assert!(model.windows(2).all(|pair| pair[1] - pair[0] >= 8), "{version}");
        }
    }
}
