//! Errors against a known truth.

use std::time::{Duration, Instant};

use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Repeat};
use assay_lab::{LimitedCard, Missing};
use assay_stats::geometric_of_looks;

use crate::assay::{SuiteFile, binary, record};
use crate::cards::{CARDS, Card, Truth};
use crate::judge::{Judgement, Target};
use crate::process::finish;
use crate::report::{CardRow, Report, Row};

/// Bytes of a card.
const CARD_BYTES: u64 = 256 << 20;
/// Largest ratio of process time to the budget of its run: 1 % is for the shell and the start of the process.
const LONGEST: f64 = 1.01;
/// Number of runs of three repeats for a card that fewer runs do not decide.
const LOOKS: u32 = 3;
/// Repeats of a run.
const REPEATS: usize = 3;

pub(crate) fn all_cards(report: &mut Report) -> Result<(), Missing> {
    let mut longest = (0.0, String::new());
    for card in &CARDS {
        let (mut values, mut looks) = (Vec::new(), 0);
        let (measurement, seen) = loop {
            // The budget does not include the device, the start and the end of the process.
            if !report.has_time_for(Duration::from_secs(u64::from(card.budget_seconds) + 2)) {
                break (None, geometric_of_looks(&values, LOOKS));
            }
            let (measurement, budgets) = measure(card)?;
            if budgets > longest.0 {
                longest = (budgets, card.limit.title());
            }
            let truth = card.truth();
            values.extend(measurement.repeats.iter().map(|repeat| by_the_truth(truth, repeat)));
            looks += 1;
            let seen = geometric_of_looks(&values, LOOKS);
            if looks == LOOKS || Target::AroundOne(card.most).judge(seen.as_ref()) != Judgement::CannotTell {
                break (Some(measurement), seen);
            }
        };
        let (truth, come_to) = words(card.truth(), seen.as_ref());
        report.add_card(CardRow {
            card: card.limit.title(),
            // As it ran: the plan may have had to scale it down.
            workload: measurement.map_or_else(|| "–".to_owned(), |measurement| measurement.workload.title()),
            truth,
            seen: come_to,
            row: Row {
                what: String::new(),
                ours: String::new(),
                peer: String::new(),
                seen,
                values,
                unit: "",
                target: Target::AroundOne(card.most),
                planned: LOOKS as usize * REPEATS,
            },
        });
    }
    let what = "longest run on a card, whole process, by its budget";
    report.add(Row::exact(what, longest.0, "", longest.1, Target::AtMost(LONGEST)));
    Ok(())
}

/// What the card came to, and the time it took by its budget.
fn measure(card: &Card) -> Result<(Measurement, f64), Missing> {
    let medium = LimitedCard::new(CARD_BYTES, card.limit.limits())?;
    let Card { block_kib, depth, jobs, budget_seconds, .. } = card;
    let suite = SuiteFile::new(&format!(
        "name = \"card\"\nversion = 1\npurpose = \"benchmark\"\nbudget = \"{budget_seconds}s\"\nmax_write = \"8GiB\"\n\
         repeats = {REPEATS}\nspan = \"32MiB\"\n[[workload]]\nname = \"w\"\nblock = \"{block_kib}KiB\"\n\
         queue_depth = {depth}\njobs = {jobs}\n{}",
        card.work.lines()
    ));
    let start = Instant::now();
    let finished = finish(&mut medium.command(binary(), &suite.arguments(medium.path())));
    let budgets = start.elapsed().as_secs_f64() / f64::from(*budget_seconds);
    Ok((record(&finished).measurements.remove(0), budgets))
}

/// The result of a repeat, divided by the true value.
fn by_the_truth(truth: Truth, repeat: &Repeat) -> f64 {
    match truth {
        Truth::Iops(truth) => repeat.iops / truth,
        Truth::Bytes(truth) => repeat.bytes_per_second / truth,
    }
}

/// The truth and the measured value, as text for people.
fn words(truth: Truth, seen: Option<&Estimate>) -> (String, String) {
    let (truth, unit) = match truth {
        Truth::Iops(truth) => (truth, "IOPS"),
        Truth::Bytes(truth) => (truth / 1e6, "MB/s"),
    };
    // Four figures at least, so that an error of 0.1 % shows.
    let text = |value: f64| if value < 1000.0 { format!("{value:.2} {unit}") } else { format!("{value:.0} {unit}") };
    (text(truth), text(seen.map_or(f64::NAN, |seen| seen.point * truth)))
}
