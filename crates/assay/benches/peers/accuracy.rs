//! Errors against a known truth.

use std::time::Instant;

use assay_core::record::Measurement;
use assay_lab::{LimitedCard, Missing};

use crate::assay::{SuiteFile, binary, record};
use crate::cards::{CARDS, Card, Truth};
use crate::process::finish;
use crate::report::{CardRow, Report, Row, Target};

/// Bytes of a card.
const CARD_BYTES: u64 = 256 << 20;
/// Longest process by the budget of its run: 1 % is for the shell and the start of the process.
const LONGEST: f64 = 1.01;

pub(crate) fn all_cards(report: &mut Report) -> Result<(), Missing> {
    let mut worst = 0.0f64;
    let mut longest = (0.0, String::new());
    for card in &CARDS {
        let (measurement, budgets) = measure(card)?;
        if budgets > longest.0 {
            longest = (budgets, card.limit.title());
        }
        let (truth, seen, texts) = figures(card.truth(), &measurement);
        let error = seen / truth - 1.0;
        worst = worst.max(error.abs() / card.most);
        // As it ran: the plan may have had to scale it down.
        let workload = measurement.workload.title();
        let (truth, seen) = texts;
        report.add_card(CardRow { card: card.limit.title(), workload, truth, seen, error, most: card.most });
    }
    let row = |what: &str, ours: String, seen, target| Row {
        what: what.to_owned(),
        ours,
        peer: "–".to_owned(),
        seen,
        unit: "",
        target: Target::AtMost(target),
    };
    let cards = CARDS.len();
    report.add(row(
        "largest error over the cards of known truth, by the error allowed",
        format!("{cards} cards"),
        worst,
        1.0,
    ));
    report.add(row("longest run on a card, whole process, by its budget", longest.1, longest.0, LONGEST));
    Ok(())
}

/// What the card came to, and the time it took by its budget.
fn measure(card: &Card) -> Result<(Measurement, f64), Missing> {
    let medium = LimitedCard::new(CARD_BYTES, card.limit.limits())?;
    let Card { block_kib, depth, jobs, budget_seconds, .. } = card;
    let suite = SuiteFile::new(&format!(
        "name = \"card\"\nversion = 1\npurpose = \"benchmark\"\nbudget = \"{budget_seconds}s\"\nmax_write = \"8GiB\"\n\
         repeats = 3\nspan = \"32MiB\"\n[[workload]]\nname = \"w\"\nblock = \"{block_kib}KiB\"\n\
         queue_depth = {depth}\njobs = {jobs}\n{}",
        card.work.lines()
    ));
    let start = Instant::now();
    let finished = finish(&mut medium.command(binary(), &suite.arguments(medium.path())));
    let budgets = start.elapsed().as_secs_f64() / f64::from(*budget_seconds);
    Ok((record(&finished).measurements.remove(0), budgets))
}

/// Truth and what was seen in the same unit, and both as people read them.
fn figures(truth: Truth, measurement: &Measurement) -> (f64, f64, (String, String)) {
    let (truth, estimate, unit, by) = match truth {
        Truth::Iops(truth) => (truth, &measurement.iops, "IOPS", 1.0),
        Truth::Bytes(truth) => (truth, &measurement.bytes_per_second, "MB/s", 1e6),
    };
    let seen = estimate.as_ref().map_or(f64::NAN, |estimate| estimate.point);
    let text = |value: f64| {
        let value = value / by;
        // Four figures at least, so that an error of 0.1 % shows.
        if value < 1000.0 { format!("{value:.2} {unit}") } else { format!("{value:.0} {unit}") }
    };
    (truth, seen, (text(truth), text(seen)))
}
