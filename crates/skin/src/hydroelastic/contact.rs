//! Selects the contact algorithm for a pair of shapes.

use super::compliant::{TetPair, tets_on_half_space};
use super::field::TetField;
use super::material::{Material, Piece};
use super::rigid::{Rigid, plane_on_tets};
use super::smooth::{Other, plane_on_solid, rigid_on_solid, solids};
use super::solid::Solid;
use super::surface::{Builder, ContactSurface, Origin};
use crate::{SkinError, require_positive};
use dermis_geometry::{Bounds, Mat3, Pose, Surface, Vec3};
use std::f64::consts::PI;

/// Maximum angle between the normal of a face and the pressure gradient. Faces beyond it lie at the back of the object
/// and are dropped; the force is discontinuous when a face crosses the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AngleLimit {
    cosine: f64,
}

impl Default for AngleLimit {
    /// 5π/8, as in Drake.
    fn default() -> Self {
        Self::radians(5.0 * PI / 8.0)
    }
}

impl AngleLimit {
    /// Keeps every face: the force is then continuous and conservative.
    pub const NONE: Self = Self { cosine: f64::NEG_INFINITY };

    /// Keeps faces below this angle (rad).
    pub fn radians(angle_rad: f64) -> Self {
        Self { cosine: angle_rad.cos() }
    }

    /// Cosine of the angle; −∞ for [`Self::NONE`].
    pub fn cosine(&self) -> f64 {
        self.cosine
    }

    pub(super) fn allows(&self, normal: Vec3, gradient: Vec3) -> bool {
        self.allows_slope(normal, gradient, gradient.length())
    }

    /// Like [`Self::allows`], with the length of the gradient given.
    pub(super) fn allows_slope(&self, normal: Vec3, gradient: Vec3, length: f64) -> bool {
        // A zero gradient defines no angle and causes no force.
        self.cosine == f64::NEG_INFINITY || length == 0.0 || normal.dot(gradient) > self.cosine * length
    }
}

/// Cell size, in facet sizes, for two closed-form fields: the facets of a cell are smaller than the cell.
const SMOOTH_CELL: f64 = 3.0;

/// Shape of a pressure field.
#[derive(Clone, Debug)]
pub enum PressureFieldShape {
    /// A field on tetrahedra.
    Tets(TetField),
    /// A field in closed form; its contact surfaces have facets of at most `facet_m`.
    Solid {
        /// The solid.
        solid: Solid,
        /// Maximum edge (m) of a facet where the field is curved.
        facet_m: f64,
        /// The same field on tetrahedra, for contact with a [`Self::Tets`].
        tets: Box<TetField>,
    },
    /// The half-space z ≤ 0, with e = −z/thickness.
    HalfSpace {
        /// Depth (m) of e = 1.
        thickness_m: f64,
    },
}

/// A compliant body: a pressure field.
#[derive(Clone, Debug)]
pub struct Compliance {
    shape: PressureFieldShape,
    material: Material,
    pieces: Vec<Piece>,
}

impl Compliance {
    /// A field on tetrahedra.
    pub fn tets(field: TetField, material: Material) -> Result<Self, SkinError> {
        Self::new(PressureFieldShape::Tets(field), material)
    }

    /// A field in closed form, with facets of a fortieth of its depth.
    pub fn solid(solid: Solid, material: Material) -> Result<Self, SkinError> {
        let facet_m = solid.depth_m() / 40.0;
        Self::solid_with_facets(solid, material, facet_m)
    }

    /// A field in closed form with facets of at most `facet_m` where it is curved.
    pub fn solid_with_facets(solid: Solid, material: Material, facet_m: f64) -> Result<Self, SkinError> {
        solid.validate()?;
        require_positive("facet", "m", facet_m)?;
        let tets = solid.tets(2.0 * facet_m).map_err(|error| SkinError::BadField { reason: error.to_string() })?;
        Self::new(PressureFieldShape::Solid { solid, facet_m, tets: Box::new(TetField::new(tets)) }, material)
    }

    /// A half-space z ≤ 0 with e = −z/`thickness_m`.
    pub fn half_space(thickness_m: f64, material: Material) -> Result<Self, SkinError> {
        require_positive("thickness", "m", thickness_m)?;
        Self::new(PressureFieldShape::HalfSpace { thickness_m }, material)
    }

    fn new(shape: PressureFieldShape, material: Material) -> Result<Self, SkinError> {
        material.validate()?;
        let pieces = material.law.pieces();
        Ok(Self { shape, material, pieces })
    }

    /// Shape of the field.
    pub fn shape(&self) -> &PressureFieldShape {
        &self.shape
    }

    /// Material of the body.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// Linear pieces of the pressure law.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The same shape with another material.
    pub fn with_material(&self, material: Material) -> Result<Self, SkinError> {
        Self::new(self.shape.clone(), material)
    }

    /// Extent at a given pressure (Pa).
    pub fn extent_at(&self, pressure_pa: f64) -> f64 {
        let piece = self.pieces.iter().rev().find(|piece| piece.at_pa <= pressure_pa).unwrap_or(&self.pieces[0]);
        piece.from + (pressure_pa - piece.at_pa) / piece.slope_pa
    }

    /// Depth (m) of e = 1.
    pub fn depth_m(&self) -> f64 {
        match &self.shape {
            PressureFieldShape::Tets(field) => field.solid().depth_m,
            PressureFieldShape::Solid { solid, .. } => solid.depth_m(),
            PressureFieldShape::HalfSpace { thickness_m } => *thickness_m,
        }
    }
}

/// One body of a pair.
#[derive(Clone, Copy, Debug)]
pub enum Side<'a> {
    /// A rigid surface.
    Rigid(&'a Surface),
    /// The rigid half-space z ≤ 0.
    RigidHalfSpace,
    /// A pressure field.
    Compliant(&'a Compliance),
}

impl<'a> Side<'a> {
    /// The material of a compliant body.
    pub fn material(&self) -> Option<&'a Material> {
        match self {
            Self::Compliant(compliance) => Some(&compliance.material),
            _ => None,
        }
    }
}

/// The contact surface of A and B, in A's frame.
pub fn contact(a: Side<'_>, b: Side<'_>, a_from_b: &Pose, limit: AngleLimit) -> Result<ContactSurface, SkinError> {
    match (a, b) {
        (Side::Compliant(a), Side::Compliant(b)) => both_compliant(a, b, a_from_b, limit),
        (Side::Compliant(a), rigid) => {
            let mut out = Builder::new(None, a.depth_m());
            one_rigid(a, rigid, a_from_b, -1.0, limit, &mut out)?;
            Ok(out.finish())
        }
        (rigid, Side::Compliant(b)) => {
            let mut out = Builder::new(Some(*a_from_b), b.depth_m());
            one_rigid(b, rigid, &a_from_b.inverse(), 1.0, limit, &mut out)?;
            Ok(out.finish())
        }
        _ => Err(SkinError::BothRigid),
    }
}

/// The contact surface of a field A and a rigid surface B, in A's frame, with the triangle of B that each polygon is part of.
/// The triangles of B are divided in a field in closed form, whose polygons are part of the divisions.
pub(super) fn traced_contact(
    a: &Compliance,
    b: &Surface,
    a_from_b: &Pose,
    limit: AngleLimit,
) -> Result<(ContactSurface, Vec<Origin>), SkinError> {
    let mut out = Builder::traced(a.depth_m());
    one_rigid(a, Side::Rigid(b), a_from_b, -1.0, limit, &mut out)?;
    Ok(out.finish_traced())
}

/// Contact of a field with a rigid side, computed in the frame of the field.
fn one_rigid(
    field: &Compliance,
    rigid: Side<'_>,
    field_from_rigid: &Pose,
    sign: f64,
    limit: AngleLimit,
    out: &mut Builder,
) -> Result<(), SkinError> {
    let pieces = &field.pieces;
    match (rigid, &field.shape) {
        (Side::Rigid(shell), shape) => {
            let rigid = Rigid { shell, field_from_shell: *field_from_rigid, sign };
            match shape {
                PressureFieldShape::Tets(tets) => rigid.on_tets(tets, pieces, limit, out),
                PressureFieldShape::Solid { solid, facet_m, .. } => {
                    rigid_on_solid(&rigid, solid, *facet_m, pieces, limit, out);
                }
                PressureFieldShape::HalfSpace { thickness_m } => rigid.on_half_space(*thickness_m, pieces, limit, out),
            }
        }
        (_, PressureFieldShape::Tets(tets)) => plane_on_tets(field_from_rigid, sign, tets, pieces, out),
        (_, PressureFieldShape::Solid { solid, facet_m, .. }) => {
            plane_on_solid(field_from_rigid, sign, solid, *facet_m, pieces, out);
        }
        (_, PressureFieldShape::HalfSpace { .. }) => return Err(SkinError::BothHalfSpaces),
    }
    Ok(())
}

/// Contact of two fields, computed in the frame of A, or of B if A is a half-space.
fn both_compliant(
    a: &Compliance,
    b: &Compliance,
    a_from_b: &Pose,
    limit: AngleLimit,
) -> Result<ContactSurface, SkinError> {
    let size = a.depth_m().min(b.depth_m());
    let b_from_a = a_from_b.inverse();
    let swapped = matches!(a.shape, PressureFieldShape::HalfSpace { .. });
    let (field, other, other_from_field, field_from_other, sign) =
        if swapped { (b, a, *a_from_b, b_from_a, 1.0) } else { (a, b, b_from_a, *a_from_b, -1.0) };
    let mut out = Builder::new(swapped.then_some(*a_from_b), size);
    match (&field.shape, &other.shape) {
        (PressureFieldShape::HalfSpace { .. }, _) => return Err(SkinError::BothHalfSpaces),
        (PressureFieldShape::Solid { solid, facet_m, .. }, shape) if !matches!(shape, PressureFieldShape::Tets(_)) => {
            let (shape, region, facet_m) = match shape {
                PressureFieldShape::Solid { solid: second, facet_m: second_m, .. } => {
                    let region = overlap(&solid.bounds(), &second.bounds(), a_from_b);
                    (Other::Solid(second), region, facet_m.min(*second_m))
                }
                _ => (Other::HalfSpace { thickness_m: other.depth_m() }, solid.bounds(), *facet_m),
            };
            let cell_m = SMOOTH_CELL * facet_m;
            let pieces = [&field.pieces[..], &other.pieces[..]];
            solids(solid, &shape, pieces, &other_from_field, &region, cell_m, sign, limit, &mut out);
        }
        (_, PressureFieldShape::HalfSpace { thickness_m }) => {
            let pieces = [&field.pieces[..], &other.pieces[..]];
            tets_on_half_space(on_tets(field)?, &field_from_other, *thickness_m, pieces, sign, limit, &mut out);
        }
        _ => return Ok(tets_on_tets(a, b, on_tets(a)?, on_tets(b)?, a_from_b, limit, size)),
    }
    Ok(out.finish())
}

/// The field on tetrahedra.
fn on_tets(compliance: &Compliance) -> Result<&TetField, SkinError> {
    match &compliance.shape {
        PressureFieldShape::Tets(field) => Ok(field),
        PressureFieldShape::Solid { tets, .. } => Ok(tets),
        PressureFieldShape::HalfSpace { .. } => Err(SkinError::BothHalfSpaces),
    }
}

/// Loops over the field with fewer tetrahedra and queries the hierarchy of the other.
fn tets_on_tets(
    a: &Compliance,
    b: &Compliance,
    a_tets: &TetField,
    b_tets: &TetField,
    a_from_b: &Pose,
    limit: AngleLimit,
    size: f64,
) -> ContactSurface {
    let swapped = a_tets.solid().mesh.tets().len() > b_tets.solid().mesh.tets().len();
    let mut out = Builder::new(swapped.then_some(*a_from_b), size);
    let (inner, outer, inner_pieces, outer_pieces, outer_from_inner, sign) = if swapped {
        (b_tets, a_tets, &b.pieces, &a.pieces, *a_from_b, 1.0)
    } else {
        (a_tets, b_tets, &a.pieces, &b.pieces, a_from_b.inverse(), -1.0)
    };
    let pair = TetPair { inner, inner_pieces, outer, outer_pieces, outer_from_inner, sign, limit };
    pair.meet(&mut out);
    out.finish()
}

/// Intersection of A's bounds with those of B, in A's frame.
fn overlap(a: &Bounds, b: &Bounds, a_from_b: &Pose) -> Bounds {
    let rotation = Mat3::from_quat(a_from_b.rotation);
    let half = b.size() * 0.5;
    let reach = rotation.x_axis.abs() * half.x + rotation.y_axis.abs() * half.y + rotation.z_axis.abs() * half.z;
    let middle = a_from_b.transform_point(b.center());
    Bounds { min: a.min.max(middle - reach), max: a.max.min(middle + reach) }
}
