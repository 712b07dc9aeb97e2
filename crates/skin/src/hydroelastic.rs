//! Hydroelastic contact: pressure fields in equilibrium.

mod bristles;
mod compliant;
mod contact;
mod field;
mod gradient;
mod material;
mod polygon;
mod rigid;
mod smooth;
mod solid;
mod surface;

pub use bristles::Bristles;
pub use contact::{AngleLimit, Compliance, PressureFieldShape, Side, contact};
pub use field::{Cell, TetField};
pub use material::{Material, Piece, PressureLaw};
pub use solid::Solid;
pub use surface::{ContactSurface, Face};

use crate::frictions::Frictions;
use crate::{
    Corner, Facet, Friction, ImplicitContact, ImplicitPoint, Load, Motion, PointLoads, Skin, SkinError, SkinGradient,
    State, Support, Tangent, Target, Touch, TouchCotangent, Warning, require_positive,
};
use bristles::Held;
use dermis_geometry::{Surface, TriMesh, Vec3};

/// Friction and angle limit of a hydroelastic skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HydroelasticParameters {
    /// Friction **per unit area** of contact: stiffness in N/m per m² (Pa/m), and so on.
    pub friction: Friction,
    /// Maximum angle of the faces in contact.
    pub angle_limit: AngleLimit,
}

impl Default for HydroelasticParameters {
    fn default() -> Self {
        Self { friction: Friction::None, angle_limit: AngleLimit::default() }
    }
}

/// A skin whose body holds a pressure field (Elandt et al. 2019; Patzelt et al. 2023).
///
/// Contact occurs where the fields of sensor and object are equal, or where a rigid surface lies in a field
/// ([`contact`]). At a point with static pressure p and normal n (out of the sensor), an object that moves at v
/// relative to the sensor exerts the pressure
/// ```text
/// σ = max(p (1 − d* v·n), 0)        d* = Σ (E*/Eᵢ) dᵢ,  E* = E_A E_B/(E_A + E_B)        (Hunt and Crossley)
/// ```
/// and the traction of [`Friction`] under σ. Both are computed at the corners of the polygons and are linear between
/// them; since friction is bounded by μσ at the corners, it is bounded everywhere.
///
/// Differs from the papers: bristles on the contact surface (see [`Bristles`]); dissipation at the corners instead of
/// at the centroid of each polygon. Beyond the deepest point of the field the force decreases with depth: facets that
/// reach it are reported as saturated.
#[derive(Clone, Debug)]
pub struct Hydroelastic {
    body: SensorBody,
    parameters: HydroelasticParameters,
    pressed: Vec<Support>,
}

/// The sensor's side of a contact.
#[derive(Clone, Debug)]
enum SensorBody {
    Rigid(Box<Surface>),
    Compliant(Box<Compliance>),
}

/// Extent above which a facet is reported as saturated.
pub const DEEPEST: f64 = 1.0 - 1e-6;

impl Hydroelastic {
    /// A compliant sensor. The boundary of its tetrahedra or solid is the surface for [`Skin::fully_pressed`]; a
    /// half-space has none.
    pub fn new(body: Compliance, parameters: HydroelasticParameters) -> Result<Self, SkinError> {
        let bad = |reason: String| SkinError::BadField { reason };
        let surface = match body.shape() {
            PressureFieldShape::Tets(field) => Some(field.solid().mesh.boundary().map_err(|e| bad(e.to_string()))?),
            PressureFieldShape::Solid { solid, .. } => {
                Some(solid.surface(0.25 * solid.depth_m()).map_err(|e| bad(e.to_string()))?)
            }
            PressureFieldShape::HalfSpace { .. } => None,
        };
        Self::with_surface(body, surface.as_ref(), parameters)
    }

    /// A compliant sensor with a given surface: for a half-space, or if the boundary of the tetrahedra is not the
    /// surface of the body (a lattice).
    pub fn with_surface(
        body: Compliance,
        surface: Option<&TriMesh>,
        parameters: HydroelasticParameters,
    ) -> Result<Self, SkinError> {
        parameters.friction.validate()?;
        let pressed = surface.map_or_else(Vec::new, |mesh| fully_pressed(&body, mesh, &parameters.friction));
        Ok(Self { body: SensorBody::Compliant(Box::new(body)), parameters, pressed })
    }

    /// A rigid sensor, which makes contact only with compliant objects.
    pub fn rigid(surface: TriMesh, parameters: HydroelasticParameters) -> Result<Self, SkinError> {
        parameters.friction.validate()?;
        Ok(Self { body: SensorBody::Rigid(Box::new(Surface::new(surface))), parameters, pressed: Vec::new() })
    }

    /// The sensor's field, if it is compliant.
    pub fn compliance(&self) -> Option<&Compliance> {
        match &self.body {
            SensorBody::Rigid(_) => None,
            SensorBody::Compliant(compliance) => Some(compliance),
        }
    }

    /// Friction and angle limit.
    pub fn parameters(&self) -> &HydroelasticParameters {
        &self.parameters
    }

    fn side(&self) -> Side<'_> {
        match &self.body {
            SensorBody::Rigid(surface) => Side::Rigid(surface),
            SensorBody::Compliant(compliance) => Side::Compliant(compliance),
        }
    }

    /// The static contact surface with one object, in the sensor's frame.
    pub fn surface_with(&self, target: &Target<'_>) -> Result<ContactSurface, SkinError> {
        contact(self.side(), side_of(target), &target.sensor_from_object, self.parameters.angle_limit)
    }

    /// The field that defines depth: that of the sensor, otherwise that of the object.
    fn gauge<'a>(&'a self, target: &'a Target<'_>) -> Option<&'a Compliance> {
        self.compliance().or(target.object.compliance.as_ref())
    }
}

fn side_of<'a>(target: &Target<'a>) -> Side<'a> {
    match &target.object.compliance {
        Some(compliance) => Side::Compliant(compliance),
        None => Side::Rigid(&target.object.surface),
    }
}

/// One step of the contact with one object.
struct Step<'a> {
    skin: &'a Hydroelastic,
    target: &'a Target<'a>,
    index: u32,
    friction: &'a Friction,
    dt_s: f64,
    dissipation: f64,
}

impl Step<'_> {
    fn facet(&self, surface: &ContactSurface, face: &Face, held: &[Vec3], next: &mut Vec<(Vec3, Vec3)>) -> Facet {
        let friction = self.friction;
        let (at, pressures) = (surface.corners(face), surface.pressures_pa(face));
        let mut corners = Vec::with_capacity(at.len());
        let mut deepest = 0.0f64;
        for ((&at, &pressure), &held) in at.iter().zip(pressures).zip(held) {
            let velocity = self.target.velocity.at(at);
            let parting = velocity.dot(face.normal);
            let pressure_pa = (pressure * (1.0 - self.dissipation * parting)).max(0.0);
            let slip = velocity - face.normal * parting;
            let (deflection, shear_pa) = friction.step(held, slip, pressure_pa, 1.0, self.dt_s);
            next.push((at, deflection));
            corners.push(Corner { at, pressure_pa, shear_pa });
            deepest = deepest.max(pressure);
        }
        let (extent, depth_m) = self.skin.gauge(self.target).map_or((0.0, 0.0), |field| {
            let extent = field.extent_at(deepest);
            (extent, extent * field.depth_m())
        });
        Facet {
            object: self.index,
            normal: face.normal,
            depth_m,
            saturated: extent >= DEEPEST,
            tangent: self.tangent(surface, face),
            load: Load::Polygon(corners),
        }
    }

    fn tangent(&self, surface: &ContactSurface, face: &Face) -> Tangent {
        let (mut area, mut newton) = (0.0, 0.0);
        for (part, _, p) in surface.triangles(face) {
            area += part;
            newton += (p[0] + p[1] + p[2]) * (part / 3.0);
        }
        let (stiffness, damping) = self.friction.tangent(newton / area, 1.0);
        Tangent {
            stiffness_normal: face.stiffness_pa_per_m * area,
            stiffness_tangential: stiffness * area,
            damping_normal: self.dissipation * newton,
            damping_tangential: damping * area,
        }
    }
}

impl Skin for Hydroelastic {
    fn rest(&self) -> State {
        State::Hydroelastic(Bristles::default())
    }

    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        require_positive("dt", "s", dt_s)?;
        motion.check()?;
        let State::Hydroelastic(bristles) = state else {
            return Err(SkinError::OtherSkin { expected: "hydroelastic" });
        };
        bristles.check()?;
        let remembers = matches!(self.parameters.friction, Friction::Lugre(_));
        let mut held = Held::new(bristles);
        let frictions = Frictions::new(self.parameters.friction, motion);
        let mut next = Bristles::default();
        let mut facets = Vec::new();
        let (mut deflections, mut samples) = (Vec::new(), Vec::new());
        for (index, target) in motion.targets.iter().enumerate() {
            let surface = self.surface_with(target)?;
            let index = index as u32;
            let dissipation = material::dissipation(
                self.compliance().map(Compliance::material),
                target.object.compliance.as_ref().map(Compliance::material),
            );
            let step = Step { skin: self, target, index, friction: frictions.of(index), dt_s, dissipation };
            facets.reserve(surface.faces().len());
            for face in surface.faces() {
                let corners = surface.corners(face);
                if remembers {
                    held.find(index, face, corners, &mut deflections);
                } else {
                    deflections.clear();
                    deflections.resize(corners.len(), Vec3::ZERO);
                }
                samples.clear();
                facets.push(step.facet(&surface, face, &deflections, &mut samples));
                if remembers {
                    next.push(index, face, samples.iter().copied());
                }
            }
        }
        next.set_frictions(frictions);
        Ok((Touch::from_facets(facets, motion.targets.len()), State::Hydroelastic(next)))
    }

    /// Objects that are no solid with outward faces, and whose faces the angle limit has all dropped. A solid may graze the skin
    /// with a side alone.
    fn missed(&self, touch: &Touch, motion: &Motion<'_>) -> Vec<Warning> {
        let any_angle = |target: &Target<'_>| {
            contact(self.side(), side_of(target), &target.sensor_from_object, AngleLimit::NONE)
                .is_ok_and(|surface| !surface.faces().is_empty())
        };
        let is_missed = |(object, target): (u32, &Target<'_>)| {
            let is_free = touch.facets.objects().all(|touched| touched != object);
            let is_missed = is_free && !target.object.surface.is_closed() && any_angle(target);
            is_missed.then_some(Warning::FacesAway { object })
        };
        (0..).zip(motion.targets).filter_map(is_missed).collect()
    }

    fn vjp(
        &self,
        touch: &Touch,
        _state: &State,
        target: &Target<'_>,
        cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        self.gradient(touch, target, cotangent)
    }

    /// One point per corner: a traction that is linear over each triangle acts as a third of the triangle's area at each
    /// corner, at half the way from the corner to the middle of the opposite edge.
    fn hold(&self, (touch, state): &(Touch, State)) -> Option<ImplicitContact> {
        let State::Hydroelastic(bristles) = state else { return None };
        let mut held = bristles.samples().iter().map(|sample| sample.1);
        let mut points = Vec::new();
        for facet in &touch.facets {
            let Load::Polygon(corners) = &facet.load else { return None };
            let area_m2 = facet.area_m2();
            let newton = facet.normal_force();
            let dissipation = if newton > 0.0 { facet.tangent.damping_normal / newton } else { 0.0 };
            let mut shares = vec![(0.0, Vec3::ZERO); corners.len()];
            for i in 2..corners.len() {
                let triangle = [0, i - 1, i];
                let [a, b, c] = triangle.map(|corner| corners[corner].at);
                let third = (b - a).cross(c - a).length() / 6.0;
                for (corner, at) in triangle.into_iter().zip([a, b, c]) {
                    shares[corner].0 += third;
                    shares[corner].1 += (at + a + b + c) * (0.25 * third);
                }
            }
            for (corner, (share, moment)) in corners.iter().zip(shares) {
                points.push(ImplicitPoint {
                    object: facet.object,
                    at: corner.at,
                    arm: if share > 0.0 { moment / share } else { corner.at },
                    normal: facet.normal,
                    newton: corner.pressure_pa * share,
                    stiffness: facet.tangent.stiffness_normal / area_m2 * share,
                    damping: dissipation * corner.pressure_pa * share,
                    deflection_m: held.next().unwrap_or_default(),
                    share,
                });
            }
        }
        let static_loads = touch.on_objects.iter().map(|load| -*load).collect();
        Some(ImplicitContact::with_frictions(points, bristles.frictions().clone(), static_loads))
    }

    fn release(&self, still: (Touch, State), contact: ImplicitContact, loads: &PointLoads) -> (Touch, State) {
        let (mut touch, mut state) = still;
        let loads = contact.in_order(loads);
        let mut points = loads.iter();
        for facet in touch.facets.list_mut() {
            let Load::Polygon(corners) = &mut facet.load else { continue };
            for (corner, load) in corners.iter_mut().zip(&mut points) {
                if load.share > 0.0 {
                    corner.pressure_pa = load.normal_newton / load.share;
                    corner.shear_pa = load.friction / load.share;
                }
            }
        }
        if let State::Hydroelastic(bristles) = &mut state {
            bristles.set_deflections(loads.iter().map(|load| load.deflection_m));
        }
        (touch.resummed(), state)
    }

    /// One entry per triangle of the surface, without dissipation, which depends on the unknown load.
    fn fully_pressed(&self) -> Vec<Support> {
        self.pressed.clone()
    }

    fn max_depth_m(&self) -> f64 {
        match &self.body {
            SensorBody::Rigid(surface) => 0.5 * surface.bounds().size().min_element(),
            SensorBody::Compliant(compliance) => compliance.depth_m(),
        }
    }

    fn mu(&self) -> Option<f64> {
        self.parameters.friction.mu()
    }

    fn holds_shear(&self, _object: &crate::Object) -> bool {
        matches!(self.parameters.friction, Friction::Lugre(_))
    }
}

fn fully_pressed(body: &Compliance, mesh: &TriMesh, friction: &Friction) -> Vec<Support> {
    let steepest_pa = body.material().law.steepest_pa();
    let (stiffness, damping) = friction.tangent(0.0, 1.0);
    (0..mesh.triangles().len())
        .map(|t| {
            let [a, b, c] = mesh.corners(t);
            let (at, area, normal) = ((a + b + c) / 3.0, mesh.area_vector(t).length(), mesh.face_normal(t));
            let below = at - normal * (1e-6 * body.depth_m());
            let gradient = match body.shape() {
                PressureFieldShape::Tets(field) => field.extent_at(below).map(|(_, gradient)| gradient),
                PressureFieldShape::Solid { solid, .. } => Some(solid.gradient(below)),
                PressureFieldShape::HalfSpace { .. } => None,
            };
            let slope = gradient.map_or(1.0 / body.depth_m(), |g| g.length());
            let tangent = Tangent {
                stiffness_normal: steepest_pa * slope * area,
                stiffness_tangential: stiffness * area,
                damping_normal: 0.0,
                damping_tangential: damping * area,
            };
            Support { at, normal, tangent }
        })
        .collect()
}
