//! The pictures of an article, each in a file.

use assay_core::record::Record;
use assay_core::text::capitalised;
use assay_pictures::{Decided, Drawing, Film, Kind, Wanted, film, on_page};
use serde::Serialize;

use super::media::{computer, computers, crossed};
use crate::document::{Block, Figure, Seen};
use crate::render::GIF_SCALE;

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
const KINDS: [Kind; 3] = [Kind::Curves, Kind::Heat, Kind::Dots];
/// Pictures of one kind.
const MOST: usize = 4;

/// Those that the records give; those of one load are of the one that was decided on.
pub(super) fn pictures(records: &[Record], decided: Option<Decided>) -> Vec<Picture> {
    let records = &told_apart(records);
    let wanted = Wanted::default().decided(decided);
    let mut all = Vec::new();
    // Dots lay units beside each other.
    for kind in KINDS.into_iter().filter(|kind| *kind != Kind::Dots || records.len() > 1) {
        let drawn = on_page(records, &wanted).find(|(other, _)| *other == kind).map(|(_, drawn)| drawn);
        for (at, drawing) in drawn.unwrap_or_default().into_iter().take(MOST).enumerate() {
            all.push(still(kind, at, drawing, records));
        }
        if kind == Kind::Curves {
            all.extend(film(records, &Wanted::default()).ok().and_then(|film| sweep(film, records)));
        }
    }
    all
}

fn still(kind: Kind, at: usize, drawing: Drawing, records: &[Record]) -> Picture {
    let number = if at == 0 { String::new() } else { format!("-{}", at + 1) };
    Picture {
        file: format!("{}{number}.svg", kind.name()),
        content: drawing.svg().into_bytes(),
        caption: Caption::for_drawing(kind, &drawing, records),
        seen: Seen::Still(drawing),
    }
}

/// As an animation; as a sheet of all frames where that would be too large.
fn sweep(film: Film, records: &[Record]) -> Option<Picture> {
    let (_, first) = film.frames().next()?;
    let mut caption = Caption::for_drawing(Kind::Sweep, first, records);
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
fn told_apart(records: &[Record]) -> Vec<Record> {
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
fn what_is_shown(kind: Kind) -> &'static str {
    match kind {
        Kind::Curves => "Rates over block sizes",
        Kind::Heat => "Units by loads",
        Kind::Dots => "Each unit a row, each repeat a dot",
        Kind::Sweep => "One block size after the other",
        other => other.help(),
    }
}

impl Caption {
    pub(super) fn for_drawing(kind: Kind, drawing: &Drawing, records: &[Record]) -> Self {
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
