//! The friction between a skin and a geom.
//!
//! The skin takes the place of the geoms under it, with the priority 0. As in MuJoCo, the friction of the side with the higher
//! priority counts. Of equal priorities MuJoCo takes the larger friction; here it is the **smaller**, because every geom without a
//! friction of its own has MuJoCo's default of 1, which would replace the friction of nearly every sensor. The sliding
//! friction of the geom (`friction[0]`) is compared with the static coefficient of the skin.

use crate::Model;
use std::cmp::Ordering;

/// Static coefficient of friction of a skin with `skin_mu` and a geom.
pub(crate) fn pair_mu(model: &Model<'_>, geom: usize, skin_mu: f64) -> f64 {
    mu_of(skin_mu, model.geom_friction(geom), model.geom_priority(geom))
}

fn mu_of(skin_mu: f64, friction: f64, priority: i32) -> f64 {
    match priority.cmp(&0) {
        Ordering::Less => skin_mu,
        Ordering::Equal => friction.min(skin_mu),
        Ordering::Greater => friction,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_higher_priority_or_the_smaller_friction_counts() {
        for (friction, priority, mu) in [
            (1.0, 0, 0.4),
            (0.01, 0, 0.01),
            (0.01, -1, 0.4),
            (2.0, 0, 0.4),
            (2.0, 1, 2.0),
            (0.01, 1, 0.01),
            (0.4, 0, 0.4),
        ] {
            assert_eq!(mu_of(0.4, friction, priority), mu, "{friction} {priority}");
        }
    }
}
