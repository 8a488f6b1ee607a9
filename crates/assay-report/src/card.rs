//! The terminal card of one record; and one medium in brief, as a page shows it beside other media.

use assay_analysis::unit_words;
use assay_core::finding::Severity;
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text::clean;
use assay_core::workload::Pattern;
use unicode_width::UnicodeWidthStr;

use crate::document::Cell;
use crate::facts::{self, Rank};
use crate::headline::{Columns, Shown, percent};
use crate::list::{figure_cell, figure_title};
use crate::presented::{Crosscheck, Figure, LoadRow, Mark, Presented, common_finding};
use crate::terminal::{Line, Page, Paint, Style, VALUES, shorten};
use crate::verdict::{Tone, checked, tone, word};
use crate::{caveats, health};

/// The card of `record`; no line is wider than the style asks for (40 columns at least).
#[must_use]
pub fn card(record: &Record, style: &Style) -> String {
    let mut page = Page::new(style.bounded());
    let presented = Presented::from_record(record);
    add_head(&mut page, &presented);
    add_loads(&mut page, &presented);
    add_soak(&mut page, record);
    add_crosscheck(&mut page, &presented);
    crate::verification::check_on_card(&mut page, &presented);
    add_foot(&mut page, &presented);
    page.finish()
}

// What was measured, where, and how it is attached.

/// Serial numbers are cut to this in the corner.
const UNIT: usize = 20;

fn add_head(page: &mut Page, record: &Presented<'_>) {
    let title = page.style.fold(&record.title);
    let kind = record.kind;
    let unit = Some(shorten(&unit_words(&record.unit), UNIT)).filter(|unit| !unit.is_empty());
    // A medium that says nothing about itself is titled by its kind already.
    let corner: Vec<String> =
        Some(kind).filter(|kind| !title.starts_with(kind)).map(str::to_owned).into_iter().chain(unit).collect();
    let corner = corner.join(" · ");
    let width = page.style.width;
    if title.width() + 3 + page.style.fold(&corner).width() <= width {
        let mut line = page.line();
        line.push(Paint::Bold, &title).right(Paint::Dim, &corner, width);
        page.add(line);
    } else {
        page.text(Paint::Bold, 0, &title);
        page.text(Paint::Dim, 0, &corner);
    }
    page.rule();
    record.about.iter().filter(|fact| fact.rank == Rank::Card).for_each(|fact| fact.line(page));
    page.blank();
}

// The table of workloads.

/// The cells of a load that has figures.
struct Cells<'a> {
    load: &'a LoadRow<'a>,
    iops: Option<Shown>,
    rate: Option<Shown>,
    durable: Option<Shown>,
    p50: &'a str,
    p99: &'a str,
    share: Option<f64>,
}

/// Columns that fit the width.
struct Layout {
    title: usize,
    /// No column fits: figures follow their titles as text.
    as_text: bool,
    iops: usize,
    rate: usize,
    p50: usize,
    p99: usize,
    bar: usize,
    share: usize,
}

const GAP: usize = 2;
/// What stands in front of a rate with the final sync, and the same where there is less room.
const DURABLE: [&str; 2] = ["  synced at the end", "  synced"];
/// The same of mixed loads, whose rate with the sync is that of their writes alone.
const DURABLE_OF_WRITES: [&str; 2] = ["  writes, synced at the end", "  writes, synced"];

fn durable_names(of_writes: bool) -> [&'static str; 2] {
    if of_writes { DURABLE_OF_WRITES } else { DURABLE }
}

/// Room for `>999 %` and a mark.
const SHARE: usize = 7;

fn add_loads(page: &mut Page, record: &Presented<'_>) {
    if record.loads.is_empty() {
        return;
    }
    let rows: Vec<Cells<'_>> = record.loads.iter().map(load_cells).collect();
    let layout = table_layout(page.style, &rows, record.record.medium.reachable().is_some());
    let mut first = true;
    for (pattern, name) in SECTIONS {
        let group: Vec<&Cells<'_>> = rows.iter().filter(|row| row.load.pattern == pattern).collect();
        if group.is_empty() {
            continue;
        }
        if !first {
            page.blank();
        }
        heading(page, name, &layout, first, pattern == Some(Pattern::Random));
        first = false;
        for row in group {
            add_row(page, row, &layout);
        }
    }
    page.blank();
    page.text(Paint::Dim, 0, &record.legend().join(" · "));
}

/// Sections of the table. The last one is for imported figures with an unknown pattern.
const SECTIONS: [(Option<Pattern>, &str); 3] =
    [(Some(Pattern::Sequential), "sequential"), (Some(Pattern::Random), "random"), (None, "pattern unknown")];

fn load_cells<'a>(load: &'a LoadRow<'a>) -> Cells<'a> {
    let figures = load.figures.as_ref().ok();
    let shown = |figure: Option<Figure<'_>>| figure.map(|figure| figure.shown());
    Cells {
        load,
        iops: shown(figures.and_then(|f| f.iops)),
        rate: shown(figures.and_then(|f| f.rate)),
        durable: shown(figures.and_then(|f| f.durable)),
        p50: figures.map_or("", |f| &f.p50),
        p99: figures.map_or("", |f| &f.p99),
        share: figures.and_then(|f| f.share),
    }
}

impl Cells<'_> {
    /// The section says whether it is sequential or random.
    fn name(&self) -> &str {
        &self.load.title_without_pattern
    }

    /// Whether the rate with the final sync is that of the writes of a mixed load.
    fn durable_of_writes(&self) -> bool {
        self.load.figures.as_ref().is_ok_and(|figures| figures.durable_of_writes)
    }

    fn mark(&self) -> &'static str {
        self.load.mark.map_or("", Mark::character)
    }
}

fn table_layout<'a>(style: Style, rows: &[Cells<'a>], ceiling: bool) -> Layout {
    let widest = |cells: &mut dyn Iterator<Item = String>| cells.map(|c| style.fold(&c).width()).max().unwrap_or(0);
    let figures = |pick: for<'r> fn(&'r Cells<'a>) -> &'r Option<Shown>| {
        widest(&mut rows.iter().map(|r| pick(r).as_ref().map_or_else(String::new, Shown::text)))
    };
    let column = |natural: usize, heading: &str| if natural == 0 { 0 } else { GAP + natural.max(heading.len()) };
    let iops = column(figures(|r| &r.iops), "IOPS");
    let rate = column(figures(|r| &r.rate).max(figures(|r| &r.durable)), "MB/s");
    let p50 = column(widest(&mut rows.iter().map(|r| r.p50.to_owned())), "p50");
    let p99 = column(widest(&mut rows.iter().map(|r| r.p99.to_owned())), "p99");
    let has_mixed = rows.iter().any(|row| row.durable.is_some() && row.durable_of_writes());
    let synced = durable_names(has_mixed).map(str::len);
    let titles = widest(&mut rows.iter().map(|r| r.name().to_owned())).max(synced[0]);
    let share = if ceiling { GAP + SHARE } else { 2 };
    let figures = iops + rate + p50 + p99 + share;
    let mut l = Layout { title: titles, as_text: false, iops, rate, p50, p99, bar: 0, share };
    if titles + figures > style.width {
        // What matters least goes first: the median, then titles move to lines of their own.
        if titles + figures - p50 <= style.width {
            l.p50 = 0;
        } else {
            narrow(&mut l, synced, style.width);
        }
    }
    let used = l.title + l.iops + l.rate + l.p50 + l.p99 + l.share;
    let left = style.width.saturating_sub(used);
    if ceiling && l.share > SHARE && left >= 5 {
        l.bar = (left - 1).min(20);
        l.title += left - 1 - l.bar;
    } else {
        l.title += left;
    }
    l
}

/// Titles on lines of their own, but what stands in front of a rate with the final sync; then columns go, what matters least
/// first.
fn narrow(l: &mut Layout, [name, short]: [usize; 2], width: usize) {
    let figures = |l: &Layout| l.iops + l.rate + l.p50 + l.p99 + l.share;
    let fits = |l: &Layout| short + figures(l) <= width;
    if !fits(l) {
        l.p50 = 0;
    }
    if !fits(l) {
        l.share = 2;
    }
    if !fits(l) {
        l.p99 = 0;
    }
    l.as_text = !fits(l);
    l.title = name.min(width.saturating_sub(figures(l)));
}

impl Layout {
    fn iops_end(&self) -> usize {
        self.title + self.iops
    }
    fn rate_end(&self) -> usize {
        self.iops_end() + self.rate
    }
    fn p50_end(&self) -> usize {
        self.rate_end() + self.p50
    }
    fn p99_end(&self) -> usize {
        self.p50_end() + self.p99
    }
    fn bar_start(&self) -> usize {
        self.p99_end() + GAP
    }
}

fn heading(page: &mut Page, name: &str, l: &Layout, first: bool, random: bool) {
    let mut line = page.line();
    line.push(Paint::Bold, name);
    if l.as_text {
        return page.add(line);
    }
    if random && l.iops > 0 {
        line.right(Paint::Dim, "IOPS", l.iops_end());
    }
    if first || random {
        if l.rate > 0 {
            line.right(Paint::Dim, "MB/s", l.rate_end());
        }
        if l.p50 > 0 {
            line.right(Paint::Dim, "p50", l.p50_end());
        }
        if l.p99 > 0 {
            line.right(Paint::Dim, "p99", l.p99_end());
        }
        if l.share > SHARE && l.p99_end() > 0 {
            line.to(l.bar_start()).push(Paint::Dim, if l.bar >= 5 { "share of bus" } else { "of bus" });
        }
    }
    page.add(line);
}

fn add_row(page: &mut Page, row: &Cells<'_>, l: &Layout) {
    if let Err(words) = &row.load.figures {
        let mut line = page.line();
        line.push(Paint::Plain, row.name());
        if line.width() + GAP + page.style.fold(words).width() <= page.style.width {
            // Under the figures of the others where there is room, else right behind the title.
            let aligned = l.title.max(line.width());
            let fits = aligned + GAP + page.style.fold(words).width() <= page.style.width;
            let start = if fits { aligned } else { line.width() };
            line.to(start + GAP).push(Paint::Dim, words);
            page.add(line);
        } else {
            page.add(line);
            page.text(Paint::Dim, 2, words);
        }
        add_note(page, row);
        return;
    }
    if l.as_text {
        return add_text(page, row);
    }
    let mut line = page.line();
    line.push(Paint::Plain, row.name());
    if line.width() > l.title {
        page.text(Paint::Plain, 0, row.name());
        line = page.line();
    }
    figure(&mut line, page.style, &row.iops, l.iops_end());
    figure(&mut line, page.style, &row.rate, l.rate_end());
    if l.p50 > 0 {
        line.right(Paint::Plain, row.p50, l.p50_end());
    }
    if l.p99 > 0 {
        line.right(Paint::Plain, row.p99, l.p99_end());
    }
    let mark_paint = if row.load.mark == Some(Mark::Invalid) { Paint::Bad } else { Paint::Plain };
    if let Some(share) = row.share.filter(|_| l.share > SHARE) {
        bar(&mut line, page.style, share, l);
        line.right(Paint::Plain, &percent(share), page.style.width - 1);
    }
    line.to(page.style.width - 1).push(mark_paint, row.mark());
    page.add(line);
    if let Some(durable) = &row.durable {
        let mut line = page.line();
        let room = l.rate_end().saturating_sub(page.style.fold(&durable.text()).width() + 1);
        let [name, short] = durable_names(row.durable_of_writes());
        line.push(Paint::Dim, if room >= name.len() { name } else { short });
        figure(&mut line, page.style, &Some(durable.clone()), l.rate_end());
        page.add(line);
    }
    add_note(page, row);
}

/// A row as words under its title: each figure whole, with its unit.
fn add_text(page: &mut Page, row: &Cells<'_>) {
    page.text(Paint::Plain, 0, row.name());
    let figure = |figure: &Option<Shown>, unit: &str| figure.as_ref().map(|f| format!("{} {unit}", f.text()));
    let time = |name: &str, time: &str| (!time.is_empty()).then(|| format!("{name} {time}"));
    let mark = Some(row.mark().to_owned()).filter(|mark| !mark.is_empty());
    let parts = [
        figure(&row.iops, "IOPS"),
        figure(&row.rate, "MB/s"),
        figure(&row.durable, if row.durable_of_writes() { "MB/s of writes, synced" } else { "MB/s synced" }),
        time("p50", row.p50),
        time("p99", row.p99),
        row.share.map(|share| format!("{} of the bus", percent(share))),
        mark,
    ];
    page.text(Paint::Bold, 2, &parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    add_note(page, row);
}

fn add_note(page: &mut Page, row: &Cells<'_>) {
    if let Some(words) = &row.load.scaled_down {
        page.text(Paint::Care, 2, words);
    }
}

fn figure(line: &mut Line, style: Style, figure: &Option<Shown>, end: usize) {
    if let Some(f) = figure {
        let wide = style.fold(&f.text()).width();
        line.to(end.saturating_sub(wide)).push(Paint::Bold, &f.value);
        if !f.spread.is_empty() {
            line.push(Paint::Dim, &format!(" {}", f.spread));
        }
    }
}

/// Eighths of a cell, from U+2588 and below.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

fn bar(line: &mut Line, style: Style, share: f64, l: &Layout) {
    if l.bar == 0 || !share.is_finite() {
        return;
    }
    let filled = share.clamp(0.0, 1.0) * l.bar as f64;
    let whole = filled.floor() as usize;
    let mut full = "█".repeat(whole);
    let eighth = ((filled - whole as f64) * 8.0).floor() as usize;
    if whole < l.bar && style.unicode {
        full.extend(EIGHTHS.get(eighth).filter(|_| eighth > 0 || whole == 0));
    }
    if full.trim().is_empty() && style.unicode {
        full = "▏".to_owned();
    }
    let rest = l.bar.saturating_sub(full.chars().count());
    line.to(l.bar_start())
        .push(Paint::Plain, &full)
        .push(Paint::Dim, &if style.unicode { "·" } else { "." }.repeat(rest));
}

// What soaks show over time.

fn add_soak(page: &mut Page, record: &Record) {
    for soak in record.measurements.iter().filter_map(|m| m.soak.as_ref()) {
        page.blank();
        page.labelled("soak", Paint::Dim, &soak.rates(), Paint::Plain);
        let paint = if soak.cliff.is_some() { Paint::Care } else { Paint::Plain };
        page.labelled("", Paint::Dim, &soak.cliff_sentence(), paint);
    }
}

// How far another instrument agrees.

/// Right edges of the columns after the workload's name.
const EDGES: [usize; 3] = [42, 60, 79];

fn add_crosscheck(page: &mut Page, record: &Presented<'_>) {
    let Some(found) = &record.crosscheck else { return };
    page.blank();
    let width = page.style.width;
    // Narrow terminals keep the ratio of the rates, which is the answer.
    let columns = EDGES.iter().filter(|edge| **edge <= width).count().max(1);
    let edges = if EDGES[0] <= width { &EDGES[..columns] } else { &EDGES[..0] };
    let mut line = page.line();
    line.push(Paint::Bold, &found.title);
    for (head, edge) in Crosscheck::COLUMNS.iter().zip(edges) {
        line.right(Paint::Dim, head, *edge);
    }
    page.add(line);
    for row in &found.rows {
        if edges.is_empty() {
            page.text(Paint::Plain, 0, &format!("{}: rate {}", row.workload, row.rate));
            continue;
        }
        let mut line = page.line();
        line.push(Paint::Plain, &row.workload);
        // A long title has a line of its own: beside it figures would be cut.
        if line.width() + 1 + page.style.fold(&row.rate).width() > edges[0] {
            page.text(Paint::Plain, 0, &row.workload);
            line = page.line();
        }
        for (value, edge) in [&row.rate, &row.p50, &row.p99].into_iter().zip(edges) {
            line.to(line.width() + 1).right(Paint::Plain, value, *edge);
        }
        page.add(line);
        if let Some(trouble) = &row.trouble {
            page.text(Paint::Care, 2, trouble);
        }
    }
}

// Classes, warnings, outcome and the verdict.

fn add_foot(page: &mut Page, record: &Presented<'_>) {
    page.rule();
    record.results.iter().filter(|fact| fact.rank == Rank::Card).for_each(|fact| fact.line(page));
    for note in &record.notes {
        let paint = match note.severity {
            Severity::Invalid => Paint::Bad,
            Severity::Suspect => Paint::Care,
            Severity::Note => Paint::Dim,
        };
        page.labelled(note.word(), paint, &note.sentence(), Paint::Plain);
        if !note.remedy.is_empty() {
            page.text(Paint::Dim, VALUES, &format!("→ {}", note.remedy));
        }
    }
    page.rule();
    let paint = match record.tone {
        Tone::Good => Paint::Good,
        Tone::Plain => Paint::Plain,
        Tone::Care => Paint::Care,
        Tone::Bad => Paint::Bad,
    };
    page.text(paint, 0, &record.sentence);
}

/// A medium and the last that is known of it. All text is plain and may come from elsewhere: a page escapes it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitCard {
    /// Vendor, model and capacity, or the label `model`.
    pub title: String,
    /// Unit, slot and host, as far as they are known.
    pub place: String,
    /// Id of the last record with figures, or else of the last record.
    pub record: String,
    /// When it was begun.
    pub when: String,
    /// How it ended, or whether its figures can be trusted.
    pub word: &'static str,
    /// Class of the tone: `good`, `plain`, `care` or `bad`.
    pub tone: &'static str,
    /// Title, value, and interval with the number of repeats.
    pub figures: Vec<(String, String, String)>,
    /// What the medium says of its own state.
    pub health: Option<String>,
    /// Verdict of the last check for genuineness.
    pub check: Option<String>,
    /// The last record against the one before it, under the load that decides; none with fewer than two.
    pub trend: Option<String>,
    /// The gravest warning of the last record.
    pub problem: Option<String>,
}

impl UnitCard {
    /// Of the newest records of one medium, oldest first; none without a record. Verdicts of checks are expected to be shared with
    /// the records, as every query does.
    #[must_use]
    pub fn from_records(records: &[Observation]) -> Option<Self> {
        let measured: Vec<&Observation> = records.iter().filter(|record| !record.measurements.is_empty()).collect();
        let last = measured.last().copied().or(records.last())?;
        let alone = std::slice::from_ref(last);
        let loads = Columns::from_records(alone);
        let figure = |at: usize| {
            let Cell { value, small, .. } = figure_cell(&loads, last, at);
            (figure_title(&loads, at), value, small)
        };
        let gravest =
            caveats::notes(last).into_iter().next().filter(|note| note.severity > assay_core::finding::Severity::Note);
        Some(Self {
            title: last.title(),
            place: place(last),
            record: last.id.clone(),
            when: facts::when(&last.created),
            word: word(last),
            tone: tone_name(tone(last)),
            figures: loads.filled().into_iter().map(figure).collect(),
            health: health::words(&last.medium),
            check: last.verification.as_ref().map(|found| checked(found).to_owned()),
            trend: trend(&measured),
            problem: gravest.map(|note| note.short_sentence(last.measurements.len())),
        })
    }
}

fn tone_name(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Plain => "plain",
        Tone::Care => "care",
        Tone::Bad => "bad",
    }
}

fn place(record: &Observation) -> String {
    let part = |name: &str, text: String| (!text.is_empty()).then(|| format!("{name} {text}"));
    let host = record.host.hostname.as_deref().map(clean).unwrap_or_default();
    let parts = [part("unit", facts::unit(record)), part("slot", facts::slot(record)), part("on", host)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The finding of `assay compare` on the last two records.
fn trend(measured: &[&Observation]) -> Option<String> {
    let [.., before, last] = measured else { return None };
    Some(common_finding(&[(*before).clone(), (*last).clone()], None).title)
}
