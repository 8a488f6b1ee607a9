//! The files of an article, and the list of them for programs.

use assay_analysis::rank::{LoadRanking, RankStanding};
use assay_analysis::{Absence, Excluded, Load, UnitNote};
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text::{capitalised, clean};
use assay_core::units::counted;
use assay_pictures::{Decided, Drawing, Film, PictureKind, Wanted, film, on_page};
use serde::Serialize;

use super::media::{
    BUS, Finding, LoadColumn, Model, Scope, TIE, TablePlan, by_computers, by_loads, computer, computers, crossed, media,
};
use super::table::Figures;
use super::{media, table};
use crate::caveats;
use crate::document::{BEST, Block, Cell, Document, Figure, Seen, TableRow};
use crate::foreign::long_csv;
use crate::html::observed;
use crate::presented::CommonFinding;
use crate::rank;
use crate::render::GIF_SCALE;

/// An article, in the order in which its files are to be written: the one that names the others last, so that an article that was
/// cut off can be written again.
#[derive(Debug, Clone, PartialEq)]
pub struct Article {
    /// Its files.
    pub files: Vec<ArticleFile>,
    /// The result for each load, in the order of the tables.
    pub findings: Vec<Finding>,
}

/// A file of an article.
#[derive(Debug, Clone, PartialEq)]
pub struct ArticleFile {
    /// Its name in the directory.
    pub name: String,
    /// Its content.
    pub content: Vec<u8>,
    /// Its caption; `None` for a file that is not a picture.
    pub caption: Option<Caption>,
}

/// The name of the text that names all other files.
const README: &str = "README.md";

/// The article on `records`, which the caller has redacted where it is to be shared.
#[must_use]
pub fn article(whole: &[Record]) -> Article {
    let records = &observed(whole);
    let found = crate::presented::common_finding(records, None);
    let pictures = pictures(records, found.beside());
    let (document, findings) = document(whole, records, &found, &pictures);
    let text = |name: &str, content: String| ArticleFile {
        name: name.to_owned(),
        content: content.into_bytes(),
        caption: None,
    };
    let texts =
        [text("index.html", document.html()), text("table.csv", document.csv()), text("results.csv", long_csv(whole))];
    let pictures = pictures.into_iter().map(|picture| ArticleFile {
        name: picture.file,
        content: picture.content,
        caption: Some(picture.caption),
    });
    let mut files: Vec<ArticleFile> = texts.into_iter().chain(pictures).collect();
    let readme = format!("{}\n", document.markdown());
    let all = files.iter().map(|file| (file.name.as_str(), file.content.as_slice()));
    let line = Manifest::line(all.chain([(README, readme.as_bytes())]));
    files.push(text(README, readme + &line));
    Article { files, findings }
}

/// The output of `assay report --article --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Written {
    /// The directory.
    pub directory: String,
    /// Its files.
    pub files: Vec<WrittenFile>,
    /// The result of each load, in the order of the tables.
    pub findings: Vec<Finding>,
    /// Ids of the records.
    pub records: Vec<String>,
    /// Contradictions between labels and serial numbers.
    pub contradictions: Vec<UnitNote>,
}

/// A file in the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenFile {
    /// Its name.
    pub file: String,
    /// Its size.
    pub bytes: usize,
    /// The caption of a picture; null for other files.
    pub caption: Option<Caption>,
}

impl Article {
    /// The list of files in a directory, with the records they were made from.
    #[must_use]
    pub fn written<'a>(
        &self,
        directory: &str,
        records: impl IntoIterator<Item = &'a str>,
        contradictions: Vec<UnitNote>,
    ) -> Written {
        let file = |file: &ArticleFile| WrittenFile {
            file: file.name.clone(),
            bytes: file.content.len(),
            caption: file.caption.clone(),
        };
        Written {
            directory: directory.to_owned(),
            files: self.files.iter().map(file).collect(),
            findings: self.findings.clone(),
            records: records.into_iter().map(str::to_owned).collect(),
            contradictions,
        }
    }
}

// The article as a document.

/// The document, and the result for each load.
pub(super) fn document(
    whole: &[Record],
    records: &[Observation],
    found: &CommonFinding,
    pictures: &[Picture],
) -> (Document, Vec<Finding>) {
    let crossed = crossed(records);
    let mut scopes = vec![Scope::of_all(records)];
    if !crossed.is_empty() {
        scopes.extend(computers(records).iter().map(|host| Scope::of_computer(records, host)));
    }
    let media = media(records, scopes[0].ranked.as_ref().ok());
    let mut plans = by_computers(&scopes, &crossed);
    plans.extend(by_loads(records, &scopes[0], 0, |load| !crossed.contains(load)));
    let single = records.iter().filter(|r| !r.measurements.is_empty()).all(Observation::is_published);
    let figures = Figures { scopes: &scopes, media: &media, single };
    let columns: Vec<&LoadColumn> = plans.iter().flat_map(|plan| &plan.columns).collect();
    let mut blocks = figure_tables(&figures, &plans);
    let data = table::figure_data(&scopes, &media, &plans);
    blocks.extend(legend(&figures, &blocks, &plans, &table::confidence_levels(&data)));
    if let Some(table) = table::facts_table(&media) {
        blocks.extend([Block::Heading("The media".to_owned()), Block::Table(table)]);
    }
    let lines = media::finding_lines(&scopes, &columns);
    if media.len() > 1 && !lines.is_empty() {
        blocks.push(Block::Heading("What the figures show".to_owned()));
        // The line above the tables is a title; here is the whole answer.
        if let Some(answer) = found.answer().filter(|_| scopes.len() == 1) {
            blocks.push(Block::Text(answer.to_owned()));
        }
        blocks.push(Block::Items(lines));
    }
    let odd = odd_units(&scopes);
    if !odd.is_empty() {
        blocks.extend([Block::Heading("Units that differ".to_owned()), Block::Items(odd)]);
    }
    let left_out = left_out(&scopes);
    if !left_out.is_empty() {
        let items = left_out.into_iter().map(|line| (String::new(), line)).collect();
        blocks.extend([Block::Heading("Left out".to_owned()), Block::Items(items)]);
    }
    if !pictures.is_empty() {
        blocks.push(Block::Heading("Pictures".to_owned()));
        blocks.extend(pictures.iter().map(Picture::block));
    }
    let conditions = table::conditions_table(whole);
    if !conditions.is_empty() {
        blocks.extend([Block::Heading("How it was measured".to_owned()), Block::Items(conditions)]);
    }
    let files = [
        ("table.csv", "the tables above, with what is known of the media: a row for each figure"),
        ("results.csv", "all figures of all repeats: a row for each"),
    ];
    let files = files.map(|(file, words)| (file.to_owned(), words.to_owned()));
    blocks.extend([Block::Heading("Data".to_owned()), Block::Items(files.into())]);
    // A ranking over all computers is not what the tables show.
    let finding = match scopes.len() - 1 {
        0 => found.title.clone(),
        computers => {
            let models = counted(media.len(), "model");
            format!("{models} on {computers} computers, compared on one computer at a time")
        }
    };
    let document = Document { kind: "Article", about: about_article(&media, &columns), finding, blocks, data };
    (document, media::findings(&scopes, &columns))
}

/// `3 models, 6 units, 12 loads`.
fn about_article(media: &[Model<'_>], columns: &[&LoadColumn]) -> String {
    let units: usize = media.iter().map(|model| model.units.len()).sum();
    let mut loads: Vec<&Load> = columns.iter().map(|column| &column.load).collect();
    loads.sort();
    loads.dedup();
    match media {
        [one] if units == 1 => format!("{}, {}", one.title, counted(loads.len(), "load")),
        several => {
            let parts = [counted(several.len(), "model"), counted(units, "unit"), counted(loads.len(), "load")];
            parts.join(", ")
        }
    }
}

fn figure_tables(figures: &Figures<'_>, plans: &[TablePlan]) -> Vec<Block> {
    if let Some(turned) = figures.turned(plans) {
        return vec![Block::Table(turned)];
    }
    let table = |plan: &TablePlan| Block::Table(figures.table(plan));
    let mut blocks: Vec<Block> = plans.iter().filter(|plan| !plan.alone).map(table).collect();
    let alone: Vec<Block> = plans.iter().filter(|plan| plan.alone).map(table).collect();
    if !alone.is_empty() {
        blocks.push(Block::Folded { title: "Loads of one medium alone".to_owned(), blocks: alone });
    }
    blocks
}

/// What the marks and the small letters mean, as far as they are there.
fn legend(figures: &Figures<'_>, tables: &[Block], plans: &[TablePlan], level: &str) -> Option<Block> {
    let cells = || tables.iter().flat_map(cells_of);
    let marked = |mark: &str| cells().any(|cell| cell.mark == mark);
    let by_computers = plans.iter().flat_map(|plan| &plan.columns).any(|c| !figures.scopes[c.scope].host.is_empty());
    let parts = [
        (figures.single, "Each figure is one published value: n = 1, without an interval of its own.".to_owned()),
        (figures.single && !level.is_empty(), format!("In brackets: the interval of a model over its units{level}.")),
        (!figures.single && !level.is_empty(), format!("In brackets: the interval{level}, where there is one.")),
        (!figures.single, "n counts the repeats of a unit, and the units of a model.".to_owned()),
        (of_best(figures), "Figures of some records are the best of several runs, not means.".to_owned()),
        (marked(BEST), "best: by assay rank, under this load.".to_owned()),
        (
            marked(TIE),
            "tie: assay rank cannot separate these models, which does not say that they are equal.".to_owned(),
        ),
        (marked(BUS), "tie at the bus: the bus makes these models equal.".to_owned()),
        (
            cells().any(|cell| cell.value.starts_with('≥')),
            "≥: the bus or the instrument was reached, the medium is at least this fast.".to_owned(),
        ),
        (
            ranked_beside_specimens(figures, plans),
            "A model of one unit is not ranked: one unit says nothing of the model.".to_owned(),
        ),
        (by_computers, "Models are compared within a column, on one computer.".to_owned()),
    ];
    let said: Vec<String> = parts.into_iter().filter(|(holds, _)| *holds).map(|(_, words)| words).collect();
    (!tables.is_empty()).then(|| Block::Text(said.join(" ")))
}

/// Whether a figure is the best of several runs.
fn of_best(figures: &Figures<'_>) -> bool {
    let records = figures.scopes.iter().flat_map(|scope| &scope.records);
    let warnings = records.flat_map(|record| &record.measurements).flat_map(|measurement| &measurement.warnings);
    warnings.into_iter().any(|warning| matches!(warning.finding, assay_core::finding::Finding::BestOf { .. }))
}

/// Whether some models are ranked under a load, and others are not for being one unit.
fn ranked_beside_specimens(figures: &Figures<'_>, plans: &[TablePlan]) -> bool {
    let columns = plans.iter().flat_map(|plan| &plan.columns);
    let rankings = columns.filter_map(|column| figures.scopes[column.scope].ranking(&column.load));
    let beside = |ranking: &LoadRanking| {
        let has = |standing| ranking.models.iter().any(|row| row.standing == standing);
        has(RankStanding::Ranked) && has(RankStanding::Specimen)
    };
    rankings.filter(|ranking| ranking.refusal.is_none()).any(beside)
}

fn cells_of(block: &Block) -> impl Iterator<Item = &Cell> {
    let rows = if let Block::Table(table) = block { table.rows.as_slice() } else { &[] };
    rows.iter().flat_map(|row| match row {
        TableRow::Cells(cells) => cells.as_slice(),
        TableRow::Heading(_) => &[],
    })
}

/// Units that stand out, as a ranking says it: of each computer where there are several.
fn odd_units(scopes: &[Scope<'_>]) -> Vec<(String, String)> {
    let (all, computers) = scopes.split_at(1);
    let shown = if computers.is_empty() { all } else { computers };
    let lines = |scope: &Scope<'_>| -> Vec<(String, String)> {
        let Ok(report) = &scope.ranked else { return Vec::new() };
        let host = clean(&scope.host);
        let named = |(load, line): (String, String)| match (host.is_empty(), load.is_empty()) {
            (true, _) => (load, line),
            (false, true) => (host.clone(), line),
            (false, false) => (format!("{load}, {host}"), line),
        };
        rank::odd_units(report).into_iter().map(named).collect()
    };
    shown.iter().flat_map(lines).collect()
}

/// What counts nowhere, and why. That a medium was not measured under a load is seen in the table.
fn left_out(scopes: &[Scope<'_>]) -> Vec<String> {
    let Ok(report) = &scopes[0].ranked else { return Vec::new() };
    let rankings = std::iter::once(&report.primary).chain(&report.exploratory);
    let seen = |excluded: &&Excluded| !matches!(excluded.reason.absence(), Some(Absence::OtherLoad(_)));
    caveats::left_out_lines(rankings.flat_map(|ranking| &ranking.excluded).filter(seen), caveats::record_name, None)
}

// Which files of a directory are those of an article, and unchanged since: the last line of `README.md` names each file with the
// hash of its content.

/// How the last line begins.
const BEGINS: &str = "<!-- assay report --article:";
/// How it ends.
const ENDS: &str = " -->";
/// Hexadecimal digits of a hash: 64 bits. Files are compared with those that a user may have put there by chance.
const DIGITS: usize = 16;

/// The files of an article, as its `README.md` names them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest(Vec<(String, String)>);

impl Manifest {
    /// The last line of `README.md`: names and contents of all files, of `README.md` itself that before this line.
    pub(super) fn line<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
        let all: String = files.into_iter().map(|(name, content)| format!(" {name} {}", hash(content))).collect();
        format!("{BEGINS}{all}{ENDS}\n")
    }

    /// Reads what a `README.md` called `name` names; empty if no article wrote it, or if it was changed since.
    #[must_use]
    pub fn read(name: &str, readme: &[u8]) -> Self {
        let read = || {
            let text = std::str::from_utf8(readme).ok()?;
            let (before, line) = text.split_at(text.rfind(BEGINS)?);
            let list = line.trim_end().strip_prefix(BEGINS)?.strip_suffix(ENDS)?;
            let words: Vec<&str> = list.split_whitespace().collect();
            let all: Vec<(String, String)> =
                words.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect();
            let own = all.iter().any(|(known, is)| known == name && *is == hash(before.as_bytes()));
            own.then_some(Self(all))
        };
        read().unwrap_or_default()
    }

    /// Whether the article holds a file of this name with this content.
    #[must_use]
    pub fn holds(&self, name: &str, content: &[u8]) -> bool {
        self.0.iter().any(|(known, is)| known == name && *is == hash(content))
    }

    /// Whether there is an article, and it is unchanged.
    #[must_use]
    pub fn is_article(&self) -> bool {
        !self.0.is_empty()
    }
}

fn hash(content: &[u8]) -> String {
    blake3::hash(content).to_hex()[..DIGITS].to_owned()
}

// The pictures of an article, each in a file.

/// A picture.
pub(super) struct Picture {
    pub(super) file: String,
    pub(super) content: Vec<u8>,
    pub(super) caption: Caption,
    seen: Seen,
}

impl Picture {
    pub(super) fn block(&self) -> Block {
        Block::Figure(Box::new(Figure {
            file: self.file.clone(),
            title: self.caption.shows.to_owned(),
            caption: self.caption.sentence(),
            shown: self.seen.clone(),
        }))
    }
}

/// Kinds that stand in an article, in their order; a comparison over block sizes comes after the curves.
const KINDS: [PictureKind; 3] = [PictureKind::Curves, PictureKind::Heat, PictureKind::Dots];
/// Pictures of one kind.
const MOST: usize = 4;

/// Those that the records give; those of one load are of the one that was decided on.
pub(super) fn pictures(records: &[Observation], decided: Option<Decided>) -> Vec<Picture> {
    let records = &told_apart(records);
    let wanted = Wanted::default().decided(decided);
    let mut all = Vec::new();
    // Dots lay units beside each other.
    for kind in KINDS.into_iter().filter(|kind| *kind != PictureKind::Dots || records.len() > 1) {
        let drawn = on_page(records, &wanted).find(|(other, _)| *other == kind).map(|(_, drawn)| drawn);
        for (at, drawing) in drawn.unwrap_or_default().into_iter().take(MOST).enumerate() {
            all.push(still(kind, at, drawing, records));
        }
        if kind == PictureKind::Curves {
            all.extend(film(records, &Wanted::default()).ok().and_then(|film| sweep(film, records)));
        }
    }
    all
}

fn still(kind: PictureKind, at: usize, drawing: Drawing, records: &[Observation]) -> Picture {
    let number = if at == 0 { String::new() } else { format!("-{}", at + 1) };
    Picture {
        file: format!("{}{number}.svg", kind.name()),
        content: drawing.svg().into_bytes(),
        caption: Caption::for_drawing(kind, &drawing, records),
        seen: Seen::Still(drawing),
    }
}

/// As an animation; as a sheet of all frames where that would be too large.
fn sweep(film: Film, records: &[Observation]) -> Option<Picture> {
    let (_, first) = film.frames().next()?;
    let mut caption = Caption::for_drawing(PictureKind::Sweep, first, records);
    let names: Vec<&str> = film.frames().map(|(name, _)| name).collect();
    if let (Some(least), Some(most)) = (names.first(), names.last()) {
        caption.seen = format!("{} sizes from {least} to {most}; {}", names.len(), caption.seen);
    }
    let (file, content) = match film.gif(GIF_SCALE) {
        Ok(gif) => ("sweep.gif", gif),
        Err(_) => ("sweep.svg", film.sheet().svg().into_bytes()),
    };
    Some(Picture { file: file.to_owned(), content, caption, seen: Seen::Film(film) })
}

/// One unit on two computers is two rows of a picture, which names them.
fn told_apart(records: &[Observation]) -> Vec<Observation> {
    let mut all = records.to_vec();
    if crossed(records).is_empty() {
        return all;
    }
    for record in &mut all {
        let unit = crate::facts::unit(record);
        let name = format!("{unit} on {}", computer(record));
        record.labels.insert("unit".to_owned(), name.trim().to_owned());
    }
    all
}

// What stands under a picture.

/// What a picture shows, what its figures rest on, and how they were measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caption {
    /// The kind of picture: `curves`.
    pub picture: &'static str,
    /// The kind of the picture, as text.
    pub shows: &'static str,
    /// The description of what the picture shows.
    pub seen: String,
    /// Load, unit, number of values, level of the intervals.
    pub rests_on: String,
    /// The computers.
    pub hosts: Vec<String>,
    /// Records that were asked for.
    pub records: usize,
}

/// The kind of the picture, independent of the records.
fn what_is_shown(kind: PictureKind) -> &'static str {
    match kind {
        PictureKind::Curves => "Rates over block sizes",
        PictureKind::Heat => "Units by loads",
        PictureKind::Dots => "Each unit a row, each repeat a dot",
        PictureKind::Sweep => "One block size after the other",
        other => other.help(),
    }
}

impl Caption {
    pub(super) fn for_drawing(kind: PictureKind, drawing: &Drawing, records: &[Observation]) -> Self {
        Self {
            picture: kind.name(),
            shows: what_is_shown(kind),
            seen: drawing.title().to_owned(),
            rests_on: drawing.description().to_owned(),
            hosts: computers(records),
            records: records.len(),
        }
    }

    /// All of it in sentences.
    #[must_use]
    pub fn sentence(&self) -> String {
        let on = match self.hosts.as_slice() {
            [] => String::new(),
            [one] => format!(" Measured on {one}."),
            several => format!(" Measured on {}.", several.join(", ")),
        };
        let said = |text: &str| capitalised(text.trim_end_matches('.'));
        format!("{}. {}. {}.{on}", self.shows, said(&self.seen), said(&self.rests_on))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_none_of_the_article() {
        let text = "# An article\n";
        let files: [(&str, &[u8]); 2] = [("heat.svg", b"<svg/>"), ("README.md", text.as_bytes())];
        let readme = format!("{text}{}", Manifest::line(files));
        let known = Manifest::read("README.md", readme.as_bytes());
        assert!(known.is_article() && known.holds("heat.svg", b"<svg/>"));
        assert!(!known.holds("heat.svg", b"mine") && !known.holds("curves.svg", b"<svg/>"));
        for changed in
            [format!("mine {readme}"), readme.replace("heat", "hoot") + "more", text.to_owned(), String::new()]
        {
            assert!(!Manifest::read("README.md", changed.as_bytes()).is_article(), "{changed}");
        }
    }
}
