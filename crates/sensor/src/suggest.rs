//! "Did you mean": the known name nearest to a misspelt one.

/// The known name that differs from `name` by few letters, as the end of a message: "; did you mean \"x\"?", or nothing.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let lower = name.to_lowercase();
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
    }
}
