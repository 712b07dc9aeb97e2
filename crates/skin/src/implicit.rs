//! Contact whose force acts at the end of a step.
//!
//! An explicit step holds the force of its start over the step; it gains energy if the step is long for the stiffness
//! of the skin and the mass of the bodies. Here the force at the end of the step is a function of the velocity with
//! which the bodies end it, and whoever moves the bodies solves for that velocity.
//!
//! [`crate::Skin::touch`] with the objects at rest gives the contact points, their static load N₀ and their bristles
//! z₀. The points are then held, and during a step h with the relative velocity v at its end a point has the load
//! ```text
//! N = max(N₀ − (h k w + d v)·n, 0)        T = friction of z₀, v, N over h        F_on_sensor = T − N n
//! ```
//! with its stiffness k, damping d and normal n. `w` is the part of `v` that the caller lets act on the springs within
//! the step; `w = v` is the backward Euler method. Friction advances its bristles with `v`. The load of bodies at rest
//! (v = 0) is the static one, and unilateral contact and friction cone hold for any velocity.

use crate::Friction;
use crate::friction_lanes::{FrictionLanes, LANES, set};
use crate::friction_slope::FrictionSlope;
use crate::simd::{Kernel, Simd, Vectors};
use dermis_geometry::{Mat3, Twist, Vec3, Wrench};

/// A 6 × 6 matrix, by rows; forces and velocities before torques and angular velocities.
pub type Matrix6 = [[f64; 6]; 6];

/// A contact point that is held during a step, in the sensor's frame.
#[derive(Clone, Copy, Debug)]
pub struct ImplicitPoint {
    /// Index of the object.
    pub object: u32,
    /// Position (m) whose velocity counts.
    pub at: Vec3,
    /// Position (m) where the force acts.
    pub arm: Vec3,
    /// Contact normal: unit, out of the sensor into the object.
    pub normal: Vec3,
    /// Static normal force (N).
    pub newton: f64,
    /// Normal stiffness (N/m).
    pub stiffness: f64,
    /// Normal damping (N s/m).
    pub damping: f64,
    /// Deflection (m) of the bristles before the step.
    pub deflection_m: Vec3,
    /// Scale of the friction: fraction of a texel, or area (m²).
    pub share: f64,
}

/// The load of a point at the end of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointLoad {
    /// Normal force (N), positive in compression.
    pub normal_newton: f64,
    /// Friction force on the sensor (N).
    pub friction: Vec3,
    /// Deflection (m) of the bristles after the step.
    pub deflection_m: Vec3,
}

/// Velocity of an object relative to the sensor, at the sensor's origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImplicitMotion {
    /// Velocity at the end of the step.
    pub velocity: Twist,
    /// Velocity whose displacement over the step acts on the springs.
    pub spring_velocity: Twist,
}

/// Load of an object on the sensor, about the sensor's origin, and its derivatives.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImplicitLoad {
    /// Load on the sensor.
    pub on_sensor: Wrench,
    /// Derivative with respect to the velocity.
    pub by_velocity: Matrix6,
    /// Derivative with respect to the spring velocity.
    pub by_spring_velocity: Matrix6,
}

/// Stiffness and slope of an object's contact points while all of them stick.
#[derive(Clone, Copy, Debug, Default)]
pub struct StickingSlope {
    /// Normal stiffness (N/m, N, N m).
    pub normal_stiffness: Matrix6,
    /// Derivative of the load with respect to the velocity, without the springs.
    pub by_velocity: Matrix6,
}

/// The contact points of a touch, held during a step.
#[derive(Clone, Debug)]
pub struct ImplicitContact {
    /// The points, in the order of the facets.
    pub points: Vec<ImplicitPoint>,
    /// Friction of a point of share 1.
    pub friction: Friction,
    /// Static load of each object on the sensor, about its origin.
    pub static_loads: Vec<Wrench>,
}

impl ImplicitPoint {
    /// Normal force (N), and the velocity (m/s) in the contact plane.
    #[inline(always)]
    fn press(&self, motion: &ImplicitMotion, dt_s: f64) -> (f64, Vec3) {
        let velocity = motion.velocity.at(self.at);
        let along = velocity.dot(self.normal);
        let spring = motion.spring_velocity.at(self.at).dot(self.normal);
        let newton = self.newton - (dt_s * self.stiffness * spring + self.damping * along);
        (newton.max(0.0), velocity - self.normal * along)
    }
}

impl ImplicitContact {
    /// Stiffness and slope of the points of each object, with bodies at rest.
    pub fn sticking(&self, dt_s: f64) -> Vec<StickingSlope> {
        Simd::up_to_avx2().run(Sticking { contact: self, dt_s })
    }

    /// Loads of the objects, whose motion is in the order of the targets, and their derivatives.
    pub fn respond(&self, motion: &[ImplicitMotion], dt_s: f64) -> Vec<ImplicitLoad> {
        Simd::up_to_avx2().run(Respond { contact: self, motion, dt_s })
    }

    /// The load of every point, and the sum on the sensor for each object.
    pub fn loads(&self, motion: &[ImplicitMotion], dt_s: f64) -> (Vec<PointLoad>, Vec<Wrench>) {
        Simd::up_to_avx2().run(Loads { contact: self, motion, dt_s })
    }
}

/// [`ImplicitContact::respond`]. With p = n − ∂T/∂N, the normal force has the derivative −(h k w + d v)·n p and friction
/// that of its slip, which has no component along the normal.
struct Respond<'a> {
    contact: &'a ImplicitContact,
    motion: &'a [ImplicitMotion],
    dt_s: f64,
}

impl Kernel for Respond<'_> {
    type Output = Vec<ImplicitLoad>;
    #[inline(always)]
    fn run<V: Vectors>(self) -> Self::Output {
        let Self { contact, motion, dt_s } = self;
        let mut sums = vec![ImplicitLoad::default(); motion.len()];
        for point in &contact.points {
            let sum = &mut sums[point.object as usize];
            let (newton, slip) = point.press(&motion[point.object as usize], dt_s);
            let (n, arm) = (point.normal, point.arm);
            let slope = FrictionSlope::of(&contact.friction, point, slip, newton, dt_s);
            sum.on_sensor += Wrench::from_force_at(slope.force - n * newton, arm);
            if newton > 0.0 {
                let along = slope.by_slip * n;
                let tangential = slope.by_slip - Mat3::from_cols(along * n.x, along * n.y, along * n.z);
                add(&mut sum.by_velocity, &tangential, arm);
                let p = n - slope.by_normal;
                let (p_moment, n_moment) = (arm.cross(p), arm.cross(n));
                let p = [p.x, p.y, p.z, p_moment.x, p_moment.y, p_moment.z];
                let n = [n.x, n.y, n.z, n_moment.x, n_moment.y, n_moment.z];
                for (i, p) in p.into_iter().enumerate() {
                    let (damping, stiffness) = (p * point.damping, p * (dt_s * point.stiffness));
                    for (j, n) in n.into_iter().enumerate() {
                        sum.by_velocity[i][j] += damping * n;
                        sum.by_spring_velocity[i][j] += stiffness * n;
                    }
                }
            }
        }
        sums
    }
}

/// [`ImplicitContact::sticking`]: sums of k jjᵀ with j = (n, r × n), and of the slopes of friction.
struct Sticking<'a> {
    contact: &'a ImplicitContact,
    dt_s: f64,
}

/// Points that are summed together.
const WIDTH: usize = 8;

impl Kernel for Sticking<'_> {
    type Output = Vec<StickingSlope>;
    #[inline(always)]
    fn run<V: Vectors>(self) -> Self::Output {
        let Self { contact, dt_s } = self;
        let mut slopes = vec![StickingSlope::default(); contact.static_loads.len()];
        for run in contact.points.chunk_by(|a, b| a.object == b.object) {
            let Some(slope) = run.first().and_then(|point| slopes.get_mut(point.object as usize)) else { continue };
            let mut normal = [[0.0; WIDTH]; 21];
            let mut excess = [[0.0; WIDTH]; 21];
            // Σ L, Σ L r, Σ L r rᵀ of the slope L of friction.
            let mut moments = [[0.0; WIDTH]; 10];
            for points in run.chunks(WIDTH) {
                let (mut j, mut r) = ([[0.0; WIDTH]; 6], [[0.0; WIDTH]; 3]);
                let (mut stiffness, mut damping, mut friction) = ([0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH]);
                for (lane, point) in points.iter().enumerate() {
                    let (n, arm) = (point.normal, point.arm);
                    (j[0][lane], j[1][lane], j[2][lane]) = (n.x, n.y, n.z);
                    (r[0][lane], r[1][lane], r[2][lane]) = (arm.x, arm.y, arm.z);
                    let (k, d) = contact.friction.tangent(point.newton, point.share);
                    (stiffness[lane], damping[lane]) = (point.stiffness, point.damping);
                    friction[lane] = if point.newton > 0.0 { dt_s * k + d } else { 0.0 };
                }
                for lane in 0..WIDTH {
                    j[3][lane] = r[1][lane] * j[2][lane] - r[2][lane] * j[1][lane];
                    j[4][lane] = r[2][lane] * j[0][lane] - r[0][lane] * j[2][lane];
                    j[5][lane] = r[0][lane] * j[1][lane] - r[1][lane] * j[0][lane];
                    damping[lane] -= friction[lane];
                }
                let mut entry = 0;
                for a in 0..6 {
                    for b in 0..=a {
                        for lane in 0..WIDTH {
                            let product = j[a][lane] * j[b][lane];
                            normal[entry][lane] += stiffness[lane] * product;
                            excess[entry][lane] += damping[lane] * product;
                        }
                        entry += 1;
                    }
                }
                let mut entry = 4;
                for a in 0..3 {
                    for lane in 0..WIDTH {
                        moments[a + 1][lane] += friction[lane] * r[a][lane];
                    }
                    for b in 0..=a {
                        for lane in 0..WIDTH {
                            moments[entry][lane] += friction[lane] * r[a][lane] * r[b][lane];
                        }
                        entry += 1;
                    }
                }
                for lane in 0..WIDTH {
                    moments[0][lane] += friction[lane];
                }
            }
            let sum = |lanes: &[f64; WIDTH]| lanes.iter().sum::<f64>();
            let mut entry = 0;
            for a in 0..6 {
                for b in 0..=a {
                    for (target, sums) in [(&mut slope.normal_stiffness, &normal), (&mut slope.by_velocity, &excess)] {
                        let value = sum(&sums[entry]);
                        target[a][b] += value;
                        if a != b {
                            target[b][a] += value;
                        }
                    }
                    entry += 1;
                }
            }
            isotropic(&mut slope.by_velocity, moments.each_ref().map(sum));
        }
        slopes
    }
}

/// Adds Σ L PᵀP for P = (1, −[r]×), from the moments of L.
fn isotropic(sum: &mut Matrix6, [l, x, y, z, xx, xy, yy, xz, yz, zz]: [f64; 10]) {
    let cross = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
    let corner = [[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]];
    for i in 0..3 {
        sum[i][i] += l;
        for j in 0..3 {
            sum[i][j + 3] -= cross[i][j];
            sum[i + 3][j] += cross[i][j];
            sum[i + 3][j + 3] += corner[i][j];
        }
    }
}

/// [`ImplicitContact::loads`].
struct Loads<'a> {
    contact: &'a ImplicitContact,
    motion: &'a [ImplicitMotion],
    dt_s: f64,
}

impl Kernel for Loads<'_> {
    type Output = (Vec<PointLoad>, Vec<Wrench>);
    #[inline(always)]
    fn run<V: Vectors>(self) -> Self::Output {
        let Self { contact, motion, dt_s } = self;
        let mut loads = Vec::with_capacity(contact.points.len());
        let mut sums = vec![Wrench::ZERO; motion.len()];
        let mut lanes = FrictionLanes::new();
        lanes.share = [1.0; LANES];
        for points in contact.points.chunks(LANES) {
            for (lane, point) in points.iter().enumerate() {
                let (newton, slip) = point.press(&motion[point.object as usize], dt_s);
                set(&mut lanes.deflection_m, lane, point.deflection_m);
                set(&mut lanes.velocity, lane, slip);
                (lanes.normal_newton[lane], lanes.share[lane]) = (newton, point.share);
            }
            lanes.step(&contact.friction, dt_s);
            for (lane, point) in points.iter().enumerate() {
                let (deflection_m, friction) = lanes.get(lane);
                let normal_newton = lanes.normal_newton[lane];
                sums[point.object as usize] +=
                    Wrench::from_force_at(friction - point.normal * normal_newton, point.arm);
                loads.push(PointLoad { normal_newton, friction, deflection_m });
            }
        }
        (loads, sums)
    }
}

/// Adds PᵀCP for P = (1, −[r]×), which maps a twist to the velocity at r.
#[inline(always)]
fn add(sum: &mut Matrix6, c: &Mat3, r: Vec3) {
    let cross = Mat3::from_cols(Vec3::new(0.0, r.z, -r.y), Vec3::new(-r.z, 0.0, r.x), Vec3::new(r.y, -r.x, 0.0));
    let right = *c * cross * -1.0;
    let (below, corner) = (cross * *c, cross * right);
    for i in 0..3 {
        for j in 0..3 {
            sum[i][j] += c.col(j)[i];
            sum[i][j + 3] += right.col(j)[i];
            sum[i + 3][j] += below.col(j)[i];
            sum[i + 3][j + 3] += corner.col(j)[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lugre;
    use dermis_geometry::Random;

    fn contact() -> ImplicitContact {
        let mut random = Random::new(11);
        let friction = Friction::Lugre(Lugre {
            stiffness_newton_per_m: 50.0,
            damping_newton_s_per_m: 0.05,
            viscous_newton_s_per_m: 0.01,
            mu_static: 0.5,
            mu_dynamic: 0.4,
            stribeck_m_per_s: 0.1,
        });
        let point = |i: u32| {
            let (at, normal) = (random.direction() * 0.02, random.direction());
            let deflection_m = normal.cross(random.direction()) * 1e-3;
            let newton = 0.2 + 0.01 * f64::from(i);
            ImplicitPoint {
                object: i % 2,
                at,
                arm: at,
                normal,
                newton,
                stiffness: 100.0,
                damping: 0.2,
                deflection_m,
                share: 1.0,
            }
        };
        ImplicitContact { points: (0..45).map(point).collect(), friction, static_loads: vec![Wrench::ZERO; 2] }
    }

    fn matrix(m: &Matrix6, twist: &Twist) -> [f64; 6] {
        let (v, w) = (twist.linear, twist.angular);
        let x = [v.x, v.y, v.z, w.x, w.y, w.z];
        m.map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum())
    }

    /// At rest the loads are static, and the sums of sticking points are the derivatives there.
    #[test]
    fn sticking_points_have_the_slope_at_rest() {
        let (contact, dt_s) = (contact(), 2e-3);
        let still = [ImplicitMotion::default(); 2];
        let (slopes, answers) = (contact.sticking(dt_s), contact.respond(&still, dt_s));
        let (loads, sums) = contact.loads(&still, dt_s);
        for (point, load) in contact.points.iter().zip(&loads) {
            assert_eq!((load.normal_newton, load.deflection_m), (point.newton, point.deflection_m));
        }
        for object in 0..2 {
            assert!((sums[object].force - answers[object].on_sensor.force).length() < 1e-12);
            for i in 0..6 {
                for j in 0..6 {
                    let spring = dt_s * slopes[object].normal_stiffness[i][j];
                    assert!((spring - answers[object].by_spring_velocity[i][j]).abs() < 1e-12);
                    let (a, b) = (slopes[object].by_velocity[i][j], answers[object].by_velocity[i][j]);
                    assert!((a - b).abs() < 1e-12, "{i} {j}: {a} {b}");
                }
            }
        }
    }

    /// The derivatives predict the change of the loads of moving points.
    #[test]
    fn derivatives_are_those_of_the_loads() {
        let (contact, dt_s, e) = (contact(), 2e-3, 1e-6);
        let mut random = Random::new(2);
        let base = Twist::new(random.direction() * 1e-3, random.direction() * 0.05);
        let change = Twist::new(random.direction(), random.direction() * 50.0);
        let motion = |s: f64| {
            let twist = Twist::new(base.linear + change.linear * s, base.angular + change.angular * s);
            [ImplicitMotion { velocity: twist, spring_velocity: twist }; 2]
        };
        let answers = contact.respond(&motion(0.0), dt_s);
        let (low, high) = (contact.loads(&motion(-e), dt_s).1, contact.loads(&motion(e), dt_s).1);
        for object in 0..2 {
            let a = matrix(&answers[object].by_velocity, &change);
            let b = matrix(&answers[object].by_spring_velocity, &change);
            let predicted = Vec3::new(a[0] + b[0], a[1] + b[1], a[2] + b[2]);
            let found = (high[object].force - low[object].force) / (2.0 * e);
            // The derivatives leave out the Stribeck effect.
            assert!((found - predicted).length() < 0.02 * found.length(), "{found} {predicted}");
        }
    }
}
