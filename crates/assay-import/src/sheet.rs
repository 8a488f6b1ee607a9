//! A sheet of names: a row for each file, or for all files of a pattern, that says whose figures it holds.

use std::collections::{BTreeSet, HashMap};

use assay_core::text::quoted;

use crate::labels::{Given, PathPattern, last_part};
use crate::text::decoded;

/// The column that names the files.
const FILE: &str = "file";
/// Columns that are no labels.
const HOST: &str = "host";
const KIND: &str = "kind";
const DOUBTFUL: &str = "doubtful";
const RESULT: &str = "result";
/// Longest value of a label, as on the command line.
const LONGEST: usize = 256;
/// Most rows whose file is a pattern: each is held against each path.
const MOST_PATTERNS: usize = 1_000;
/// Most rows of a sheet.
const MOST_ROWS: usize = 100_000;

/// What is wrong with a sheet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct SheetError {
    /// Line of the sheet, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

/// A sheet of names.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    rows: Vec<SheetRow>,
    /// Rows of one file each, by the last component of its path.
    named: HashMap<String, Vec<usize>>,
    /// Rows of patterns.
    patterns: Vec<usize>,
}

#[derive(Debug, Clone)]
struct SheetRow {
    line: u64,
    name: String,
    file: PathPattern,
    /// Which of the results of the file, from 1; none for all.
    result: Option<usize>,
    given: Given,
}

/// A row without effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleRow<'a> {
    /// Its line.
    pub line: u64,
    /// The file or the pattern that it names.
    pub name: &'a str,
    /// The result of the file that it names, from 1; none for all.
    pub result: Option<usize>,
}

impl Sheet {
    /// Reads a sheet: CSV with commas, semicolons or tabs, whose first line names the columns.
    ///
    /// # Errors
    /// The first line that is wrong, and how.
    pub fn parse(bytes: &[u8]) -> Result<Self, SheetError> {
        let text = decoded(bytes);
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator(text))
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let bad = |line: u64, what: &str| SheetError { line, what: what.to_owned() };
        let names: Vec<String> = match reader.headers() {
            Ok(names) => names.iter().map(str::to_lowercase).collect(),
            Err(error) => return Err(bad(1, &error.to_string())),
        };
        check(&names).map_err(|what| bad(1, &what))?;
        let mut rows: Vec<SheetRow> = Vec::new();
        let mut lines = Lines { text, at: 0, line: 1 };
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => return Err(bad(lines.line_of_row(error.position()), &error.to_string())),
            };
            let line = lines.line_of_row(record.position());
            if record.len() > names.len() {
                let what = format!("{} cells under {} columns; put quotes around a comma", record.len(), names.len());
                return Err(bad(line, &what));
            }
            if rows.len() == MOST_ROWS {
                return Err(bad(line, &format!("more than {MOST_ROWS} rows")));
            }
            let cells = names.iter().map(String::as_str).zip(record.iter()).filter(|(_, value)| !value.is_empty());
            rows.extend(row(line, cells).map_err(|what| bad(line, &what))?);
        }
        let mut sheet = Self::default();
        for (at, row) in rows.iter().enumerate() {
            match row.file.name() {
                Some(name) => sheet.named.entry(name.to_owned()).or_default().push(at),
                None if sheet.patterns.len() == MOST_PATTERNS => {
                    return Err(bad(row.line, &format!("more than {MOST_PATTERNS} rows have patterns")));
                }
                None => sheet.patterns.push(at),
            }
        }
        Ok(Self { rows, ..sheet })
    }

    /// What the first row says that a result of a file is like, the results of a file counted from 1; its pattern may name
    /// labels too.
    pub(crate) fn row(&self, file: &str, result: usize) -> Option<Given> {
        let fits = |at: &usize| {
            let row = self.rows.get(*at).filter(|row| row.result.is_none_or(|named| named == result))?;
            Some((*at, row.file.labels(file)?))
        };
        let first = |rows: &[usize]| rows.iter().find_map(fits);
        let named = self.named.get(last_part(file)).and_then(|rows| first(rows));
        let pattern = first(&self.patterns);
        let (at, mut labels) = named.into_iter().chain(pattern).min_by_key(|(at, _)| *at)?;
        let mut given = self.rows.get(at)?.given.clone();
        labels.append(&mut given.labels);
        Some(Given { labels, row: Some(at), ..given })
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The rows without effect, which are all but these: no result is like them, or an earlier row is taken for each.
    #[must_use]
    pub fn idle<'a>(&'a self, taken: &BTreeSet<usize>) -> Vec<IdleRow<'a>> {
        let idle = self.rows.iter().enumerate().filter(|(at, _)| !taken.contains(at));
        idle.map(|(_, row)| IdleRow { line: row.line, name: &row.name, result: row.result }).collect()
    }
}

/// Lines of a text, asked for from the first on.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of a row: the place that the reader gives stands before empty lines and the end of the line before.
    fn line_of_row(&mut self, position: Option<&csv::Position>) -> u64 {
        let bytes = self.text.as_bytes();
        let mut at = position.map_or(0, csv::Position::byte).try_into().unwrap_or(bytes.len()).min(bytes.len());
        while bytes.get(at).is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
            at += 1;
        }
        let ended = |end: &usize| bytes[*end] == b'\n' || bytes[*end] == b'\r' && bytes.get(*end + 1) != Some(&b'\n');
        self.line += (self.at..at).filter(ended).count() as u64;
        self.at = self.at.max(at);
        self.line
    }
}

/// Spreadsheets write semicolons where the comma is the decimal mark.
fn separator(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let count = |separator: u8| first.bytes().filter(|byte| *byte == separator).count();
    [b';', b'\t'].into_iter().find(|other| count(*other) > count(b',')).unwrap_or(b',')
}

fn check(names: &[String]) -> Result<(), String> {
    if !names.iter().any(|name| name == FILE) {
        return Err(format!("no column is named `{FILE}`; the first line names the columns, like file,model,unit"));
    }
    let mut seen = BTreeSet::new();
    for name in names {
        if !is_key(name) {
            return Err(format!("column {} may hold only letters, digits, `-`, `_` and `.`", quoted(name)));
        }
        if !seen.insert(name) {
            return Err(format!("two columns are named {}", quoted(name)));
        }
    }
    Ok(())
}

/// Whether it may be the key of a label.
fn is_key(name: &str) -> bool {
    !name.is_empty() && name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// A row of cells that are not empty; `None` of an empty one.
fn row<'a>(line: u64, cells: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Option<SheetRow>, String> {
    let (mut file, mut result, mut given, mut any) = (None, None, Given::default(), false);
    for (name, value) in cells {
        any = true;
        if value.contains(['\n', '\r']) {
            return Err(format!("{} goes on in the next line; close its quotation mark", quoted(name)));
        }
        if value.len() > LONGEST {
            return Err(format!("{} is longer than {LONGEST} bytes", quoted(name)));
        }
        match name {
            FILE => file = Some(value),
            RESULT => result = Some(number(value)?),
            HOST => given.host = Some(value.to_owned()),
            KIND => given.kind = Some(value.parse().map_err(|error: assay_core::medium::KindError| error.to_string())?),
            DOUBTFUL => given.doubtful.push(doubt(value)),
            label => drop(given.labels.insert(label.to_owned(), value.to_owned())),
        }
    }
    match file {
        None if !any => Ok(None),
        None => Err(format!("no file is named in column `{FILE}`")),
        Some(name) => {
            let file = PathPattern::parse_any(name).map_err(|error| error.to_string())?;
            Ok(Some(SheetRow { line, name: name.to_owned(), file, result, given }))
        }
    }
}

/// The number of a result in its file.
fn number(value: &str) -> Result<usize, String> {
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{} is no number of a result; results of a file are counted from 1", quoted(value)))
}

/// A load and why its figures are doubtful: `random write 4 KiB=printed with the point one place too far left`.
#[must_use]
pub fn doubt(text: &str) -> (String, String) {
    let (load, why) = text.split_once('=').unwrap_or((text, ""));
    (load.trim().to_owned(), why.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use assay_core::medium::MediumKind;

    use super::*;

    #[test]
    fn a_quotation_mark_that_is_not_closed_makes_no_name_of_the_next_row() {
        let error = Sheet::parse(b"file,model\nzz.txt,Ultra\ntheirs.txt,\"A\nzz.txt,B\n").unwrap_err();
        assert_eq!((error.line, error.what.contains("close its quotation mark")), (3, true), "{error}");
    }

    #[test]
    fn a_row_says_whose_figures_a_file_holds() {
        let text = "\u{feff}File,model,unit,host,kind,price,doubtful\r\n\
                    cards/1.txt,\"Ultra, A1\",3,node7,sd,12.90USD,\r\n\
                    ,,,,,,\r\n\
                    old_{run}.*,EVO,,,,,random write 4 KiB=a typing fault\r\n\
                    old_1.txt,never reached\r\n";
        let sheet = Sheet::parse(text.as_bytes()).unwrap();
        let first = sheet.row("/home/x/cards/1.txt", 1).unwrap();
        assert_eq!((first.host.as_deref(), first.kind), (Some("node7"), Some(MediumKind::Sd)));
        let labels: Vec<(&str, &str)> = first.labels.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(labels, [("model", "Ultra, A1"), ("price", "12.90USD"), ("unit", "3")]);
        let second = sheet.row("old_1.txt", 1).unwrap();
        assert_eq!((second.labels["run"].as_str(), second.labels["model"].as_str(), second.kind), ("1", "EVO", None));
        assert_eq!(second.doubtful, [("random write 4 KiB".to_owned(), "a typing fault".to_owned())]);
        assert_eq!(sheet.row("cards/2.txt", 1), None);
        assert_eq!(idle(&sheet, &[("old_1.txt", 1)]), [(2, "cards/1.txt", None), (5, "old_1.txt", None)]);
    }

    fn idle<'a>(sheet: &'a Sheet, files: &[(&str, usize)]) -> Vec<(u64, &'a str, Option<usize>)> {
        let rows = |(file, results): &(&str, usize)| (1..=*results).filter_map(|at| sheet.row(file, at)?.row).collect();
        let taken = files.iter().flat_map(|file| -> Vec<usize> { rows(file) }).collect();
        sheet.idle(&taken).into_iter().map(|row| (row.line, row.name, row.result)).collect()
    }

    #[test]
    fn a_row_may_name_one_of_the_results_of_a_file() {
        let sheet = Sheet::parse(b"file,result,model\npage.txt,2,B\npage.txt,4,D\npage.txt,,A\n*.txt,1,X\n").unwrap();
        let models = [1, 2, 3].map(|result| sheet.row("page.txt", result).unwrap().labels["model"].clone());
        assert_eq!(models, ["A", "B", "A"]);
        assert_eq!(sheet.row("other.txt", 1).unwrap().labels["model"], "X");
        assert_eq!(sheet.row("other.txt", 2), None);
        assert_eq!(idle(&sheet, &[("page.txt", 3)]), [(3, "page.txt", Some(4)), (5, "*.txt", Some(1))]);
        for bad in ["0", "-1", "two"] {
            let error = Sheet::parse(format!("file,result\na.txt,{bad}\n").as_bytes()).unwrap_err();
            assert!(error.line == 2 && error.what.contains("counted from 1"), "{error}");
        }
    }

    #[test]
    fn of_rows_that_fit_the_first_counts_whether_it_is_a_name_or_a_pattern() {
        let sheet = Sheet::parse(b"file,model\nb/1.txt,A\n*.txt,B\n1.txt,C\n{run}.log,D\nx.log,E\n").unwrap();
        let model = |file: &str| sheet.row(file, 1).map(|row| row.labels["model"].clone());
        for (file, want) in [("a/b/1.txt", "A"), ("1.txt", "B"), ("c/1.txt", "B"), ("x.log", "D")] {
            assert_eq!(model(file).as_deref(), Some(want), "{file}");
        }
        let without = [(2, "b/1.txt", None), (4, "1.txt", None), (6, "x.log", None)];
        assert_eq!(idle(&sheet, &[("1.txt", 1), ("x.log", 1)]), without);
        let many: String = (0..=MOST_PATTERNS).map(|n| format!("{n}*,A\n")).collect();
        let error = Sheet::parse(format!("file,model\n{many}").as_bytes()).unwrap_err();
        assert!(error.line == 1_002 && error.what.contains("more than 1000 rows have patterns"), "{error}");
    }

    #[test]
    fn spreadsheets_write_other_separators_and_encodings() {
        for text in ["file;model\na.txt;EVO\n", "file\tmodel\na.txt\tEVO\n"] {
            assert_eq!(
                Sheet::parse(text.as_bytes()).unwrap().row("a.txt", 1).unwrap().labels["model"],
                "EVO",
                "{text:?}"
            );
        }
        let wide: Vec<u8> = "\u{feff}file,model\na.txt,Größe\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(Sheet::parse(&wide).unwrap().row("a.txt", 1).unwrap().labels["model"], "Größe");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, words) in [
            ("", 1, "no column is named `file`"),
            ("name,model\n", 1, "no column is named `file`"),
            ("file,model,model\n", 1, "two columns are named `model`"),
            ("file,my model\n", 1, "`my model` may hold only letters"),
            ("file,model\na,b\nc,d,e\n", 3, "3 cells under 2 columns"),
            ("file,model\n,EVO\n", 2, "no file is named"),
            ("file,kind\n\na,floppy\n", 3, "`floppy` is not a kind of medium"),
            ("file,model\n{a,EVO\n", 2, "a brace is not closed"),
        ] {
            let error = Sheet::parse(text.as_bytes()).unwrap_err();
            assert!(error.line == line && error.what.contains(words), "{text:?}: {error}");
        }
    }
}
