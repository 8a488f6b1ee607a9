//! The table of workloads.

use assay_core::workload::Pattern;
use unicode_width::UnicodeWidthStr;

use crate::figure::{Shown, percent};
use crate::line::{Line, Page, Paint};
use crate::presented::{Figure, LoadRow, Mark, Presented};
use crate::style::Style;

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
const DURABLE: &str = "  synced at the end";
/// The same where there is less room.
const DURABLE_SHORT: &str = "  synced";
/// Room for `>999 %` and a mark.
const SHARE: usize = 7;

pub(crate) fn add(page: &mut Page, record: &Presented<'_>) {
    if record.loads.is_empty() {
        return;
    }
    let rows: Vec<Cells<'_>> = record.loads.iter().map(cells).collect();
    let layout = layout(page.style, &rows, record.record.medium.reachable().is_some());
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

fn cells<'a>(load: &'a LoadRow<'a>) -> Cells<'a> {
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

    fn mark(&self) -> &'static str {
        self.load.mark.map_or("", Mark::character)
    }
}

fn layout<'a>(style: Style, rows: &[Cells<'a>], ceiling: bool) -> Layout {
    let widest = |cells: &mut dyn Iterator<Item = String>| cells.map(|c| style.fold(&c).width()).max().unwrap_or(0);
    let figures = |pick: for<'r> fn(&'r Cells<'a>) -> &'r Option<Shown>| {
        widest(&mut rows.iter().map(|r| pick(r).as_ref().map_or_else(String::new, Shown::text)))
    };
    let column = |natural: usize, heading: &str| if natural == 0 { 0 } else { GAP + natural.max(heading.len()) };
    let iops = column(figures(|r| &r.iops), "IOPS");
    let rate = column(figures(|r| &r.rate).max(figures(|r| &r.durable)), "MB/s");
    let p50 = column(widest(&mut rows.iter().map(|r| r.p50.to_owned())), "p50");
    let p99 = column(widest(&mut rows.iter().map(|r| r.p99.to_owned())), "p99");
    let titles = widest(&mut rows.iter().map(|r| r.name().to_owned())).max(DURABLE.len());
    let share = if ceiling { GAP + SHARE } else { 2 };
    let figures = iops + rate + p50 + p99 + share;
    let mut l = Layout { title: titles, as_text: false, iops, rate, p50, p99, bar: 0, share };
    if titles + figures > style.width {
        // What matters least goes first: the median, then titles move to lines of their own.
        if titles + figures - p50 <= style.width {
            l.p50 = 0;
        } else {
            narrow(&mut l, style.width);
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

/// Titles on lines of their own; then columns go, what matters least first.
fn narrow(l: &mut Layout, width: usize) {
    let figures = |l: &Layout| l.iops + l.rate + l.p50 + l.p99 + l.share;
    let fits = |l: &Layout| DURABLE_SHORT.len() + figures(l) <= width;
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
    l.title = DURABLE.len().min(width.saturating_sub(figures(l)));
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
        note(page, row);
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
        line.push(Paint::Dim, if room >= DURABLE.len() { DURABLE } else { DURABLE_SHORT });
        figure(&mut line, page.style, &Some(durable.clone()), l.rate_end());
        page.add(line);
    }
    note(page, row);
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
        figure(&row.durable, "MB/s synced"),
        time("p50", row.p50),
        time("p99", row.p99),
        row.share.map(|share| format!("{} of the bus", percent(share))),
        mark,
    ];
    page.text(Paint::Bold, 2, &parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    note(page, row);
}

fn note(page: &mut Page, row: &Cells<'_>) {
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
