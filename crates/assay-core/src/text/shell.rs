//! Words of a command that is shown to be copied, or handed to a shell.

use super::harmless::is_dangerous;

/// A word of a command that is shown to be copied, as the shell of this system takes it: a POSIX shell, on Windows PowerShell
/// and cmd. It is one line, [`harmless`], and left as it is where it holds nothing that a shell knows.
///
/// [`harmless`]: super::harmless()
#[must_use]
pub fn shell(word: &str) -> String {
    if cfg!(windows) { windows_shell(word) } else { posix_shell(word) }
}

/// A word that is handed to a POSIX shell, which takes it exactly as it stands, line breaks and all.
#[must_use]
pub fn posix_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn posix_shell(word: &str) -> String {
    if is_plain(word, "/._-+=:,@%") {
        return word.to_owned();
    }
    if !word.contains(is_dangerous) {
        return posix_word(word);
    }
    // What no terminal may get is written by its code, which printf(1) turns back. A line break at the very end is lost.
    let mut codes = String::new();
    for c in word.chars() {
        if is_dangerous(c) || "'\\%".contains(c) {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| codes.push_str(&format!("\\{byte:03o}")));
        } else {
            codes.push(c);
        }
    }
    // An option of printf(1) begins with a hyphen.
    if let Some(rest) = codes.strip_prefix('-') {
        codes = format!("\\055{rest}");
    }
    format!("\"$(printf '{codes}')\"")
}

/// For PowerShell and cmd. Double quotes are the only ones that both know; what PowerShell expands between them gets
/// its backquote. cmd takes that for a part of the word: there such a command fails, and does nothing else.
fn windows_shell(word: &str) -> String {
    if is_plain(word, "\\/._-+=:@") {
        return word.to_owned();
    }
    let mut out = String::from("\"");
    for c in word.chars() {
        match c {
            // PowerShell ends a string with these, too (about_Quoting_Rules).
            '$' | '`' | '\u{201c}'..='\u{201e}' => out.extend(['`', c]),
            // No name of a file holds one.
            '"' => out.push('\u{fffd}'),
            c if is_dangerous(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    // Before the closing quote a backslash would make it a part of the word (CommandLineToArgvW).
    let slashes = out.len() - out.trim_end_matches('\\').len();
    out.extend(std::iter::repeat_n('\\', slashes));
    out.push('"');
    out
}

fn is_plain(word: &str, signs: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
    // A word that begins with `=` is the path of a program in zsh.
    !word.is_empty() && word.chars().all(plain) && !word.starts_with('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_nothing_special_stays_as_it_is() {
        for word in ["/dev/sdb1", "/media/u/SD_CARD", "a=b", "--label", "1.5"] {
            assert_eq!(posix_shell(word), word);
        }
        assert_eq!(posix_shell(""), "''");
        assert_eq!(windows_shell(r"D:\cards"), r"D:\cards");
        assert_eq!(posix_shell("/media/My Stick"), "'/media/My Stick'");
        assert_eq!(windows_shell(r"D:\My Stick\"), r#""D:\My Stick\\""#);
    }

    #[cfg(unix)]
    mod with_a_shell {
        use super::*;
        use proptest::prelude::*;
        use std::process::Command;

        fn through_a_shell(word: &str) -> String {
            let line = format!("printf '%s|' {}", posix_shell(word));
            let output = Command::new("sh").args(["-c", &line]).output().unwrap();
            assert!(output.status.success(), "{line}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        }

        #[test]
        fn labels_that_are_commands_are_words() {
            for word in
                ["x;touch pwned", "$(id)", "`id`", "a'b", "~", "#x", "-n", "=ls", "*", "a\\nb", "!x", "<>", "a&b|c"]
            {
                assert_eq!(through_a_shell(word), format!("{word}|"));
            }
            for word in ["a\nb", "-x\u{1b}[2J", "\u{202e}gpj.exe %s 'x' \\101", "é\u{9b}"] {
                assert_eq!(through_a_shell(word), format!("{word}|"));
                assert!(!posix_shell(word).contains(is_dangerous));
            }
        }

        proptest! {
            #![proptest_config(ProptestConfig::with_cases(64))]
            #[test]
            fn a_shell_gives_any_word_back(word in "[^\0]{1,20}[^\0\n]") {
                prop_assert_eq!(through_a_shell(&word), format!("{word}|"));
                prop_assert!(!posix_shell(&word).contains(is_dangerous));
            }
        }
    }

    /// What PowerShell and cmd do of it is from their documentation: none of them is here.
    #[test]
    fn on_windows_nothing_ends_the_quotes_and_nothing_is_expanded() {
        assert_eq!(windows_shell("a & calc"), r#""a & calc""#);
        assert_eq!(windows_shell("$(calc)`x\u{201d};calc"), "\"`$(calc)``x`\u{201d};calc\"");
        assert_eq!(windows_shell("a\"b\u{1b}"), "\"a\u{fffd}b\u{fffd}\"");
        assert_eq!(windows_shell(""), "\"\"");
    }
}
