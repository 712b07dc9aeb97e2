//! An elastic layer bonded to a rigid base, solved as elasticity says.

mod complementarity;
mod fourier;
mod kernel;
mod material;
mod product;
mod radial;
mod transfer;

pub use complementarity::{Complementarity, Effort};
pub use kernel::{Functions, Influence, Pair, Parity};
pub use material::{Poisson, Sheet};
pub use product::{Influences, Product, Region};
pub use transfer::{Answer, Stack};
