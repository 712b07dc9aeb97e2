//! Field offsets of mjModel and mjData for every supported version of MuJoCo.
//!
//! The structs are not stable: almost every version moves a field. `offsets.py` compiles a program against the headers
//! of each version and writes [`table`]. For versions without a table, Python computes the offsets from the declarations
//! in the mujoco package ([`crate::Library::set_layout`]); without Python they are refused.

/// Declares [`Layout`] and its rows from the table: a line of versions, then a line per field.
macro_rules! layout {
    ($($version:literal)*; $($field:ident: $($offset:literal)*;)*) => {
        /// Offsets in bytes, except for `count_bytes` (the size of a count such as ngeom) and `disable_…` (bits of
        /// mjOption's flags).
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, non_snake_case, reason = "named as in MuJoCo")]
        pub struct Layout {
            $(pub $field: usize,)*
        }

        /// The supported versions, oldest first.
        pub const VERSIONS: &[&str] = &[$($version),*];

        /// The fields, in the order of [`Layout::from_numbers`].
        pub const FIELDS: &[&str] = &[$(stringify!($field)),*];

        impl Layout {
            /// A layout from its numbers in the order of [`FIELDS`].
            pub fn from_numbers(numbers: &[usize]) -> Option<Self> {
                let mut numbers = numbers.iter().copied();
                let layout = Self { $($field: numbers.next()?,)* };
                numbers.next().is_none().then_some(layout)
            }

            /// The numbers in the order of [`FIELDS`].
            pub fn numbers(&self) -> Vec<usize> {
                vec![$(self.$field),*]
            }

            /// The layout of `VERSIONS[index]`.
            pub(super) fn row(index: usize) -> Self {
                Self { $($field: [$($offset),*][index],)* }
            }
        }
    };
}

#[allow(missing_docs, reason = "named as in MuJoCo")]
pub mod table;

pub use table::{FIELDS, Layout, VERSIONS};

use crate::CouplingError;

impl Layout {
    /// The layout of a version, given as `mj_versionString` returns it.
    pub fn of(version: &str) -> Result<Self, CouplingError> {
        let index = VERSIONS.iter().position(|known| *known == version);
        index.map(Self::row).ok_or_else(|| CouplingError::UnknownVersion {
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

    /// Values from a C compiler with the headers of each version (`offsetof(mjData, sensordata)`).
    #[test]
    fn rows_belong_to_their_versions() {
        assert_eq!(Layout::of("3.3.0").unwrap().count_bytes, 4);
        assert_eq!(Layout::of("4.0.0").unwrap().count_bytes, 8);
        assert_eq!(Layout::of("4.0.0").unwrap().sensordata, 160_816);
        assert_eq!(Layout::of("3.3.7").unwrap().sensordata, 161_768);
    }

    #[test]
    fn a_layout_has_all_its_numbers() {
        let numbers: Vec<usize> = (0..FIELDS.len()).collect();
        let layout = Layout::from_numbers(&numbers).unwrap();
        assert_eq!(FIELDS[layout.sensordata], "sensordata");
        assert!(Layout::from_numbers(&numbers[1..]).is_none());
        assert!(Layout::from_numbers(&[&numbers[..], &[1]].concat()).is_none());
    }

    /// Fields of one struct do not overlap.
    #[test]
    fn fields_do_not_overlap() {
        for version in VERSIONS {
            let l = Layout::of(version).unwrap();
            let mut model =
                [l.geom_type, l.geom_contype, l.geom_bodyid, l.mesh_vert, l.mesh_face, l.sensor_adr, l.body_mass];
            model.sort_unstable();
            assert!(model.windows(2).all(|pair| pair[1] - pair[0] >= 8), "{version}");
        }
    }
}
