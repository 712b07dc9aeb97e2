//! Friction of contact points on the GPU.

use crate::cuda_struct::cuda_struct;
use crate::precision::Scalar as _;
use dermis_skin::Friction;

/// Source of the kernels' friction, which follows the declaration of [`FrictionLaw`].
pub(crate) const FRICTION: &str = include_str!("friction.cuh");

cuda_struct! {
    /// Friction in the layout of the kernels; see [`Friction`].
    #[derive(Default)]
    pub(crate) struct FrictionLaw<Scalar> {
        sigma0: Scalar,
        sigma1: Scalar,
        viscous: Scalar,
        pub mu_static: Scalar,
        mu_dynamic: Scalar,
        /// Stribeck velocity of LuGre friction, or regularisation velocity of Coulomb friction (m/s).
        speed: Scalar,
        /// 0 none, 1 LuGre, 2 Coulomb.
        kind: i32,
        /// 1 if bristles have a history, else 0.
        pub remembers: i32,
    }
}

impl<S> FrictionLaw<S> {
    /// True if there is friction.
    pub fn is_some(&self) -> bool {
        self.kind != 0
    }
}

impl FrictionLaw {
    /// The same law in single precision.
    pub fn in_single(&self) -> FrictionLaw<f32> {
        FrictionLaw {
            sigma0: f32::rounded(self.sigma0),
            sigma1: f32::rounded(self.sigma1),
            viscous: f32::rounded(self.viscous),
            mu_static: f32::rounded(self.mu_static),
            mu_dynamic: f32::rounded(self.mu_dynamic),
            speed: f32::rounded(self.speed),
            kind: self.kind,
            remembers: self.remembers,
        }
    }
}

impl From<Friction> for FrictionLaw {
    fn from(friction: Friction) -> Self {
        match friction {
            Friction::None => Self::default(),
            Friction::Lugre(lugre) => Self {
                sigma0: lugre.stiffness_newton_per_m,
                sigma1: lugre.damping_newton_s_per_m,
                viscous: lugre.viscous_newton_s_per_m,
                mu_static: lugre.mu_static,
                mu_dynamic: lugre.mu_dynamic,
                speed: lugre.stribeck_m_per_s,
                kind: 1,
                remembers: 1,
            },
            Friction::Coulomb(coulomb) => Self {
                mu_static: coulomb.mu,
                mu_dynamic: coulomb.mu,
                speed: coulomb.regularisation_m_per_s,
                kind: 2,
                ..Self::default()
            },
        }
    }
}
