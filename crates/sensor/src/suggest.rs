//! "Did you mean": the known name nearest to a misspelt one.

/// Names of other programs, and ours.
const SYNONYMS: [(&str, &str); 9] = [
    ("ball", "sphere"),
    ("box", "cuboid"),
    ("cube", "cuboid"),
    ("block", "cuboid"),
    ("rod", "cylinder"),
    ("dt", "time_step"),
    ("poisson_ratio", "poisson"),
    ("youngs_modulus", "young"),
    ("stiffness", "young"),
];

/// The known name that differs from `name` by few letters, as the end of a message: "; did you mean \"x\"?", or nothing.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let lower = name.to_lowercase();
    let known: Vec<&str> = known.into_iter().collect();
    let synonym = SYNONYMS.iter().find(|(other, ours)| *other == lower && known.contains(ours));
    if let Some((_, ours)) = synonym {
        return format!("; did you mean {ours:?}?");
    }
    let distance = |known: &str| strsim::damerau_levenshtein(&lower, &known.to_lowercase());
    let nearest = known.into_iter().map(|known| (distance(known), known)).min_by_key(|(distance, _)| *distance);
    match nearest {
        Some((distance, known)) if distance <= (name.chars().count() / 3).max(1) && distance > 0 => {
            format!("; did you mean {known:?}?")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let known = ["wts0614", "uji-foam-14x6", "fingertip"];
        assert_eq!(did_you_mean("wst0614", known), "; did you mean \"wts0614\"?");
        assert_eq!(did_you_mean("Fingertip", known), "");
        assert_eq!(did_you_mean("fingetip", known), "; did you mean \"fingertip\"?");
        assert_eq!(did_you_mean("camera", known), "");
        assert_eq!(did_you_mean("Box", ["sphere", "cuboid"]), "; did you mean \"cuboid\"?");
        assert_eq!(did_you_mean("box", known), "");
    }
}
