//! The findings of a check as text, and as a section of card and page.

use assay_core::record::Record;
use assay_core::text::{clean, statement};
use assay_core::units::{Bytes, capacity, rate, span};
use assay_core::verification::{
    Checker, Extent, FirstError, MapCell, Method, NoDirect, Offsets, Pass, ReadBack, Remark, SECTOR_BYTES, SectorClass,
    SectorCounts, Verdict, Verification,
};
use maud::{Markup, html};

use super::sentence::check_sentence;
use crate::facts::{Fact, Rank};
use crate::headline::percent;
use crate::html::{facts, said};
use crate::presented::Presented;
use crate::terminal::{Page, Paint, VALUES};

/// The largest number of data parts that are listed.
const PARTS: usize = 8;

/// `61 440 sectors of 512 B: 60 000 good, 1 440 overwritten`.
pub(crate) fn counts(verification: &Verification) -> String {
    let counts = &verification.counts;
    if counts.total() == 0 {
        return "nothing was read back".to_owned();
    }
    let parts: Vec<String> = ALL_SHADES
        .iter()
        .filter(|shade| shade.sectors(counts) > 0)
        .map(|shade| format!("{} {}", assay_core::units::grouped(signed(shade.sectors(counts))), shade.name()))
        .collect();
    // A probe tests some places of each address: their share is not that of the capacity that is missing.
    let lost = if counts.lost() > 0 && missing_from(verification).is_none() {
        format!(
            " ({} and {} lost)",
            percent(counts.lost() as f64 / counts.total() as f64),
            Bytes(counts.lost().saturating_mul(SECTOR_BYTES))
        )
    } else {
        String::new()
    };
    let sectors = if counts.total() == 1 { "sector" } else { "sectors" };
    let all = assay_core::units::grouped(signed(counts.total()));
    format!("{all} {sectors} of {SECTOR_BYTES} B: {}{lost}", parts.join(", "))
}

/// The address from which on a fake lacks memory, as a probe found it; `None` where nothing is missing. Beyond it, a single sector
/// may hold what was written until something else is.
fn missing_from(v: &Verification) -> Option<u64> {
    let probed = v.verdict == Verdict::Fake && v.method == Method::QuickProbe;
    v.real_bytes.filter(|real| probed && *real > 0 && *real < v.announced_bytes)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// `at 7.9 GiB (byte 8 489 271 296): holds the data of byte 0`; near the end by its distance from there, as the place itself
/// would be rounded to the end.
fn first_error(v: &Verification, first: &FirstError) -> String {
    let byte = |offset: u64| format!("byte {}", assay_core::units::grouped(signed(offset)));
    let what = match (first.class, first.holds_offset_bytes) {
        (SectorClass::Overwritten, Some(holds)) => format!("holds the data of {}", byte(holds)),
        (class, _) => Shade::from(class).name().to_owned(),
    };
    let before_end = v.announced_bytes.saturating_sub(first.offset_bytes);
    let is_end = before_end > 0 && Bytes(first.offset_bytes).to_string() == Bytes(v.announced_bytes).to_string();
    let place = if is_end {
        format!("{} before the end", Bytes(before_end))
    } else {
        format!("at {}", Bytes(first.offset_bytes))
    };
    let of_files = in_files(v).map_or_else(String::new, |words| format!(", {words}"));
    format!("{place} ({}{of_files}): {what}", byte(first.offset_bytes))
}

/// Says that places are counted in the order of the files, where their addresses on the device are not known.
pub(super) fn in_files(v: &Verification) -> Option<&'static str> {
    (v.offsets == Offsets::Files).then_some("in the order of the files")
}

/// What the speed is shown over.
pub(super) fn along(v: &Verification) -> &'static str {
    in_files(v).unwrap_or("along the address")
}

/// `23.0 MB/s, 22.8 to 23.1 MB/s along the address; 4.00 GiB in 3 min 6 s`; nothing where nothing moved.
pub(super) fn pass_sentence(v: &Verification, pass: &Pass) -> Option<String> {
    let mean = pass.bytes_per_second().filter(|_| pass.bytes > 0)?;
    let rates: Vec<f64> = rates(pass);
    let range = match (rates.iter().copied().reduce(f64::min), rates.iter().copied().reduce(f64::max)) {
        (Some(low), Some(high)) if rates.len() > 1 => format!(", {} to {} {}", rate(low), rate(high), along(v)),
        _ => String::new(),
    };
    let elapsed = span(std::time::Duration::from_nanos(pass.elapsed_ns));
    Some(format!("{}{range}; {} in {elapsed}", rate(mean), Bytes(pass.bytes)))
}

/// Bytes per second of each part, in the order of the offset. Parts that several operations in
/// flight cross are joined until each lasts 1/64 of the pass: a shorter one is an accident of who
/// came first.
pub(crate) fn rates(pass: &Pass) -> Vec<f64> {
    let least = (pass.elapsed_ns / 64).max(1);
    let (mut rates, mut bytes, mut elapsed_ns) = (Vec::new(), 0u64, 0u64);
    for part in &pass.speed {
        bytes = bytes.saturating_add(part.bytes);
        elapsed_ns = elapsed_ns.saturating_add(part.elapsed_ns);
        if elapsed_ns >= least {
            rates.push(bytes as f64 / (elapsed_ns as f64 / 1e9));
            (bytes, elapsed_ns) = (0, 0);
        }
    }
    rates
}

/// A part of what a check found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Fact(Fact),
    /// Where the map of the medium stands.
    Map,
    /// Bytes per second along the offset.
    Curve(Vec<f64>),
}

/// What a check found, in order; nothing where nothing was checked.
pub(crate) fn parts(record: &Record) -> Vec<Part> {
    let Some(v) = &record.verification else { return Vec::new() };
    let fact = |name: &str, words: Option<String>| Fact::new(Rank::Card, name, words).map(Part::Fact);
    let paint = match v.verdict {
        Verdict::Genuine => Paint::Good,
        Verdict::Fake | Verdict::Damaged | Verdict::Failed => Paint::Bad,
        Verdict::Undecided | Verdict::Other => Paint::Care,
    };
    let found =
        Fact::new(Rank::Card, "check", statement(&check_sentence(v))).map(|fact| Part::Fact(Fact { paint, ..fact }));
    let mut parts = vec![
        found,
        fact("capacity", Some(size_words(v, record.medium.capacity_bytes))),
        // Another tool's report of a good medium has no counts.
        fact("sectors", Some(counts(v)).filter(|_| v.counts.total() > 0 || v.checker == Checker::Assay)),
        match missing_from(v) {
            Some(from) => fact("missing", Some(format!("all from {} on", Bytes(from)))),
            None => fact("1st error", v.first_error.as_ref().map(|first| first_error(v, first))),
        },
        (!v.map.is_empty()).then_some(Part::Map),
    ];
    for (name, pass) in [("write", &v.write), ("read", &v.read)] {
        if let Some((pass, words)) = pass.as_ref().and_then(|p| Some((p, pass_sentence(v, p)?))) {
            parts.extend([fact(name, Some(words)), Some(Part::Curve(rates(pass)))]);
        }
    }
    let cache = v.cache_bytes.map(|bytes| format!("{} in the medium, which first hid the loss", Bytes(bytes)));
    let last = [("proof", read_back_words(v)), ("cache", cache), ("holds", holds_words(v)), ("reach", reach_words(v))];
    parts.extend(last.map(|(name, words)| fact(name, words)));
    parts.into_iter().flatten().collect()
}

/// How it was assured that data came from the medium; `None` where the check did not say.
fn read_back_words(v: &Verification) -> Option<String> {
    let salted = "each sector was new random data, read back by direct I/O";
    Some(match &v.read_back {
        ReadBack::Direct => "direct I/O: reads go past the page cache to the medium".to_owned(),
        ReadBack::Cached { because, dropped } => {
            let because = match because {
                NoDirect::Asked => "it was asked not to".to_owned(),
                NoDirect::Blocks { bytes } => format!("it wants blocks of {bytes} bytes"),
                NoDirect::Refused { said } => clean(said),
                NoDirect::Other => "a newer version knows why".to_owned(),
            };
            let then = if *dropped {
                "each file is synced and dropped from the page cache before it is read"
            } else {
                "the data may have come from memory"
            };
            format!("no direct I/O ({because}): {then}")
        }
        ReadBack::Salted { elsewhere_bytes } => match (v.cache_bytes, v.verdict) {
            (Some(bytes), _) => format!("{salted}, past a cache of at most {}", Bytes(bytes)),
            (None, Verdict::Genuine | Verdict::Undecided) => {
                format!("{salted}, after {} had been written elsewhere", Bytes(*elsewhere_bytes))
            }
            (None, _) => salted.to_owned(),
        },
        ReadBack::Untold | ReadBack::Other => return None,
    })
}

/// `504 MiB announced, 120 MiB (126 MB) real; all checked`.
fn size_words(v: &Verification, medium_bytes: Option<u64>) -> String {
    let real = match v.real_bytes {
        Some(bytes) if bytes == v.announced_bytes && v.checked_bytes >= bytes => ", all of it real".to_owned(),
        Some(bytes) if bytes == v.announced_bytes => ", nothing missing where it was tested".to_owned(),
        Some(bytes) => format!(", {} ({}) real", Bytes(bytes), capacity(bytes)),
        None => match (v.real_low_bytes, v.real_high_bytes) {
            (None, None) => String::new(),
            (low, high) => {
                format!(", {} to {} real", Bytes(low.unwrap_or(0)), Bytes(high.unwrap_or(v.announced_bytes)))
            }
        },
    };
    let checked = if v.checked_bytes == v.announced_bytes {
        "all checked".to_owned()
    } else {
        format!("{} checked", Bytes(v.checked_bytes))
    };
    // A check in files sees free space, and what the medium announces only where the file system tells addresses.
    let what = match v.method {
        Method::Full
            if v.remarks.contains(&Remark::OnlyRead) && medium_bytes.is_none_or(|all| v.announced_bytes < all) =>
        {
            "of files"
        }
        Method::Full | Method::QuickMounted if medium_bytes.is_none_or(|all| v.announced_bytes < all) => {
            "of free space"
        }
        _ => "announced",
    };
    format!("{} {what}{real}; {checked}", Bytes(v.announced_bytes))
}

/// Parts that hold data: `0 B to 504 MiB, 1 GiB to 1.2 GiB`; nothing where they are not known or
/// are all of it.
fn holds_words(v: &Verification) -> Option<String> {
    let whole = |extent: &Extent| extent.offset_bytes == 0 && extent.bytes >= v.announced_bytes;
    if v.holds.is_empty() || v.holds.iter().any(whole) {
        return None;
    }
    let part = |extent: &Extent| {
        format!("{} to {}", Bytes(extent.offset_bytes), Bytes(extent.offset_bytes.saturating_add(extent.bytes)))
    };
    let mut text = v.holds.iter().take(PARTS).map(part).collect::<Vec<_>>().join(", ");
    if v.holds.len() > PARTS {
        text.push_str(&format!(" and {} more", v.holds.len() - PARTS));
    }
    Some(text)
}

/// What the verdict is based on, and so what it does not exclude; `None` where the check does not say.
fn reach_words(v: &Verification) -> Option<String> {
    let reach = v.reach.as_ref()?;
    let mut parts = vec![format!("{} tested", percent(whole_percent(reach.tested_share)))];
    // Of a fake the loss is known.
    if v.verdict == Verdict::Fake {
        return Some(parts.join("; "));
    }
    if reach.tested_share < 1.0 && reach.loss_share > 0.0 {
        // All of it is more than that.
        let lost = if reach.loss_share > 0.99 { "over 99 %".to_owned() } else { percent(reach.loss_share) };
        let found = probability(reach.loss_found);
        parts.push(format!("a loss of {lost} of the capacity would be found (probability {found})"));
    }
    match reach.caches_up_to_bytes {
        Some(0) => parts.push("caches may hide one".to_owned()),
        Some(bytes) => parts.push(format!("caches up to {} do not hide one", Bytes(bytes))),
        None => {}
    }
    parts.push(if reach.thin_excluded {
        format!("thin provisioning with less than {} excluded", Bytes(v.checked_bytes))
    } else {
        "thin provisioning not excluded".to_owned()
    });
    Some(parts.join("; "))
}

/// A share of 1 % or more, rounded down to a whole percent, so that the tested share is never overstated.
fn whole_percent(share: f64) -> f64 {
    if share < 0.01 { share } else { (share * 100.0).floor() / 100.0 }
}

/// A probability, which is never quite one.
fn probability(value: f64) -> String {
    if value > 0.999 { "above 99.9 %".to_owned() } else { percent(whole_percent(value)) }
}

// The map of the medium: as many equal parts as there is room for, each shown as the worst that
// was found in it.

/// What a part of the map is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shade {
    /// Nothing in it was tested.
    Untested,
    /// All that was tested is good.
    Good,
    /// The worst in it is slightly changed.
    Changed,
    /// The worst in it holds what was written for another place.
    Overwritten,
    /// The worst in it holds something else.
    Corrupted,
    /// Something in it cannot be read.
    Unreadable,
    /// Beyond the real size of a fake.
    Missing,
}

/// Shades in the order of a legend.
pub(crate) const ALL_SHADES: [Shade; 7] = [
    Shade::Good,
    Shade::Changed,
    Shade::Overwritten,
    Shade::Corrupted,
    Shade::Unreadable,
    Shade::Missing,
    Shade::Untested,
];

impl From<SectorClass> for Shade {
    fn from(class: SectorClass) -> Self {
        match class {
            SectorClass::Good => Self::Good,
            SectorClass::Changed => Self::Changed,
            SectorClass::Overwritten => Self::Overwritten,
            SectorClass::Corrupted => Self::Corrupted,
            SectorClass::Unreadable => Self::Unreadable,
        }
    }
}

impl Shade {
    /// Whether data are lost.
    pub(crate) fn lost(self) -> bool {
        !matches!(self, Self::Good | Self::Untested)
    }

    fn from_counts(counts: &SectorCounts) -> Self {
        let classes = [
            (counts.unreadable, Self::Unreadable),
            (counts.corrupted, Self::Corrupted),
            (counts.overwritten, Self::Overwritten),
            (counts.changed, Self::Changed),
        ];
        match classes.into_iter().find(|(sectors, _)| *sectors > 0) {
            Some((_, shade)) => shade,
            None if counts.good > 0 => Self::Good,
            None => Self::Untested,
        }
    }

    /// A character that tells it without colour; the terminal's fonts and ASCII have it.
    pub(crate) fn symbol(self) -> char {
        match self {
            Self::Untested => '.',
            Self::Good => '#',
            Self::Changed => 'c',
            Self::Overwritten => 'o',
            Self::Corrupted => 'x',
            Self::Unreadable => '!',
            Self::Missing => '-',
        }
    }

    /// Its name in a legend.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Untested => "not tested",
            Self::Good => "good",
            Self::Changed => "slightly changed",
            Self::Overwritten => "overwritten",
            Self::Corrupted => "corrupted",
            Self::Unreadable => "unreadable",
            Self::Missing => "missing",
        }
    }

    /// Sectors of it.
    pub(crate) fn sectors(self, counts: &SectorCounts) -> u64 {
        match self {
            Self::Untested | Self::Missing => 0,
            Self::Good => counts.good,
            Self::Changed => counts.changed,
            Self::Overwritten => counts.overwritten,
            Self::Corrupted => counts.corrupted,
            Self::Unreadable => counts.unreadable,
        }
    }
}

/// The map of a check in at most `parts` parts, each of as many cells.
fn map_shades(v: &Verification, parts: usize) -> Vec<Shade> {
    let mut all = shades(&v.map, parts);
    if let Some(from) = missing_from(v) {
        let there = (u128::from(from) * all.len() as u128).div_ceil(u128::from(v.announced_bytes)) as usize;
        all.iter_mut().skip(there).for_each(|shade| *shade = Shade::Missing);
    }
    all
}

fn shades(map: &[MapCell], parts: usize) -> Vec<Shade> {
    let parts = parts.min(map.len()).max(1);
    (0..parts)
        .map(|part| {
            let cells = &map[part * map.len() / parts..(part + 1) * map.len() / parts];
            let mut counts = SectorCounts::default();
            cells.iter().for_each(|cell| counts.merge(&cell.counts));
            Shade::from_counts(&counts)
        })
        .collect()
}

/// Rows of the map at most.
const ROWS: usize = 4;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(crate) fn check_on_card(page: &mut Page, record: &Presented<'_>) {
    if !record.check.is_empty() && !record.loads.is_empty() {
        page.blank();
    }
    for part in &record.check {
        match part {
            Part::Fact(fact) => fact.line(page),
            Part::Map => record.record.verification.iter().for_each(|v| map_lines(page, v)),
            Part::Curve(rates) => curve(page, rates),
        }
    }
}

fn map_lines(page: &mut Page, v: &Verification) {
    let width = page.style.width.saturating_sub(VALUES).max(1);
    let all = map_shades(v, width * ROWS);
    for (row, shades) in all.chunks(width).enumerate() {
        let mut line = page.line();
        if row == 0 {
            line.push(Paint::Dim, "map");
        }
        line.to(VALUES);
        for same in shades.chunk_by(|a, b| a == b) {
            let symbol = match same[0] {
                Shade::Good if page.style.unicode => '█',
                shade => shade.symbol(),
            };
            line.push(shade_paint(same[0]), &symbol.to_string().repeat(same.len()));
        }
        page.add(line);
    }
    let seen = ALL_SHADES.into_iter().filter(|shade| all.contains(shade));
    let key = |shade: Shade| {
        let symbol = if shade == Shade::Good && page.style.unicode { '█' } else { shade.symbol() };
        format!("{symbol} {}", shade.name())
    };
    let legend: Vec<String> = seen.map(key).chain(in_files(v).map(str::to_owned)).collect();
    page.labelled("", Paint::Dim, &legend.join("  "), Paint::Dim);
}

fn shade_paint(shade: Shade) -> Paint {
    match shade {
        Shade::Good => Paint::Good,
        Shade::Untested => Paint::Dim,
        _ => Paint::Bad,
    }
}

/// Speed over the address as a row of bars from zero to the largest.
fn curve(page: &mut Page, rates: &[f64]) {
    let width = page.style.width.saturating_sub(VALUES).max(1);
    let top = rates.iter().copied().fold(0.0, f64::max);
    if !page.style.unicode || rates.len() < 2 || top <= 0.0 {
        return;
    }
    let columns = width.min(rates.len());
    let bar = |column: usize| {
        let part = &rates[column * rates.len() / columns..(column + 1) * rates.len() / columns];
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        BLOCKS[((mean / top * 8.0).ceil() as usize).clamp(1, 8) - 1]
    };
    let mut line = page.line();
    line.to(VALUES).push(Paint::Dim, &(0..columns).map(bar).collect::<String>());
    page.add(line);
}

// The check on the page: facts, a map as a drawing, speed over the address.

const COLUMNS: usize = 64;
const DRAWN_ROWS: usize = 16;
/// Side of a part of the map in units of the drawing.
const SIDE: usize = 10;

/// The section of the page; nothing where nothing was checked.
pub(crate) fn check_on_page(record: &Presented<'_>) -> Markup {
    let Some(v) = &record.record.verification else { return Markup::default() };
    html! {
        section.verification {
            h2 { "Genuine or fake" }
            // Where nothing was measured the sentence stands above already.
            (facts(record.checked().iter().filter(|(name, _)| name != "Check" || !record.loads.is_empty())))
            @if !v.map.is_empty() { (drawn_map(v)) }
            @for (name, pass) in [("Writing", &v.write), ("Reading", &v.read)] {
                @if let Some(drawing) = pass.as_ref().and_then(|pass| speed(v, name, pass)) { (drawing) }
            }
        }
    }
}

fn shade_class(shade: Shade) -> &'static str {
    match shade {
        Shade::Untested => "untested",
        Shade::Good => "good",
        Shade::Changed => "changed",
        Shade::Overwritten => "overwritten",
        Shade::Corrupted => "corrupted",
        Shade::Unreadable => "unreadable",
        Shade::Missing => "missing",
    }
}

fn drawn_map(v: &Verification) -> Markup {
    let all = map_shades(v, COLUMNS * DRAWN_ROWS);
    let (width, height) = (COLUMNS * SIDE, all.len().div_ceil(COLUMNS) * SIDE);
    html! {
        figure.map {
            figcaption { "Map of " (mapped(v)) @if let Some(words) = in_files(v) { " " (words) } ", row by row" }
            svg viewBox={"0 0 " (width) " " (height)} role="img" aria-label=(counts(v)) {
                @for (at, length, shade) in stretches(&all) { (stretch(at, length, shade)) }
            }
            p.legend {
                @for shade in ALL_SHADES.into_iter().filter(|shade| all.contains(shade)) {
                    span class={"key " (shade_class(shade))} { (shade.symbol()) } " " (shade.name()) " "
                }
            }
        }
    }
}

/// The area that the map shows: the device, or where addresses are not known the free space, or the requested part of it.
fn mapped(v: &Verification) -> &'static str {
    match v.method {
        Method::Full if v.offsets == Offsets::Device => "the medium, from its beginning",
        Method::Full if v.remarks.contains(&Remark::OnlyRead) => "the files that were read",
        Method::Full if v.checked_bytes < v.announced_bytes => "the part of the free space that was checked",
        Method::Full | Method::QuickMounted => "the free space",
        Method::QuickProbe | Method::Other => "the medium, from its beginning",
    }
}

/// Equal parts next to each other in a row: the first, how many, and what they are.
fn stretches(all: &[Shade]) -> Vec<(usize, usize, Shade)> {
    let (mut at, mut found) = (0, Vec::new());
    for same in all.chunk_by(|a, b| a == b) {
        let end = at + same.len();
        while at < end {
            let length = (end - at).min(COLUMNS - at % COLUMNS);
            found.push((at, length, same[0]));
            at += length;
        }
    }
    found
}

fn stretch(at: usize, length: usize, shade: Shade) -> Markup {
    let (x, y) = (at % COLUMNS, at / COLUMNS);
    html! {
        rect class=(shade_class(shade)) x=(x * SIDE) y=(y * SIDE) width=(length * SIDE - 1) height=(SIDE - 1) {}
        // A letter tells what colour may not.
        @if shade.lost() {
            @for part in 0..length {
                text x=((x + part) * SIDE + SIDE / 2) y=(y * SIDE + SIDE - 2) { (shade.symbol()) }
            }
        }
    }
}

fn speed(v: &Verification, name: &str, pass: &Pass) -> Option<Markup> {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 120.0;
    let rates = rates(pass);
    let top = rates.iter().copied().fold(0.0, f64::max);
    if rates.len() < 2 || top <= 0.0 {
        return None;
    }
    let x = |i: usize| i as f64 / (rates.len() - 1) as f64 * WIDTH;
    let points: Vec<String> = rates
        .iter()
        .enumerate()
        .map(|(i, rate)| format!("{:.1},{:.1}", x(i), HEIGHT - rate / top * (HEIGHT - 6.0)))
        .collect();
    let label = pass_sentence(v, pass).unwrap_or_default();
    Some(html! {
        figure.address {
            figcaption { (name) " " (along(v)) ": " (said(&label)) }
            svg viewBox={"0 0 " (WIDTH) " " (HEIGHT)} preserveAspectRatio="none" role="img" aria-label=(label) {
                path.axis d={"M0 " (HEIGHT) "H" (WIDTH)} {}
                polyline points=(points.join(" ")) {}
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(good: u64, overwritten: u64) -> MapCell {
        MapCell { offset_bytes: 0, bytes: 0, counts: SectorCounts { good, overwritten, ..SectorCounts::default() } }
    }

    #[test]
    fn a_place_near_the_end_is_not_rounded_to_the_end() {
        const END: u64 = 512 << 20;
        let words = |offset_bytes, offsets| {
            let v = Verification { announced_bytes: END, offsets, ..Verification::undecided(Method::Full) };
            first_error(&v, &FirstError { offset_bytes, class: SectorClass::Corrupted, holds_offset_bytes: None })
        };
        assert_eq!(words(END - 512, Offsets::Device), "512 B before the end (byte 536 870 400): corrupted");
        assert_eq!(
            words(END / 2, Offsets::Files),
            "at 256 MiB (byte 268 435 456, in the order of the files): corrupted"
        );
    }

    #[test]
    fn one_sector_is_no_sectors() {
        let of = |good| {
            let counts = SectorCounts { good, ..SectorCounts::default() };
            super::counts(&Verification { counts, ..Verification::undecided(Method::Full) })
        };
        assert_eq!([of(1), of(2)], ["1 sector of 512 B: 1 good", "2 sectors of 512 B: 2 good"]);
    }

    #[test]
    fn beyond_the_real_size_of_a_fake_nothing_is_good() {
        let map = vec![cell(9, 0); 64];
        let v = Verification {
            verdict: Verdict::Fake,
            announced_bytes: 64 << 20,
            real_bytes: Some(8 << 20),
            counts: SectorCounts { good: 570, overwritten: 6, ..SectorCounts::default() },
            map,
            ..Verification::undecided(Method::QuickProbe)
        };
        let drawn = map_shades(&v, 16);
        assert_eq!(drawn.iter().filter(|shade| **shade == Shade::Good).count(), 2);
        assert!(drawn[2..].iter().all(|shade| *shade == Shade::Missing));
        assert!(!counts(&v).contains("lost"), "{}", counts(&v));
        // A full check has read all of it.
        let full = Verification { method: Method::Full, ..v };
        assert!(!map_shades(&full, 16).contains(&Shade::Missing) && counts(&full).contains("lost"));
    }

    #[test]
    fn one_lost_sector_shows_in_any_size_of_map() {
        let mut map = vec![cell(9, 0); 1000];
        map[700] = cell(8, 1);
        map[999] = cell(0, 0);
        for parts in [1, 7, 64, 512] {
            let shades = shades(&map, parts);
            assert_eq!(shades.len(), parts);
            let lost = Shade::Overwritten;
            assert_eq!(shades.iter().filter(|s| **s == lost).count(), 1, "{parts}");
        }
        assert_eq!(shades(&map, 5000)[999], Shade::Untested);
    }
}
