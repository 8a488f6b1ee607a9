//! The text of a job file with the files that it includes.

use assay_core::suite::SuiteError;
use assay_core::text::quoted;

use crate::values::expanded;

/// Deeper inclusion is refused: a file may include itself.
const DEEPEST: usize = 8;
/// Longer texts are not read: a file may include others again and again.
const LONGEST: usize = 4 << 20;

/// Gives the text of an included file, or why there is none.
pub type Included<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// A text with the place that each of its lines has.
pub(crate) struct Source {
    pub(crate) text: String,
    places: Vec<(String, usize)>,
}

impl Source {
    /// Reads `text` with the files that it includes, and with the values of environment variables.
    ///
    /// # Errors
    /// [`SuiteError`] with the line, where a file or a variable is missing.
    pub(crate) fn read(text: &str, file: &str, included: &Included<'_>) -> Result<Self, SuiteError> {
        let mut source = Self { text: String::new(), places: Vec::new() };
        source.add(text, file, included, 0)?;
        Ok(source)
    }

    fn add(&mut self, text: &str, file: &str, included: &Included<'_>, depth: usize) -> Result<(), SuiteError> {
        let fail = |line: usize, message: String| SuiteError { file: file.to_owned(), line, message };
        let variable = |name: &str| std::env::var(name).ok();
        let text = expanded(text, variable).map_err(|(line, message)| fail(line, message))?;
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let option = line.split([';', '#']).next().unwrap_or_default().trim();
            let wanted = option
                .split_once(char::is_whitespace)
                .filter(|(key, _)| key.eq_ignore_ascii_case("include"))
                .map(|(_, name)| name.trim());
            let Some(name) = wanted else {
                if self.text.len() + line.len() > LONGEST {
                    return Err(fail(
                        number,
                        "a job file of more than 4 MiB with what it includes is not read".to_owned(),
                    ));
                }
                self.text.push_str(line);
                self.text.push('\n');
                self.places.push((file.to_owned(), number));
                continue;
            };
            if depth >= DEEPEST {
                return Err(fail(
                    number,
                    format!("include {}: files include each other more than {DEEPEST} deep", quoted(name)),
                ));
            }
            let plain = std::path::Path::new(name).components().all(|c| matches!(c, std::path::Component::Normal(_)));
            if !plain {
                let message =
                    format!("include {}: name a file in the folder of the job file, or below it", quoted(name));
                return Err(fail(number, message));
            }
            let inner = included(name).map_err(|why| fail(number, format!("include {}: {why}", quoted(name))))?;
            self.add(&inner, name, included, depth + 1)?;
        }
        Ok(())
    }

    /// File and line of a line of the text, both from 1.
    pub(crate) fn place(&self, line: usize) -> (String, usize) {
        let place = self.places.get(line.saturating_sub(1)).or(self.places.last());
        place.cloned().unwrap_or_else(|| (String::new(), line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Source, SuiteError> {
        let included = |name: &str| match name {
            "disk.fio" => Ok("[disk]\nsize=1g\n".to_owned()),
            "self.fio" => Ok("include self.fio\n".to_owned()),
            _ => Err("no such file".to_owned()),
        };
        Source::read(text, "job.fio", &included)
    }

    #[test]
    fn lines_keep_their_places() {
        let source = read("[global]\ninclude disk.fio ; as told\nrw=read\n").unwrap();
        assert_eq!(source.text, "[global]\n[disk]\nsize=1g\nrw=read\n");
        assert_eq!(source.place(3), ("disk.fio".to_owned(), 2));
        assert_eq!(source.place(4), ("job.fio".to_owned(), 3));
    }

    #[test]
    fn files_elsewhere_and_circles_are_refused() {
        for (name, words) in [
            ("../x.fio", "in the folder"),
            ("/etc/passwd", "in the folder"),
            ("none.fio", "no such file"),
            ("self.fio", "more than 8 deep"),
        ] {
            let error = read(&format!("\ninclude {name}\n")).err().unwrap();
            assert!(error.message.contains(words), "{error}");
        }
        assert_eq!(read("\ninclude none.fio\n").err().unwrap().line, 2);
    }
}
