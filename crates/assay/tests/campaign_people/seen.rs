//! What is known to be false, by kind of store and claim, with stores in which it was seen.

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is still so. Once it is mended the line says `Mended`, and stays.
    Open,
    /// It is looked for in the seeds of the line, and fails.
    Mended,
    /// The documents say that it is so.
    Documented,
}

/// A kind of store, the words of a claim or of a fault, and seeds.
#[derive(Debug)]
pub struct Seen {
    pub kind: &'static str,
    pub about: &'static str,
    pub state: State,
    pub seeds: &'static [u64],
}

impl Seen {
    /// Whether this is what was seen.
    pub fn is(&self, kind: &str, words: &str) -> bool {
        kind.starts_with(self.kind) && words.contains(self.about)
    }
}

#[allow(dead_code, reason = "nothing of the list is open")]
const fn open(kind: &'static str, about: &'static str, seeds: &'static [u64]) -> Seen {
    Seen { kind, about, state: State::Open, seeds }
}

const fn mended(kind: &'static str, about: &'static str, seeds: &'static [u64]) -> Seen {
    Seen { kind, about, state: State::Mended, seeds }
}

pub const SEEN: &[Seen] = &[
    // compare.md: "All of this takes days to be independent of each other: … 37 of 100 equal cards are distinguished."
    Seen { kind: "days alike, autocorrelated", about: "", state: State::Documented, seeds: &[] },
    // compare.md: "A group that was measured on another computer … gets *cannot tell* until one unit was measured on
    // both." It was so of files, and not of the same records in the store.
    mended("a model a computer", "rank of the files says", &[8]),
    mended("a model a computer", "computers with nothing between", &[8, 56, 200]),
    mended("a model a computer", "any false", &[8, 248, 320]),
    mended("shared computers", "computers with nothing between", &[10, 58]),
    mended("shared computers", "compare of two groups", &[34, 202, 250]),
    // statistics.md: the chance of a false alarm is 5 % over all units and loads; what the other models do not carry was named
    // where the rest agreed within 15 %, which chance alone brings about.
    mended("", "an innocent unit named, untested", &[13, 32, 39, 63, 185, 210]),
    // One serial number under two labels counted as two units, in every command and without a word; so did records with the
    // label of a unit and records with its serial number alone.
    mended("one card by two labels", "any false", &[89, 113, 3497]),
    mended("labels on the first day only", "any false", &[137, 569]),
    // An evening that ends after midnight UTC counted as two days.
    mended("an evening across midnight", "compare of two groups", &[98, 194, 554, 842]),
];
