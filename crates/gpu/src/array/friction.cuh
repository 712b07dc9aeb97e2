// Friction of one contact point: `dermis_skin::Friction` with the same operations and the same rounding.

#define NO_FRICTION 0
#define LUGRE 1
#define COULOMB 2
// exp(−x) uses a series for x below this value.
#define SMALL_EXPONENT 0.05

// exp(−x) and φ = (1 − exp(−x)) / x.
__device__ __forceinline__ void decay(Scalar x, Scalar& exponential, Scalar& phi) {
    if (x < Scalar(SMALL_EXPONENT)) {
        Scalar xx = x * x;
        Scalar low = (1.0f - x * 0.5f) + xx * ((Scalar(1.0 / 6.0) - x * Scalar(1.0 / 24.0)) + xx * Scalar(1.0 / 120.0));
        Scalar high = (Scalar(1.0 / 720.0) - x * Scalar(1.0 / 5040.0)) + xx * (Scalar(1.0 / 40320.0) - x * Scalar(1.0 / 362880.0));
        phi = low - xx * xx * x * high;
        exponential = 1.0f - x * phi;
    } else {
        Scalar lost = expm1(-x);
        exponential = 1.0f + lost;
        phi = -lost / x;
    }
}

// Rotates a deflection (m) with the contact plane, by the smallest rotation from one normal to the other.
__device__ Vec3 carried(Vec3 z, Vec3 from, Vec3 to) {
    if (from.x == to.x && from.y == to.y && from.z == to.z) return z;
    Scalar cosine = dot(from, to), one_and_cosine = 1.0f + cosine;
    Vec3 t;
    if (one_and_cosine > Scalar(IS_SINGLE ? 1e-2 : 1e-6)) {
        t = z - from * (dot(from + to, z) / one_and_cosine);
    } else if (cosine < -Scalar(1.0 - 2.0 * (IS_SINGLE ? 1.1920929e-7 : 2.220446049250313e-16))) {
        // Opposite normals: a rotation by 180° about the axis that the CPU chooses.
        Scalar sign = copysign(Scalar(1.0), from.z), a = -1.0f / (sign + from.z), b = from.x * from.y * a;
        t = rotate(Quat{b, sign + from.y * from.y * a, -from.y, 6.123233995736766e-17}, z);
    } else {
        Vec3 c = cross(from, to);
        Scalar recip = 1.0f / sqrt(dot(c, c) + one_and_cosine * one_and_cosine);
        Vec3 axis = c * recip;
        t = rotate(Quat{axis.x, axis.y, axis.z, one_and_cosine * recip}, z);
    }
    return t - to * dot(t, to);
}

// The vector, shortened to at most `limit`.
__device__ __forceinline__ Vec3 bounded(Vec3 a, Scalar limit) {
    Scalar length = sqrt(dot(a, a));
    return length > limit ? a * (limit / length) : a;
}

// Friction on the sensor (N) and the bristle's deflection z (m) after dt:
//   LuGre    ż = v − σ₀|v| z / g,  g = f_n (μ_d + (μ_s − μ_d) exp(−(|v|/v_s)²)),  force = σ₀ z + σ₁ ż + c_t v;  v held over the step;
//            |σ₀ z| and |force| are at most μ_s f_n
//   Coulomb  force = μ f_n v / max(|v|, v₀)
// v: velocity (m/s) of the object in the contact plane; load: f_n (N); mu: factor on μ; share: fraction of a texel.
__device__ __forceinline__ void friction_force(const FrictionLaw& law, Vec3 v, Scalar load, Scalar mu, Scalar share, Scalar dt, Vec3& z,
                                               Vec3& force) {
    Scalar mu_static = law.mu_static * mu, mu_dynamic = law.mu_dynamic * mu;
    Vec3 zero = vec3(0.0, 0.0, 0.0);
    if (law.kind == NO_FRICTION) {
        z = zero;
        force = zero;
        return;
    }
    Scalar squared = dot(v, v), speed = sqrt(squared);
    if (law.kind == COULOMB) {
        z = zero;
        force = v * (mu_static * fmax(load, Scalar(0.0)) / fmax(speed, law.speed));
        return;
    }
    Scalar fall, left, phi;
    decay(squared / (law.speed * law.speed), fall, phi);
    Scalar g = load * (mu_dynamic + (mu_static - mu_dynamic) * fall);
    bool steady = g > 0.0;
    Scalar a = steady ? law.sigma0 * share * speed / g : Scalar(0.0);
    decay(a * dt, left, phi);
    z = bounded(z, mu_static * load / (law.sigma0 * share));
    Scalar by = dt * phi;
    Vec3 next = steady ? z * left + v * by : zero;
    Vec3 rate = v - next * a;
    Vec3 bristles = steady ? next * law.sigma0 + rate * law.sigma1 : zero;
    force = load > 0.0 ? bounded((bristles + v * law.viscous) * share, mu_static * load) : zero;
    z = next;
}
