//! Texts as lists compare them.

/// The most characters that texts are compared by, so that a key and a position of a cursor have a bound.
pub const COMPARED_CHARACTERS: usize = 512;

/// A text after case folding (each character in upper case, then in lower case), as every engine sorts it alike.
pub fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).take(COMPARED_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_no_difference_and_the_length_has_a_bound() {
        assert_eq!(folded("Straße ÅSE"), folded("STRASSE åse"));
        assert_eq!(folded(&"x".repeat(COMPARED_CHARACTERS + 1)).len(), COMPARED_CHARACTERS);
    }
}
