//! Limits and whether they are kept: for a terminal, as Markdown, as JUnit XML, and as GitHub annotations.

use assay_analysis::Quantity;
use assay_analysis::compare::{Check, Comparison, Gate, LimitAnswer, LimitCase, LimitDoubt, NoSeries, SeriesUse};
use assay_core::text;
use assay_core::text::{clean, statement};
use assay_core::units::{figures, grouped, trimmed};

use super::answer;
use super::answer::{found as found_of, group_letter, would_tell};
use crate::caveats::needed;
use crate::document::{Block, Table, TableRow, left};
use crate::terminal::{Page, Paint, Style};

/// The report on one case: the verdict as a word, the place, the difference found, why it is undecided, and what would
/// settle it.
struct Said {
    word: &'static str,
    paint: Paint,
    place: String,
    found: String,
    why: &'static str,
    tell: String,
}

impl Said {
    /// `random read 4 KiB, IOPS: B is slower than A: −12.0 % (−13.9 … −10.1 %); why; what would settle it`.
    fn sentence(&self) -> String {
        format!("{}: {}", self.place, joined([&self.found, self.why, &self.tell]))
    }
}

/// The non-empty parts of a sentence, joined.
fn joined<const N: usize>(parts: [&str; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The report on a case, with these names of the groups.
fn said(c: &Comparison, case: &LimitCase, name: impl Fn(usize) -> String) -> Said {
    let (first, second) = (name(0), name(case.group));
    let found = case.pair.as_ref().zip(case.quantity).map_or_else(
        || format!("{second} has no figure"),
        |(pair, quantity)| found_of(pair, quantity, (&first, &second)),
    );
    let (word, paint, (why, tell)) = match &case.answer {
        LimitAnswer::Passed => ("passed", Paint::Plain, ("", String::new())),
        LimitAnswer::Failed => ("failed", Paint::Bad, ("", String::new())),
        LimitAnswer::CannotTell(doubt) => ("cannot tell", Paint::Care, reason(c, case, doubt)),
    };
    let figure = case.quantity.map_or_else(String::new, |quantity| format!(", {}", quantity.title()));
    Said { word, paint, place: format!("{}{figure}", clean(&case.load)), found, why, tell }
}

/// Cases with the same verdict and the same reason, in the order of the first of each.
fn alike(all: Vec<Said>) -> Vec<Vec<Said>> {
    let mut groups: Vec<Vec<Said>> = Vec::new();
    for one in all {
        let reason = |said: &Said| joined([said.why, if said.why.is_empty() { &said.tell } else { "" }]);
        let same =
            |of: &&mut Vec<Said>| of[0].word == one.word && !reason(&one).is_empty() && reason(&of[0]) == reason(&one);
        match groups.iter_mut().find(same) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// One line for cases with the same reason, and the lines below it. Text that all cases share is given once, with the
/// places it applies to.
fn lines(alike: &[Said]) -> (String, Vec<String>) {
    let Some((first, others)) = alike.split_first() else { return (String::new(), Vec::new()) };
    let shared = others.iter().all(|one| one.tell == first.tell);
    if others.is_empty() {
        (first.sentence(), Vec::new())
    } else if shared && others.iter().all(|one| one.found == first.found) {
        let places: Vec<&str> = alike.iter().map(|one| one.place.as_str()).collect();
        (format!("{}: {}", joined([&first.found, first.why, &first.tell]), places.join("; ")), Vec::new())
    } else {
        let own = |one: &Said| format!("{}: {}", one.place, joined([&one.found, if shared { "" } else { &one.tell }]));
        (joined([first.why, if shared { &first.tell } else { "" }]), alike.iter().map(own).collect())
    }
}

/// The name of a group where no table explains the letters: its query, or its letter where two queries are equal.
fn by_query(c: &Comparison, at: usize) -> String {
    let Some(info) = c.groups.get(at) else { return group_letter(c, at) };
    let name = if info.query.is_empty() { answer::group_name(info) } else { clean(&info.query) };
    let shared = c.groups.iter().filter(|other| other.query == info.query).count() > 1;
    if shared { format!("{name} ({})", info.letter) } else { name }
}

/// Why the limit is undecided, and what would settle it.
fn reason(c: &Comparison, case: &LimitCase, doubt: &LimitDoubt) -> (&'static str, String) {
    let load = c.loads.iter().find(|load| load.title == case.load);
    let tell = || load.zip(case.pair.as_ref()).map(|(load, pair)| would_tell(load, pair)).unwrap_or_default();
    match doubt {
        LimitDoubt::Straddles => ("the limit lies inside the interval", tell()),
        LimitDoubt::Several => ("the interval lies beyond the limit, as one of so many may by chance", tell()),
        LimitDoubt::UnknownMedia => {
            ("records of a group name neither model nor unit", "name them: assay label QUERY model=… unit=…".to_owned())
        }
        LimitDoubt::OtherComputer => {
            ("they were measured on different computers", "measure one unit on both".to_owned())
        }
        LimitDoubt::BestOf => {
            let tell = "figures made in the same way would tell";
            ("one of the two is the best of several runs", tell.to_owned())
        }
        LimitDoubt::OneUnit => {
            let needed = case.pair.as_ref().and_then(|pair| pair.needed.as_ref()).map(needed);
            let tell = needed.unwrap_or_else(|| "measuring more units would tell".to_owned());
            ("one unit says nothing of its model", tell)
        }
        LimitDoubt::NoInterval => ("there is no interval: one value, or equal values", String::new()),
        LimitDoubt::BusHides => ("a figure reached its bus, and the medium may be faster", String::new()),
        LimitDoubt::Invalid => ("a figure is invalid", String::new()),
        LimitDoubt::Fake => ("a medium is not genuine", String::new()),
        LimitDoubt::Incomplete => ("a medium failed, or a run did not come to its end", String::new()),
        LimitDoubt::NoFigure(reason) => ("", statement(&reason.to_string())),
    }
}

/// The text for a limit without a load to judge it by.
fn nothing(check: &Check) -> String {
    let mut words = "no load has this figure in both groups".to_owned();
    if let Some(least) = check.limit.quantity.map(Quantity::least_operations).filter(|least| *least > 1) {
        words.push_str(&format!("; it takes {} operations in a repeat", grouped(least.cast_signed())));
    }
    words
}

/// `1 failed, 2 cannot tell, 5 passed`.
fn counts(gate: &Gate) -> (String, Paint) {
    let count = |wanted: &dyn Fn(&LimitAnswer) -> bool| gate.cases().filter(|case| wanted(&case.answer)).count();
    let failed = count(&|answer| *answer == LimitAnswer::Failed);
    let passed = count(&|answer| *answer == LimitAnswer::Passed);
    let unknown = count(&|answer| matches!(answer, LimitAnswer::CannotTell(_)))
        + gate.checks.iter().filter(|check| check.no_load).count();
    let paint = match (failed, unknown) {
        (0, 0) => Paint::Good,
        (0, _) => Paint::Care,
        _ => Paint::Bad,
    };
    (format!("{failed} failed, {unknown} cannot tell, {passed} passed"), paint)
}

/// The limits on a terminal: each load that fails or is undecided, the number of loads that pass, and the summary last.
#[must_use]
pub fn gate_text(c: &Comparison, gate: &Gate, style: &Style) -> String {
    let mut page = Page::new(style.bounded());
    page.rule();
    for check in &gate.checks {
        page.text(Paint::Bold, 0, &format!("Fail if {}", statement(&check.limit.text)));
        if check.no_load {
            page.text(Paint::Care, 2, &format!("cannot tell: {}", nothing(check)));
        }
        let not_passed = check.cases.iter().filter(|case| case.answer != LimitAnswer::Passed);
        for of in alike(not_passed.map(|case| said(c, case, |at| group_letter(c, at))).collect()) {
            let (line, below) = lines(&of);
            page.text(of[0].paint, 2, &format!("{}: {line}", of[0].word));
            below.iter().for_each(|line| page.text(of[0].paint, 4, line));
        }
        match check.cases.iter().filter(|case| case.answer == LimitAnswer::Passed).count() {
            0 => {}
            1 => page.text(Paint::Plain, 2, "passed: 1 load"),
            n => page.text(Paint::Plain, 2, &format!("passed: {n} loads")),
        }
        for line in spread_of_runs(c, check, |at| group_letter(c, at)) {
            page.text(Paint::Plain, 2, &line);
        }
    }
    let (counts, paint) = counts(gate);
    page.text(paint, 0, &format!("Limits: {counts}"));
    page.finish()
}

/// The limits as a part of a document.
pub(super) fn blocks(c: &Comparison, gate: &Gate) -> [Block; 2] {
    let mut rows: Vec<TableRow> = Vec::new();
    for check in &gate.checks {
        let limit = || statement(&check.limit.text);
        if check.no_load {
            rows.push([limit().into(), "cannot tell".into(), nothing(check).into()].into());
        }
        for case in &check.cases {
            let said = said(c, case, |at| group_letter(c, at));
            rows.push([limit().into(), said.word.into(), said.sentence().into()].into());
        }
        for line in spread_of_runs(c, check, |at| group_letter(c, at)) {
            rows.push([limit().into(), "".into(), line.into()].into());
        }
    }
    let columns = ["fail if", "answer", "load"].map(left).into();
    [
        Block::Heading(format!("Limits: {}", counts(gate).0)),
        Block::Table(Table { caption: String::new(), columns, rows }),
    ]
}

/// The limits as JUnit XML: a suite for each limit, a test for each load. An undecided limit is skipped, or an error if
/// undecided limits fail.
#[must_use]
pub fn gate_junit(c: &Comparison, gate: &Gate) -> String {
    let mut suites = String::new();
    let mut total = [0; 4];
    for check in &gate.checks {
        let limit = text::markup(&statement(&check.limit.text));
        let mut tests = String::new();
        let mut counts = [0; 4];
        let mut test = |name: &str, answer: &LimitAnswer, message: &str| {
            counts[0] += 1;
            let message = text::markup(message);
            let child = match answer {
                LimitAnswer::Passed => String::new(),
                LimitAnswer::Failed => {
                    counts[1] += 1;
                    format!("<failure type=\"limit\" message=\"{message}\"/>")
                }
                LimitAnswer::CannotTell(_) if gate.unknown_fails => {
                    counts[2] += 1;
                    format!("<error type=\"cannot tell\" message=\"{message}\"/>")
                }
                LimitAnswer::CannotTell(_) => {
                    counts[3] += 1;
                    format!("<skipped message=\"{message}\"/>")
                }
            };
            let name = text::markup(name);
            tests.push_str(&format!(
                "    <testcase classname=\"{limit}\" name=\"{name}\">{child}<system-out>{message}</system-out></testcase>\n"
            ));
        };
        for case in &check.cases {
            let name = format!("{}, {} against {}", clean(&case.load), by_query(c, case.group), by_query(c, 0));
            test(&name, &case.answer, &said(c, case, |at| by_query(c, at)).sentence());
        }
        if check.no_load {
            test("no load", &LimitAnswer::CannotTell(LimitDoubt::NoInterval), &nothing(check));
        }
        suites.push_str(&format!("  <testsuite name=\"{limit}\" {}>\n{tests}  </testsuite>\n", attributes(counts)));
        total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay compare\" {}>\n{suites}</testsuites>\n",
        attributes(total)
    )
}

fn attributes([tests, failures, errors, skipped]: [usize; 4]) -> String {
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
}

/// The limits as workflow commands of GitHub Actions, which are shown beside a change: an error for a failed limit, a
/// warning for an undecided one (an error if undecided limits fail), and a notice with the summary.
#[must_use]
pub fn gate_github(c: &Comparison, gate: &Gate) -> String {
    let mut out = String::new();
    let unknown = if gate.unknown_fails { "error" } else { "warning" };
    let mut tell = |level: &str, title: &str, message: &str| {
        let (title, message) = (text::annotation_property(&format!("assay: {title}")), text::annotation(message));
        out.push_str(&format!("::{level} title={title}::{message}\n"));
    };
    for check in &gate.checks {
        let limit = statement(&check.limit.text);
        if check.no_load {
            tell(unknown, &format!("cannot tell whether {limit}"), &nothing(check));
        }
        let of = |wanted: fn(&LimitAnswer) -> bool| {
            let cases = check.cases.iter().filter(move |case| wanted(&case.answer));
            alike(cases.map(|case| said(c, case, |at| by_query(c, at))).collect())
        };
        for failed in of(|answer| *answer == LimitAnswer::Failed).iter().flatten() {
            tell("error", &limit, &failed.sentence());
        }
        for open in of(|answer| matches!(answer, LimitAnswer::CannotTell(_))) {
            let (line, below) = lines(&open);
            let message = std::iter::once(line).chain(below).collect::<Vec<_>>().join("; ");
            tell(unknown, &format!("cannot tell whether {limit}"), &message);
        }
    }
    for check in &gate.checks {
        for line in spread_of_runs(c, check, |at| by_query(c, at)) {
            tell("notice", &statement(&check.limit.text), &line);
        }
    }
    tell("notice", "limits", &counts(gate).0);
    out
}

// By how much runs of the reference differ, and the smallest limit that is kept without a change.

/// Lines below the cases of a limit, each group by its name.
fn spread_of_runs(c: &Comparison, check: &Check, name: impl Fn(usize) -> String) -> Vec<String> {
    [runs_of_series(check, &name), unusable(check, &name(0)), smallest(c, check, name)].into_iter().flatten().collect()
}

/// What the runs of a group were used for in the cases that an interval decides.
fn series(check: &Check) -> impl Iterator<Item = (SeriesUse, &LimitCase)> {
    check
        .cases
        .iter()
        .filter(|case| case.smallest.is_some())
        .filter_map(|case| Some((case.pair.as_ref()?.series, case)))
}

/// Whether the repeats of single runs decide, which vary less than runs do.
fn by_repeats(check: &Check) -> bool {
    series(check).any(|(series, _)| series == SeriesUse::SingleRuns)
}

/// By how much runs of a group differ, under the load that varies most, or that nothing says it.
fn runs_of_series(check: &Check, name: impl Fn(usize) -> String) -> Option<String> {
    let decides = series(check).filter_map(|(series, case)| Some((series.decides()?, clean(&case.load))));
    if let Some((series, load)) = decides.max_by(|a, b| a.0.deviation.total_cmp(&b.0.deviation)) {
        let on = if series.days > 1 { format!(" on {} days", series.days) } else { String::new() };
        let deviation = figures(series.deviation * 100.0);
        let (runs, group) = (series.runs, name(series.group));
        return Some(format!(
            "standard deviation between {runs} runs of {group}{on}: at most {deviation} %, for {load}"
        ));
    }
    by_repeats(check).then(|| {
        "decided by the repeats of single runs; three or more runs of the reference would show how much runs differ"
            .to_owned()
    })
}

/// Why the runs of the reference do not decide, where they were asked.
fn unusable(check: &Check, reference: &str) -> Option<String> {
    let why = series(check).find_map(|(series, _)| match series {
        SeriesUse::Unusable { why } => Some(why),
        _ => None,
    })?;
    let why = match why {
        NoSeries::Few => "they are fewer than three",
        NoSeries::Undated => "one of the runs does not say its day",
        NoSeries::Hosts => "not all runs are known to be of one host and one computer",
        NoSeries::Days => "they are of one day or two, and the other group is of another",
        NoSeries::Equal => "they are equal, and look like copies",
    };
    Some(format!(
        "the spread between the runs of {reference} does not decide, as {why}; what another day may change is assumed"
    ))
}

/// `9 %`, `1.3 %`: rounded up, as less cannot be held.
fn rounded_up(share: f64) -> String {
    let percent = share * 100.0;
    let step = if percent < 10.0 { 10.0 } else { 1.0 };
    format!("{} %", trimmed((percent * step - 1e-9).ceil() / step, 1))
}

/// A limit above this share would find no change.
const HOPELESS: f64 = 10.0;

/// The smallest limits that are kept without a change: of the load that varies most, and of the one that varies least.
fn smallest(c: &Comparison, check: &Check, name: impl Fn(usize) -> String) -> Option<String> {
    let place = |case: &LimitCase| match c.groups.len() {
        2 => clean(&case.load),
        _ => format!("{} of {}", clean(&case.load), name(case.group)),
    };
    let of_case = |case: &LimitCase| case.smallest.map(|smallest| (smallest, place(case)));
    let mut all: Vec<(f64, String)> = check.cases.iter().filter_map(of_case).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((least, quiet), (most, loud)) = (all.first()?, all.last()?);
    if *most > HOPELESS {
        return Some("no limit is kept here without a change by chance: more repeats are needed".to_owned());
    }
    let known = if by_repeats(check) { "at least " } else { "" };
    let from = format!("smallest limit that an unchanged group would pass here: {known}{}", rounded_up(*most));
    Some(match all.len() {
        1 => from,
        _ if rounded_up(*least) == rounded_up(*most) => from,
        _ => format!("{from} for {loud}, down to {} for {quiet}", rounded_up(*least)),
    })
}

#[cfg(test)]
mod tests {
    use assay_analysis::compare::{CompareRequest, GateLimit, RecordGroup, compare, gate};
    use assay_core::observation::Observation;

    use super::*;

    /// One limit that fails, one that passes, one that no load can be judged by.
    fn example(unknown_fails: bool) -> (Comparison, Gate) {
        let base = assay_analysis::published("sandisk-ultra-a1").unwrap();
        let slow: Vec<Observation> = base
            .iter()
            .map(|record| {
                let mut record = record.clone();
                record.id.push('x');
                record.measurements.truncate(1);
                for estimate in
                    record.measurements.iter_mut().flat_map(|m| [&mut m.iops, &mut m.bytes_per_second]).flatten()
                {
                    estimate.point *= 0.7;
                }
                record
            })
            .collect();
        let group = |name: &str, records| RecordGroup { name: name.to_owned(), records };
        let groups = [group("old", base.iter().collect()), group("new", slow.iter().collect())];
        let limits =
            ["slower than 5% for random read 4 KiB, 4 jobs", "faster than 5% for random read", "p99 higher than 1%"];
        let mut limits: Vec<GateLimit> = limits.iter().map(|text| GateLimit::parse(text).unwrap()).collect();
        // A limit that no user would write, to test the escapes.
        limits[1].text = "faster than 5% for <random> read".to_owned();
        let shown = compare(&groups, &CompareRequest::default()).unwrap();
        let gate = gate(&groups, &CompareRequest::default(), &shown, &limits, unknown_fails).unwrap();
        (shown, gate)
    }

    #[test]
    fn a_terminal_shows_what_fails_and_the_sum_last() {
        let (c, gate) = example(false);
        let text = gate_text(&c, &gate, &Style::default());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("Fail if slower than 5% for random read 4 KiB, 4 jobs failed: random read"), "{text}");
        assert!(words.contains("B is slower than A: −30.0 % ("), "{text}");
        assert!(words.contains("Fail if p99 higher than 1% cannot tell: no load has this figure"), "{text}");
        assert!(text.lines().last().unwrap().starts_with("Limits: 1 failed, "), "{text}");
        let why = "a figure reached its bus, and the medium may be faster";
        assert!(words.matches(why).count() <= 1, "equal reasons are told once: {text}");
        let markdown = crate::compare::document(&c, Some(&gate)).markdown();
        assert!(markdown.contains("| failed | random read"), "{markdown}");
    }

    #[test]
    fn junit_counts_what_it_holds_and_escapes_it() {
        for unknown_fails in [false, true] {
            let (c, gate) = example(unknown_fails);
            let xml = gate_junit(&c, &gate);
            let count = |tag: &str| xml.matches(&format!("<{tag} ")).count();
            let total = xml.lines().nth(1).unwrap();
            assert!(total.contains(&format!("tests=\"{}\"", count("testcase"))), "{xml}");
            assert!(total.contains(&format!("failures=\"{}\"", count("failure"))) && count("failure") == 1, "{xml}");
            let unknown = if unknown_fails { ("errors", count("error")) } else { ("skipped", count("skipped")) };
            assert!(unknown.1 > 0 && total.contains(&format!("{}=\"{}\"", unknown.0, unknown.1)), "{xml}");
            assert!(
                xml.contains("4 jobs, new against old\"") && xml.contains("new is slower than old: −30.0 % ("),
                "{xml}"
            );
            assert!(xml.contains("faster than 5% for &lt;random&gt; read") && !xml.contains("<random>"), "{xml}");
        }
    }

    #[test]
    fn annotations_are_lines_that_github_reads() {
        let (c, gate) = example(false);
        let lines = gate_github(&c, &gate);
        assert!(lines.lines().all(|line| line.starts_with("::")), "{lines}");
        assert!(
            lines.starts_with("::error title=assay%3A slower than 5%25 for random read 4 KiB%2C 4 jobs::"),
            "{lines}"
        );
        assert!(lines.contains("::warning title=assay%3A cannot tell whether p99 higher than 1%25::"), "{lines}");
        assert!(lines.lines().last().unwrap().starts_with("::notice title=assay%3A limits::1 failed, "), "{lines}");
        assert!(gate_github(&c, &Gate { unknown_fails: true, ..gate }).contains("::error title=assay%3A cannot tell"));
    }
}
