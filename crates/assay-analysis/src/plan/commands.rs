//! What to type for a cell of a plan.

use super::experiment_plan::{Cell, ExperimentPlan};

/// The arguments after `assay` that measure a cell on a medium mounted at `target`, with the
/// labels by which the plan finds it. Its suite is the file that [`ExperimentPlan::session_file`]
/// names.
#[must_use]
pub fn arguments(plan: &ExperimentPlan, cell: &Cell, target: &str) -> Vec<String> {
    let mut all = vec!["run".to_owned(), target.to_owned(), "--suite".to_owned(), plan.session_file(cell.order)];
    let (round, label) = (cell.round.to_string(), plan.label());
    let labels =
        [("model", &cell.model), ("unit", &cell.unit), ("slot", &cell.slot), ("round", &round), ("plan", &label)];
    for (key, value) in labels {
        all.extend(["--label".to_owned(), format!("{key}={value}")]);
    }
    all
}

/// `assay` with these arguments for a POSIX shell, options together with their values, in lines
/// of at most `width` columns where words allow it.
#[must_use]
pub fn quoted_line(arguments: &[String], width: usize) -> Vec<String> {
    let mut words: Vec<String> = vec!["assay".to_owned()];
    for argument in arguments {
        let word = quoted(argument);
        match words.last_mut() {
            Some(last) if (last.starts_with("--") && !last.contains(' ')) || last == "assay" => {
                *last = format!("{last} {word}");
            }
            _ => words.push(word),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            // Two columns are reserved for the continuation sign.
            Some(last) if last.chars().count() + 1 + word.chars().count() + 2 <= width => {
                last.push(' ');
                last.push_str(&word);
            }
            Some(last) => {
                last.push_str(" \\");
                lines.push(format!("  {word}"));
            }
            None => lines.push(word),
        }
    }
    lines
}

/// Quotes a word for a POSIX shell (XCU 2.2.2: no character is special between single quotes).
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_words_that_were_meant() {
        let arguments: Vec<String> =
            ["run", "--label", "model=it's $(rm) `x`", "--label", "unit=7"].map(str::to_owned).to_vec();
        for width in [20, 40, 200] {
            let script = quoted_line(&arguments, width).join("\n").replacen("assay", "printf '%s|'", 1);
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            let read = String::from_utf8(output.stdout).unwrap();
            assert_eq!(read, "run|--label|model=it's $(rm) `x`|--label|unit=7|", "{script}");
        }
    }
}
