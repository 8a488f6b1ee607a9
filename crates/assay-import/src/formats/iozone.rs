//! iozone 3: the table of automatic mode, the blocks of `-R`, and throughput mode (`-t`) with its table of `-R`. The last
//! function adds the figures to the report.
//!
//! Units, widths and texts as in its source, iozone.c of versions 3.263 to 3.508 (<https://www.iozone.org/>). kB are
//! 2^10 bytes. Tests that were not run leave blanks, so a figure belongs to the column whose heading ends where it ends;
//! from 3.498 on columns are wider and blanks are not, so the tests that the command asked for come first. A process
//! has one operation in flight. With `-e` the final fsync is within the time of a write.

mod lines;

use assay_core::finding::{Contradiction, Detail, Finding, Missing, Place, RowFlaw, SourceQuantity, Untold};
use assay_core::workload::{Op, Sync};

use self::lines::{
    CHILDREN, COLUMNS, EACH, LARGEST_RECORD, MOST_BETWEEN, MOST_FOREIGN, MOST_SPLASH, MOST_WRAPPED, Mode, OfProcesses,
    SET, SPLASH, VERSION, block, cells, continued_heading, first_setting, header, is_numbers, is_printed, is_row,
    kibibytes, of_processes, of_processes_line, test, throughput_line,
};
use crate::command::{commands, continued, is_device, is_options, named_path, option_size};
use crate::date::of_ctime;
use crate::number::decimal;
use crate::reach::{Beside, held, is_shortened};
use crate::report::{Figure, Format, Load, Problem, Report, Section};
use crate::text::Text;

/// iozone.
pub(crate) struct Iozone;

const NAME: &str = "iozone";
/// Most sizes of records in a block of `-R`.
const MOST_SIZES: usize = 64;

impl Format for Iozone {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["iozone", "reclen", "rewrite", "reread", "children see throughput"]
    }

    fn needs(&self) -> &'static str {
        "the heading with `reclen` above rows, or `Children see throughput`"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        line.contains(SPLASH)
            || header(line).is_some()
            || line.contains("Children see throughput for")
            || block(line).is_some()
            || of_processes(line)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut run = IozoneRun::default();
        // Without the title its figures come first, and its settings stand above them.
        let first = first_setting(text, at);
        for line in (first.saturating_sub(MOST_BETWEEN)..first).rev() {
            // The one before is over.
            if text.line(line).contains("iozone test complete") {
                break;
            }
            run.options(&continued(text, line, first, is_options));
            if run.command.is_some() {
                break;
            }
        }
        if run.command.is_none() {
            run.held(text, first);
        }
        for line in first..at {
            run.settings(&continued(text, line, at, is_options));
        }
        let end = run.lines(text, at);
        if run.report.is_empty() && run.before.is_empty() {
            return run.nothing(text, at, end);
        }
        let several = !run.before.is_empty();
        run.again(end);
        let IozoneRun { before: mut reports, problems, .. } = run;
        if !several {
            reports.iter_mut().for_each(|report| report.lines = None);
        }
        Section { end, reports, problems }
    }
}

/// A run as far as it was read.
struct IozoneRun {
    report: Report,
    /// Those of rows before, which came again.
    before: Vec<Report>,
    /// The first line of the report.
    began: usize,
    problems: Vec<Problem>,
    mode: Mode,
    splash: bool,
    /// Whether its first lines say what its figures are.
    units_told: bool,
    complete: bool,
    direct: bool,
    /// Whether the sync at the end is within the time.
    flush: bool,
    each: bool,
    asynchronous: bool,
    /// The tests that were asked for; `None` where no command was seen.
    command: Option<Vec<u32>>,
    /// Whether options of it were left out.
    shortened: bool,
    /// Right edges of the headings of the columns.
    edges: Vec<usize>,
    /// Columns of a heading that was wrapped, in all of its lines.
    headed: Option<usize>,
    rows: bool,
    /// The columns of the row before, each with where its number ends.
    row_edges: Vec<(usize, usize)>,
    /// Whether figures stand in a line of their own below a row that was wrapped.
    wrapped: bool,
    file_bytes: Option<u64>,
    block_bytes: Option<u64>,
    /// The block of `-R` that is read, and its sizes of records.
    block: Option<(&'static str, Vec<u64>)>,
    /// The fewest processes that the command asked for.
    fewest: Option<u32>,
    /// In the table of `-R` in throughput mode: the tests above, which it repeats.
    repeats: Option<Vec<String>>,
}

impl Default for IozoneRun {
    fn default() -> Self {
        Self {
            report: Report::new(NAME),
            before: Vec::new(),
            began: 0,
            problems: Vec::new(),
            mode: Mode::default(),
            splash: false,
            units_told: false,
            complete: false,
            direct: false,
            flush: false,
            each: false,
            asynchronous: false,
            command: None,
            shortened: false,
            edges: Vec::new(),
            headed: None,
            rows: false,
            row_edges: Vec::new(),
            wrapped: false,
            file_bytes: None,
            block_bytes: None,
            block: None,
            fewest: None,
            repeats: None,
        }
    }
}

impl IozoneRun {
    /// Reads on from line `from`, and gives the line behind the last of the run.
    fn lines(&mut self, text: &Text, from: usize) -> usize {
        let (mut at, mut end) = (from, from + 1);
        self.began = from;
        while at < text.len() {
            let line = text.line(at);
            let figures = self.rows || !self.report.figures.is_empty();
            let taken = if self.complete { 0 } else { self.figures(text, at) };
            if line.contains(SPLASH) {
                if at > from {
                    break;
                }
                self.splash = true;
            } else if line.contains("iozone test complete") {
                self.complete = true;
                end = at + 1;
            } else if taken > 0 || line.contains("Excel") || self.excel(text, at) {
                end = at + taken.max(1);
            } else if line.trim().is_empty() {
            } else if figures || self.complete {
                // What follows its figures is another's, but for words between its rows.
                if self.complete || !throughput_line(line) && !self.goes_on(text, at) {
                    break;
                }
                end = at + 1;
            } else if at > from + MOST_SPLASH {
                break;
            } else {
                self.settings(line);
            }
            at += taken.max(1);
        }
        end
    }

    /// That there is no figure, and why: none was printed, or what was printed is broken.
    fn nothing(self, text: &Text, at: usize, end: usize) -> Section {
        if !self.problems.is_empty() {
            return Section { end, reports: Vec::new(), problems: self.problems };
        }
        // A row has two sizes at least; a number alone may be another's.
        let is_part = |line: &usize| {
            let line = text.line(*line);
            is_numbers(line) && line.split_whitespace().filter_map(kibibytes).nth(1).is_some()
        };
        let last = if self.complete { end } else { end.max(at + MOST_SPLASH).min(text.len()) };
        let own = |line: &usize| *line == at || !text.line(*line).contains(SPLASH);
        let broken = (at..last).take_while(own).find(is_part);
        match broken {
            Some(line) => {
                let what = "figures of iozone whose rows or heading are broken: which is of which test cannot be told";
                Section::nothing(end, text.number(line), what)
            }
            None => Section::nothing(end, text.number(at), "iozone printed no figure"),
        }
    }

    /// Whether another row of the table follows the words at line `at`.
    fn goes_on(&self, text: &Text, at: usize) -> bool {
        let mut below = (at..text.len().min(at + MOST_FOREIGN)).map(|line| text.line(line));
        let ends = |line: &str| header(line).is_some() || line.contains(SPLASH) || !commands(line, NAME).is_empty();
        self.rows && below.find(|line| ends(line) || self.begins_row(line)).is_some_and(|line| !ends(line))
    }

    /// Whether a line is a row that begins with a file size and a record size.
    fn begins_row(&self, line: &str) -> bool {
        let mut words = line.split_whitespace().map(kibibytes);
        let sizes = words.next().flatten().zip(words.next().flatten());
        is_row(line) && sizes.is_some_and(|(file, record)| self.are_sizes(file, record))
    }

    fn are_sizes(&self, file: u64, record: u64) -> bool {
        record <= file && record <= LARGEST_RECORD && (record.is_power_of_two() || self.block_bytes == Some(record))
    }

    /// Ends the report before line `end`, as what follows measures the same again.
    fn again(&mut self, end: usize) {
        let next = Report { figures: Vec::new(), findings: Vec::new(), ..self.report.clone() };
        let mut report = std::mem::replace(&mut self.report, next);
        if report.is_empty() {
            return;
        }
        if !self.units_told && self.command.is_none() && self.rows {
            let untold = Untold::Unit { figure: None, taken_unit: Some("kB/s".to_owned()) };
            report.findings.push(Finding::NotTold { tool: NAME.to_owned(), untold });
        }
        if self.splash && !self.complete {
            report.findings.push(Finding::SourceIncomplete {
                missing: Missing::lines(&["iozone test complete."], &[Detail::Completion]),
            });
        }
        if self.shortened {
            report.find(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Options]) });
        }
        if std::mem::take(&mut self.wrapped) {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::Row { flaw: RowFlaw::Wrapped } });
        }
        report.lines = Some((self.began, end));
        self.began = end;
        self.repeats = None;
        self.before.push(report);
    }

    /// Settings of the lines before the first figure.
    fn settings(&mut self, line: &str) {
        let line = line.trim();
        if let Some(version) = VERSION.captures(line) {
            self.report.version = Some(version[1].to_owned());
        }
        if let Some(began) = line.strip_prefix("Run began:") {
            self.report.created = of_ctime(began);
        }
        if let Some(each) = EACH.captures(line) {
            self.file_bytes = kibibytes(&each[1]);
            self.block_bytes = kibibytes(&each[2]);
        }
        if let Some(set) = SET.captures(line) {
            let bytes = kibibytes(&set[2]);
            if &set[1] == "Record Size" { self.block_bytes = bytes } else { self.file_bytes = bytes }
        }
        self.units_told |= line.to_lowercase().contains("output is in") || line.contains("Microseconds/op");
        if line.starts_with("OPS Mode") {
            self.mode = Mode::Operations;
        } else if line.starts_with("Microseconds/op Mode") {
            self.mode = Mode::Latency;
        } else if line.starts_with("Include fsync in write timing") {
            self.flush = true;
        } else if line.starts_with("O_DIRECT feature enabled") {
            self.direct = true;
        } else if line.starts_with("SYNC Mode") {
            self.each = true;
        } else if line.contains("async I/O") {
            self.asynchronous = true;
        }
        self.options(line);
    }

    /// Takes the command above other text that stands before line `first`.
    fn held(&mut self, text: &Text, first: usize) {
        let is_call = |words: &[String]| words.first().is_some_and(|word| word.starts_with('-'));
        let Some(held) = held(text, first, NAME, Beside::Cache, is_call, is_printed) else { return };
        self.options(&held.whole);
        self.report.findings.extend(held.doubt(text, NAME));
    }

    /// Options of a command line, where one stands in the line.
    fn options(&mut self, line: &str) {
        let Some(arguments) =
            // It takes options alone: prose names it, too.
            commands(line, NAME).into_iter().find(|arguments| arguments.first().is_some_and(|word| word.starts_with('-')))
        else {
            return;
        };
        self.shortened = is_shortened(&arguments);
        let mut tests = Vec::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('+')) else { continue };
            for (at, letter) in letters.char_indices() {
                match letter {
                    'I' => self.direct = true,
                    'e' => self.flush = true,
                    'o' => self.each = true,
                    'O' => self.mode = Mode::Operations,
                    'N' => self.mode = Mode::Latency,
                    'k' | 'H' => self.asynchronous = true,
                    _ => {}
                }
                if !"bdfFgHijJklLmnPqrsStTuUVXyY".contains(letter) || matches!(letter, 'm' | 'T') {
                    continue;
                }
                // The rest of the word, or the next one, is what the letter takes.
                let rest = &letters[at + letter.len_utf8()..];
                let value = if rest.is_empty() { words.next().map_or("", String::as_str) } else { rest };
                match letter {
                    'i' => tests.extend(value.parse::<u32>()),
                    's' => self.file_bytes = option_size(value, 1024),
                    'r' => self.block_bytes = option_size(value, 1024),
                    't' | 'l' => self.fewest = value.parse().ok(),
                    'f' if self.report.medium.path.is_empty() && named_path(value).is_some() => {
                        value.clone_into(&mut self.report.medium.path);
                        self.report.medium.device = is_device(value).then(|| value.to_owned());
                    }
                    _ => {}
                }
                break;
            }
        }
        self.command = Some(tests);
    }

    /// Reads a heading, a row or a line of throughput mode, and says how many lines it has; 0 where the line is none.
    fn figures(&mut self, text: &Text, at: usize) -> usize {
        let line = text.line(at);
        if let Some(edges) = header(line) {
            let parts = (at + 1..at + MOST_WRAPPED).scan(edges.len(), |headed, next| {
                *headed = continued_heading(text.line(next), *headed)?;
                Some(*headed)
            });
            let all: Vec<usize> = parts.collect();
            self.headed = all.last().copied();
            self.edges = edges;
            return 1 + all.len();
        }
        if line.contains("Children see throughput") {
            self.children(line, text.line(at + 1), at);
            return 1;
        }
        if self.edges.is_empty() || !is_numbers(line) {
            return 0;
        }
        if let Some((joined, columns, lines)) = self.unwrapped(text, at) {
            self.row(&joined, Some(columns), text.number(at), at);
            return lines;
        }
        // The rest of a row that was wrapped has fewer.
        if is_row(line) {
            self.row(line, self.columns(&cells(line)), text.number(at), at);
        } else {
            self.wrapped |= self.rows;
        }
        1
    }

    /// A row below a wrapped heading with the lines that it goes on in, where together they have a figure for each test: its
    /// text, its columns, and how many lines it has.
    fn unwrapped(&self, text: &Text, at: usize) -> Option<(String, Vec<usize>, usize)> {
        let columns = match self.asked(self.headed?) {
            asked if asked.is_empty() => (2..self.headed?).collect(),
            asked => asked,
        };
        let wanted = 2 + columns.len();
        let mut joined = text.line(at).to_owned();
        if !self.begins_row(&joined) || joined.split_whitespace().count() >= wanted {
            return None;
        }
        for lines in 2..=MOST_WRAPPED {
            let next = text.line(at + lines - 1);
            if !is_numbers(next) {
                return None;
            }
            joined = format!("{joined} {}", next.trim());
            if joined.split_whitespace().count() >= wanted {
                return (joined.split_whitespace().count() == wanted).then_some((joined, columns, lines));
            }
        }
        None
    }

    fn row(&mut self, line: &str, columns: Option<Vec<usize>>, number: u32, at: usize) {
        let cells = cells(line);
        let [(_, file), (_, record), values @ ..] = cells.as_slice() else { return };
        let (Some(file), Some(record)) = (kibibytes(file), kibibytes(record)) else { return };
        // The second half of a row that was wrapped has figures there.
        if !self.are_sizes(file, record) {
            self.rows = true;
            let what = "a row of iozone that does not begin with a file size and a record size".to_owned();
            self.problems.push(Problem { line: number, what });
            return;
        }
        let holds = |figure: &Figure| figure.load.block_bytes == Some(record) && figure.load.span_bytes == Some(file);
        if self.rows && self.report.figures.iter().any(holds) {
            self.again(at);
        }
        self.rows = true;
        let Some(columns) = columns else {
            let what = "the columns of this row of iozone cannot be told apart".to_owned();
            self.problems.push(Problem { line: number, what });
            return;
        };
        let cut = self.is_cut(&columns, values);
        self.row_edges = columns.iter().copied().zip(values.iter().map(|(edge, _)| *edge)).collect();
        if cut {
            self.report.find(Finding::SourceIncomplete { missing: Missing::End { tool: NAME.to_owned() } });
        }
        for (column, (_, value)) in columns.into_iter().zip(&values[..values.len() - usize::from(cut)]) {
            if let Some((_, name, _)) = COLUMNS.get(column) {
                self.add(name, Some(1), Some(file), Some(record), decimal(value), self.mode);
            }
        }
    }

    /// The columns of the tests that the command asked for, of as many; none where no command is known.
    fn asked(&self, headed: usize) -> Vec<usize> {
        match &self.command {
            Some(tests) if !tests.is_empty() => {
                (2..headed.min(COLUMNS.len())).filter(|column| tests.contains(&COLUMNS[*column].2)).collect()
            }
            // All tests are run where none is asked for.
            Some(_) => (2..headed).collect(),
            None => Vec::new(),
        }
    }

    /// The columns of the values of a row, from the third cell on.
    fn columns(&self, cells: &[(usize, &str)]) -> Option<Vec<usize>> {
        let values = cells.get(2..)?;
        let headed = self.edges.len();
        let asked = self.asked(headed);
        if asked.len() == values.len() {
            return Some(asked);
        }
        // Wide columns, whose blanks are narrower than they: each blank moves what follows it by two.
        let wide = self.edges.get(5).zip(self.edges.get(4)).is_some_and(|(reread, read)| reread - read >= 10)
            && self.edges.get(3).zip(self.edges.get(2)).is_some_and(|(rewrite, write)| rewrite - write >= 10);
        let most = if wide { 5 } else { 1 };
        let mut last = 1;
        let mut found = Vec::new();
        for (edge, _) in values {
            let near = (last + 1..headed).min_by_key(|column| self.edges[*column].abs_diff(*edge))?;
            if self.edges[near].abs_diff(*edge) > most {
                // A web page has folded the blanks: without them only a full row is certain.
                return (values.len() + 2 == headed).then(|| (2..headed).collect());
            }
            found.push(near);
            last = near;
        }
        Some(found)
    }

    /// Whether the last number of a row is cut off: it ends before that of the row above does, while the others end with
    /// theirs; in the first row, before its heading. Headings and rows differ by as much in all columns, but for one, and for
    /// the blanks of tests that were not run.
    fn is_cut(&self, columns: &[usize], values: &[(usize, &str)]) -> bool {
        let above = |column: usize| self.row_edges.iter().find(|(known, _)| *known == column).map(|(_, edge)| *edge);
        let off = |at: usize, ends: &dyn Fn(usize) -> Option<usize>| {
            let (column, (edge, _)) = columns.get(at).zip(values.get(at))?;
            Some(i64::try_from(*edge).ok()? - i64::try_from(ends(*column)?).ok()?)
        };
        let Some(last) = values.len().checked_sub(1).filter(|last| *last > 0) else { return false };
        let short = |ends: &dyn Fn(usize) -> Option<usize>, slack: i64| {
            let others: Vec<i64> = (0..last).filter_map(|at| off(at, ends)).collect();
            let range = others.iter().min().zip(others.iter().max());
            // A page that has folded blanks has moved all of them.
            range.zip(off(last, ends)).is_some_and(|((least, most), own)| most - least <= slack && own < least - slack)
        };
        let next_to = columns.get(last).zip(columns.get(last - 1)).is_some_and(|(a, b)| *a == b + 1);
        next_to && short(&|column| self.edges.get(column).copied(), 1) || short(&above, 0)
    }

    /// A test of throughput mode, by what its processes count, and by what their parent does.
    fn children(&mut self, line: &str, next: &str, at: usize) {
        let Some(children) = CHILDREN.captures(line) else { return };
        let (Ok(jobs), Some(value)) = (children[2].parse::<u32>(), decimal(&children[4])) else { return };
        let mode = match &children[5] {
            "kB" | "KB" => Mode::Rate,
            "ops" | "Ops" => Mode::Operations,
            _ => return,
        };
        let span = self.file_bytes.and_then(|bytes| bytes.checked_mul(u64::from(jobs)));
        let holds = |figure: &Figure| {
            let Load { name, jobs: its, block_bytes, .. } = &figure.load;
            name == children[3].trim() && *its == Some(jobs) && *block_bytes == self.block_bytes
        };
        if self.report.figures.iter().any(holds) {
            self.again(at);
        }
        let before = self.report.figures.len();
        self.add(children[3].trim(), Some(jobs), span, self.block_bytes, Some(value), mode);
        let parent = CHILDREN.captures(next).and_then(|parent| decimal(&parent[4]));
        let unlike = parent.filter(|parent| *parent > 0.0 && !(0.5..2.0).contains(&(value / parent)));
        if let (Some(parent), Some(figure)) = (unlike, self.report.figures.get_mut(before)) {
            let (quantity, unit) = match mode {
                Mode::Operations => (SourceQuantity::Iops, 1.0),
                _ => (SourceQuantity::BytesPerSecond, 1024.0),
            };
            let (here, there) = ((Place::Processes, value * unit), (Place::Parent, parent * unit));
            let contradiction = Contradiction::places(quantity, "", here, there);
            figure.findings.push(Finding::SourceContradicts { contradiction });
        }
    }

    /// A line of the table of `-R` in throughput mode.
    fn processes(&mut self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        if of_processes(line) {
            // A second one is that of another run.
            if self.repeats.is_some() {
                self.again(at);
            }
            self.repeats = Some(self.report.figures.iter().map(|figure| figure.load.name.clone()).collect());
            return true;
        }
        let Some((repeated, told)) = self.repeats.as_ref().zip(of_processes_line(line)) else { return false };
        match told {
            OfProcesses::RecordBytes(bytes) => {
                self.block_bytes = self.block_bytes.or(bytes);
                // The line that tells it above them may be lost.
                for figure in &mut self.report.figures {
                    figure.load.block_bytes = figure.load.block_bytes.or(bytes);
                }
            }
            OfProcesses::Unit(unit) if unit.starts_with("ops") => self.mode = Mode::Operations,
            OfProcesses::Unit(unit) if unit.starts_with("micro") => self.mode = Mode::Latency,
            OfProcesses::Unit(_) => self.units_told = true,
            OfProcesses::Row(name, _) if repeated.iter().any(|known| known == name) => {}
            OfProcesses::Row(name, values) if values.len() == 1 || self.fewest.is_some() => {
                for (jobs, value) in (0..).zip(values) {
                    let jobs = self.fewest.and_then(|fewest| fewest.checked_add(jobs));
                    let span = self.file_bytes.zip(jobs).and_then(|(bytes, jobs)| bytes.checked_mul(u64::from(jobs)));
                    self.add(name, jobs, span, self.block_bytes, decimal(value), self.mode);
                }
            }
            OfProcesses::Row(..) => {
                let what = "a row of iozone whose numbers of processes no command above tells".to_owned();
                self.problems.push(Problem { line: text.number(at), what });
            }
        }
        true
    }

    /// A line of the blocks of `-R`; they repeat the table, where there is one.
    fn excel(&mut self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        if self.processes(text, at) {
            return true;
        }
        if let Some(name) = block(line) {
            self.block = Some((name, Vec::new()));
            return true;
        }
        let Some((name, sizes)) = &mut self.block else { return false };
        let mut quoted: Vec<u64> = Vec::new();
        let mut plain: Vec<Option<f64>> = Vec::new();
        for word in line.split_whitespace() {
            match word.strip_prefix('"').and_then(|word| word.strip_suffix('"')) {
                Some(word) => quoted.extend(word.parse::<u64>()),
                None => plain.push(decimal(word)),
            }
        }
        match (quoted.as_slice(), plain.as_slice()) {
            ([_, ..], []) => {
                *sizes = quoted;
                sizes.truncate(MOST_SIZES);
            }
            ([file], [_, ..]) => {
                let (name, sizes) = (*name, sizes.clone());
                for (record, value) in sizes.into_iter().zip(plain) {
                    if !self.rows {
                        let (file, record) = (file.checked_mul(1024), record.checked_mul(1024));
                        self.add(name, Some(1), file, record, value, self.mode);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    fn add(
        &mut self,
        name: &str,
        jobs: Option<u32>,
        span: Option<u64>,
        block: Option<u64>,
        value: Option<f64>,
        mode: Mode,
    ) {
        // Tests that were not run again are printed as zero (`-+n`).
        let Some(value) = value.filter(|value| *value > 0.0 && !self.report.is_full()) else { return };
        let Some((op, pattern)) = test(name) else { return };
        let known = self.splash || self.command.is_some() && !self.shortened;
        // Functions of the C library have a buffer of their own; O_DIRECT is for the others.
        let library = name.starts_with('f');
        let sync = if self.each { Sync::Fsync } else { Sync::End };
        let load = Load {
            pattern,
            block_bytes: block,
            queue_depth: (!self.asynchronous).then_some(1),
            jobs,
            span_bytes: span,
            direct: (known || self.direct).then_some(self.direct && !library),
            sync: if op == Op::Read { Some(Sync::End) } else { known.then_some(sync) },
            ..Load::new(name, op)
        };
        let mut figure = Figure::new(load);
        match mode {
            Mode::Rate => figure.bytes_per_second = Some(value * 1024.0),
            Mode::Operations => figure.iops = Some(value),
            Mode::Latency => figure.latency_ns.mean = Some(value * 1e3),
        }
        if op == Op::Write && known && (self.flush || self.each) {
            let bytes = block.map(|bytes| bytes as f64);
            figure.durable_bytes_per_second =
                figure.bytes_per_second.or(figure.iops.zip(bytes).map(|(iops, bytes)| iops * bytes));
        }
        self.report.figures.push(figure);
    }
}
