//! The names of what tools make.

/// The file that a tool makes which lets its caller name it.
pub const FILE: &str = "original";

/// Whether a tool that names its files itself gives such a name, in a directory of its own: PostMark `17`, f3 `1.h2w`,
/// bonnie++ `Bonnie.4711`, and with a thread behind it.
#[must_use]
pub fn is_known(name: &str) -> bool {
    let digits = |text: &str| (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let bonnie = |rest: &str| rest.split('.').count() <= 2 && rest.split('.').all(digits);
    digits(name.strip_suffix(".h2w").unwrap_or(name)) || name.strip_prefix("Bonnie.").is_some_and(bonnie)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_make_is_known_again_and_nothing_else() {
        for name in ["1", "25000", "1.h2w", "12.h2w", "Bonnie.21318", "Bonnie.21318.003"] {
            assert!(is_known(name), "{name}");
        }
        for name in ["", ".h2w", "1.h2w2", "a", "12345678901", "Bonnie.", "Bonnie.1.2.3", "Bonnie.x", "thesis.tex"] {
            assert!(!is_known(name), "{name}");
        }
    }
}
