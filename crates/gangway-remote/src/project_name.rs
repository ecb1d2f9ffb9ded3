//! Valid project names.

pub const PROJECT_NAMES: &str =
    "names of at most 64 letters, digits, spaces, ., _ and -, beginning with a letter or digit";

#[must_use]
pub fn is_project_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    begins && name.len() <= 64 && !name.ends_with(' ') && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_projects_are_plain() {
        for good in ["shop", "My shop 2", "a.b_c-d", "7"] {
            assert!(is_project_name(good), "{good:?}");
        }
        let long = "x".repeat(65);
        for bad in ["", " a", "a ", "-a", "a/b", "..", "ä", "a\n", long.as_str()] {
            assert!(!is_project_name(bad), "{bad:?}");
        }
    }
}
