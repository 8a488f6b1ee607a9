//! Text that came from a device, a file or another host is never trusted. One function for each
//! place that text goes to; each takes any text and gives what cannot act there.
//!
//! | to | function |
//! | --- | --- |
//! | one line on a terminal | [`harmless`], [`label`], [`clean`], [`statement`]; in an error [`quoted`] |
//! | a file shown on a terminal | [`visible`] |
//! | HTML, SVG and XML, between tags and in quoted attributes | [`markup`] |
//! | Markdown, in a line or a table's cell | [`markdown`] |
//! | a cell of CSV | [`csv`] |
//! | a JSON document | [`json`] |
//! | a string in TOML | [`toml`] |
//! | a word of a command that is shown to be copied | [`shell()`] |
//! | a word that is handed to a POSIX shell | [`posix_word`] |
//! | an annotation of GitHub Actions | [`annotation`], [`annotation_property`] |

// Terminals.

/// `text` with everything a terminal could obey replaced by `�`: C0 and C1 controls, DEL, and
/// the Unicode characters that reorder or hide what stands around them. Line breaks are controls too,
/// so the result is one line.
#[must_use]
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_dangerous(c) { '\u{fffd}' } else { c }).collect()
}

/// A file as a terminal shows it: line breaks and tabs stay, everything else that a terminal could
/// obey is written as `\u001b`.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if is_dangerous(c) => push_escape(&mut out, c),
            c => out.push(c),
        }
    }
    out
}

/// [`harmless`] text, trimmed, runs of white space made one space, at most `limit` characters.
/// `None` where nothing is left.
#[must_use]
pub fn label(text: &str, limit: usize) -> Option<String> {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean: String = harmless(joined.trim_matches(['\0', ' '])).chars().take(limit).collect();
    (!clean.is_empty()).then_some(clean)
}

/// Longest name that is shown anywhere, in characters.
const LONGEST_NAME: usize = 160;

/// A name from elsewhere as [`label`] of bounded length; empty where nothing is left.
#[must_use]
pub fn clean(text: &str) -> String {
    label(text, LONGEST_NAME).unwrap_or_default()
}

/// Longest statement that is shown anywhere, in characters: several times what assay writes itself.
const LONGEST_STATEMENT: usize = 10_000;

/// A sentence, a cause or a reason from elsewhere as [`label`], whole unless it is absurdly long; empty where
/// nothing is left.
#[must_use]
pub fn statement(text: &str) -> String {
    label(text, LONGEST_STATEMENT).unwrap_or_default()
}

/// Most characters of what somebody typed or a file holds that an error repeats.
const LONGEST_QUOTE: usize = 80;

/// [`harmless`] text between backquotes, for a message in one line: the first 80 characters of it.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out: String = std::iter::once('`').chain(harmless(text).chars().take(LONGEST_QUOTE)).collect();
    if text.chars().nth(LONGEST_QUOTE).is_some() {
        out.push('…');
    }
    out.push('`');
    out
}

/// Whether a terminal, an editor or a reader could be deceived by the character: controls, what
/// changes the direction of text (Bidi_Control of Unicode's PropList), what takes no place
/// (Default_Ignorable_Code_Point of DerivedCoreProperties, but for the variation selectors that emoji
/// use), and code points that are no characters, which XML does not allow.
pub(super) fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}'                       // soft hyphen
            | '\u{34f}'                    // combining grapheme joiner
            | '\u{61c}'                    // Arabic letter mark
            | '\u{115f}'..='\u{1160}'      // Hangul fillers
            | '\u{17b4}'..='\u{17b5}'      // Khmer inherent vowels
            | '\u{180b}'..='\u{180f}'      // Mongolian selectors and vowel separator
            | '\u{200b}'..='\u{200f}'      // zero width, direction marks
            | '\u{2028}'..='\u{202e}'      // line and paragraph separators, embeddings, overrides
            | '\u{2060}'..='\u{206f}'      // invisible operators, isolates
            | '\u{3164}' | '\u{ffa0}'      // Hangul fillers
            | '\u{fdd0}'..='\u{fdef}'      // no characters
            | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'    // shorthand format controls
            | '\u{1d173}'..='\u{1d17a}'    // musical format controls
            | '\u{e0000}'..='\u{e0fff}')   // tags
        || u32::from(c) & 0xfffe == 0xfffe // no characters: the last two of each plane
}

/// The character as TOML writes it, and JSON but for those beyond the first plane.
pub(super) fn push_escape(out: &mut String, c: char) {
    let code = u32::from(c);
    out.push_str(&if code > 0xffff { format!("\\U{code:08x}") } else { format!("\\u{code:04x}") });
}

// HTML, SVG and XML.

/// [`harmless`] text, safe between tags and in quoted attributes. Not for the inside of a script or
/// style element, where there are no entities.
#[must_use]
pub fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in harmless(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

// Markdown.

/// [`harmless`] text that CommonMark, the tables of GitHub and the HTML in both take for text: no
/// emphasis, code, link, image, formula or tag, and no address that is made a link by itself. For a
/// place within a line or a table's cell; at the start of a line a list or a heading could begin.
#[must_use]
pub fn markdown(text: &str) -> String {
    let clean = harmless(text);
    let mut out = String::with_capacity(clean.len());
    for (at, c) in clean.char_indices() {
        let (before, after) = (clean.get(..at).unwrap_or_default(), clean.get(at + c.len_utf8()..).unwrap_or_default());
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => out.extend(['\\', c]),
            // `https://…` and `www.…` become links by themselves (GitHub Flavored Markdown, 6.9).
            ':' if after.starts_with("//") => out.push_str("\\:"),
            '.' if before.as_bytes().last_chunk::<3>().is_some_and(|w| w.eq_ignore_ascii_case(b"www")) => {
                out.push_str("\\.")
            }
            c => out.push(c),
        }
    }
    out
}

// CSV.

/// What begins a formula in a spreadsheet (OWASP, "CSV injection"), also in its full-width forms.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// A cell of a table (RFC 4180), [`harmless`], and no formula: text that begins like one and is no
/// number gets an apostrophe in front.
#[must_use]
pub fn csv(cell: &str) -> String {
    let mut text = harmless(cell);
    let lead = cell.trim_start().chars().next();
    // White space is dropped by some spreadsheets, so that what follows it begins the cell.
    let formula = lead.is_some_and(|c| FORMULA.contains(&c)) || cell.starts_with(['\t', '\r', '\n']);
    if formula && !cell.parse::<f64>().is_ok_and(f64::is_finite) {
        text.insert(0, '\'');
    }
    // A semicolon divides cells where the comma is the decimal sign.
    if text.contains(['"', ',', ';']) || text != text.trim() {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

// JSON.

/// A JSON document in which no character is left that a terminal could obey: they are written as
/// `\u009b`. It means the same, since such characters occur only in strings; the white space between
/// them stays.
#[must_use]
pub fn json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if matches!(c, '\n' | '\r' | '\t') || !is_dangerous(c) {
            out.push(c);
        } else {
            // Beyond the first plane as two surrogates (RFC 8259, section 7).
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

// TOML.

/// A basic string of TOML 1.0 with its quotation marks; it reads back as `text`.
#[must_use]
pub fn toml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_dangerous(c) => push_escape(&mut out, c),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

// Words of a command that is shown to be copied, or handed to a shell.

/// A word of a command that is shown to be copied, as the shell of this system takes it: a POSIX shell, on Windows PowerShell
/// and cmd. It is one line, [`harmless`], and left as it is where it holds nothing that a shell knows.
///
/// [`harmless`]: self()
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

// Workflow commands of GitHub Actions, `::error title=…::…`, as its runner reads them.

/// [`harmless`] text as the message of a workflow command: percent signs are written by their code.
#[must_use]
pub fn annotation(message: &str) -> String {
    harmless(message).replace('%', "%25")
}

/// The same as the value of a property, where colons and commas are written by their codes, too.
#[must_use]
pub fn annotation_property(value: &str) -> String {
    annotation(value).replace(':', "%3A").replace(',', "%2C")
}

// The beginning of a sentence.

/// The text with a capital letter at its beginning.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

// Figures in running text.

/// Text in which no line break comes within a figure: the spaces within a number and before its unit become
/// no-break spaces (U+00A0).
#[must_use]
pub fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut digit = false;
    for (i, c) in text.char_indices() {
        let rest = text.get(i + 1..).unwrap_or_default();
        let joins = c == ' '
            && digit
            && (rest.starts_with(|n: char| n.is_ascii_digit())
                || ["MB/s", "%", "IOPS", "KiB", "MiB", "GiB", "TiB", "MB", "GB", "TB"]
                    .iter()
                    .any(|unit| rest.starts_with(unit)));
        out.push(if joins { '\u{a0}' } else { c });
        digit = c.is_ascii_digit();
    }
    out
}

// Digits of ids.

/// Crockford's base 32 in lower case: no i, l, o or u, which people mistake for others.
/// <https://www.crockford.com/base32.html>
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The digit of the lowest five bits.
#[must_use]
pub fn digit(bits: u64) -> char {
    char::from(ALPHABET[(bits & 31) as usize])
}

/// Whether it is a digit.
#[must_use]
pub fn is_digit(byte: u8) -> bool {
    ALPHABET.contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn no_line_break_comes_within_a_figure() {
        let said = unbroken("1 234 IOPS and 5 MB/s of 3 cards, 98 % of 4 ");
        assert_eq!(said, "1\u{a0}234\u{a0}IOPS and 5\u{a0}MB/s of 3 cards, 98\u{a0}% of 4 ");
    }

    #[test]
    fn controls_never_reach_a_terminal() {
        assert_eq!(harmless("SD\x1b[2JCARD\u{202e}\n"), "SD�[2JCARD��");
        assert_eq!(harmless("Größe µ 漢字 مرحبا ❤\u{fe0f}"), "Größe µ 漢字 مرحبا ❤\u{fe0f}");
        for c in ['\u{9b}', '\u{7f}', '\u{61c}', '\u{2066}', '\u{200b}', '\u{ad}', '\u{e0041}', '\u{ffff}', '\u{1fffe}']
        {
            assert_eq!(harmless(&c.to_string()), "�", "{:x}", u32::from(c));
        }
    }

    #[test]
    fn a_file_is_shown_with_its_lines_and_nothing_is_hidden() {
        assert_eq!(visible("a\tb\r\nc\u{1b}[2J\u{202e}\u{e0041}\r"), "a\tb\nc\\u001b[2J\\u202e\\U000e0041\\u000d");
        assert_eq!(visible("name = \"x\" # µ\n"), "name = \"x\" # µ\n");
    }

    #[test]
    fn a_quotation_is_one_short_line() {
        assert_eq!(quoted("a\n\u{1b}[2Jb"), "`a��[2Jb`");
        assert_eq!(quoted(&"x".repeat(80)), format!("`{}`", "x".repeat(80)));
        assert_eq!(quoted(&"µ".repeat(81)), format!("`{}…`", "µ".repeat(80)));
    }

    #[test]
    fn labels_are_trimmed_and_bounded() {
        assert_eq!(label("  WDC  WDS500G2B0A \n", 64).as_deref(), Some("WDC WDS500G2B0A"));
        assert_eq!(label("abcdef", 3).as_deref(), Some("abc"));
        assert_eq!(label(" \n\0", 9), None);
        assert_eq!(label("\0 \0\u{b}\0", 9), None, "nothing to see between");
    }

    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(
            markup("<a href=\"x\" id='y'>&\u{1b}]]>"),
            "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;\u{fffd}]]&gt;"
        );
        assert_eq!(markup("\u{ffff}"), "\u{fffd}", "XML has no such character");
    }

    #[test]
    fn nothing_of_a_name_is_markdown() {
        assert_eq!(markdown("a|b *c* `d` [e](f) <g> $h$"), "a\\|b \\*c\\* \\`d\\` \\[e\\](f) &lt;g&gt; \\$h\\$");
        assert_eq!(markdown("https://x www.y a\nb 12:30 4.5"), "https\\://x www\\.y a\u{fffd}b 12:30 4.5");
    }

    #[test]
    fn formulas_become_text_and_numbers_stay() {
        assert_eq!(csv("=HYPERLINK(\"http://x\",\"y\")"), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
        for bad in ["+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "\u{a0}=1", "＝1", "-inf", "\n=1"] {
            assert!(csv(bad).trim_start_matches('"').starts_with('\''), "{bad:?} -> {}", csv(bad));
        }
        assert_eq!(csv("-12.5"), "-12.5");
        assert_eq!(csv("a,b"), "\"a,b\"");
        assert_eq!(csv("a;=b"), "\"a;=b\"");
        assert_eq!(csv("line\nbreak"), "line\u{fffd}break");
    }

    #[test]
    fn what_hides_in_strings_is_written_out() {
        let value = Value::from("a\u{9b}2J\u{202e}\u{e0041}\u{7f}µ");
        assert_eq!(json(&value.to_string()), "\"a\\u009b2J\\u202e\\udb40\\udc41\\u007fµ\"");
    }

    proptest! {
        #[test]
        fn it_means_the_same(key in any::<String>(), text in any::<String>()) {
            let value = serde_json::json!({ key: [text, null, 1.5] });
            let written = json(&format!("{value:#}"));
            prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
            prop_assert!(!written.chars().any(|c| c != '\n' && is_dangerous(c)), "{}", written);
        }
    }

    proptest! {
        #[test]
        fn it_reads_back_as_it_was(text in any::<String>()) {
            let table: ::toml::Table = ::toml::from_str(&format!("x = {}\n", toml(&text))).unwrap();
            prop_assert_eq!(table["x"].as_str(), Some(text.as_str()));
        }
    }

    #[test]
    fn nothing_ends_the_string_or_hides_in_it() {
        assert_eq!(toml("a\"\\\n\u{1b}\u{e0041}"), r#""a\"\\\n\u001b\U000e0041""#);
    }

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
        use std::process::Command;

        use proptest::prelude::*;

        use super::*;

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

    /// What PowerShell and cmd do with it is from their documentation: neither was tried.
    #[test]
    fn on_windows_nothing_ends_the_quotes_and_nothing_is_expanded() {
        assert_eq!(windows_shell("a & calc"), r#""a & calc""#);
        assert_eq!(windows_shell("$(calc)`x\u{201d};calc"), "\"`$(calc)``x`\u{201d};calc\"");
        assert_eq!(windows_shell("a\"b\u{1b}"), "\"a\u{fffd}b\u{fffd}\"");
        assert_eq!(windows_shell(""), "\"\"");
    }

    #[test]
    fn no_text_ends_a_property_or_begins_a_command() {
        assert_eq!(annotation("5 %, a\n::error::x"), "5 %25, a\u{fffd}::error::x", "it stays one line");
        assert_eq!(annotation_property("5 %, a::b"), "5 %25%2C a%3A%3Ab");
    }

    #[test]
    fn there_are_32_digits_and_none_is_mistaken_for_another() {
        let digits: std::collections::BTreeSet<char> = (0..64).map(digit).collect();
        assert_eq!(digits.len(), 32);
        assert!(digits.iter().all(|digit| is_digit(*digit as u8)));
        assert!(!b"ilouA-".iter().any(|byte| is_digit(*byte)));
    }
}
