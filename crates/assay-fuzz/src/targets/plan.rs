//! Plan files.

use std::collections::BTreeMap;

use assay_analysis::plan::{ExperimentPlan, Moves, Request, Roster, Slots, outlook, read_plan};
use assay_core::suite::Suite;

use crate::claims;

/// A plan is read as it was made, or refused in a line. The hash is set right before the reading, as
/// somebody who means harm would: it protects against accidents only.
pub(crate) fn run(data: &[u8]) {
    let text = claims::text(data);
    for text in [rehashed(&text), Some(text)].into_iter().flatten() {
        match read_plan(&text, "x.plan") {
            Ok(plan) => {
                let again = read_plan(&plan.to_text(), "x.plan").expect("a plan written out is read");
                assert_eq!(again, plan);
                assert_eq!(plan.label().len(), 16);
                for cell in plan.cells().iter().take(100) {
                    let session = plan.session(cell.order).expect("an order of the plan");
                    assert_eq!(session.workloads.len(), plan.suite().suite.workloads.len());
                    claims::one_line(&plan.session_file(cell.order));
                }
                moved(&plan);
                let _ = outlook(&plan, 0.08).map_err(|error| claims::one_line(&error));
            }
            Err(error) => claims::one_line(&error),
        }
    }
}

/// Moves between turns bring each unit from where it is to where the plan wants it.
fn moved(plan: &ExperimentPlan) {
    let mut at: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut last = None;
    for turn in plan.turns().into_iter().take(10) {
        for one in plan.moves_between(last, turn) {
            let unit = (one.model, one.unit);
            assert_eq!(at.remove(&unit), one.from);
            one.to.map(|slot| at.insert(unit, slot));
        }
        let named = |unit: &(String, String), slot: &String| {
            plan.cells_of(turn).any(|cell| (&cell.model, &cell.unit, &cell.slot) == (&unit.0, &unit.1, slot))
        };
        assert!(at.iter().all(|(unit, slot)| named(unit, slot)) && at.len() == plan.cells_of(turn).count());
        last = Some(turn);
    }
}

/// The file with the hash of its body, where it has a body.
fn rehashed(text: &str) -> Option<String> {
    let (head, rest) = text.split_once("hash = \"")?;
    let (_, body) = rest.split_once("\"\n\n")?;
    Some(format!("{head}hash = \"{}\"\n\n{body}", blake3::hash(body.as_bytes()).to_hex()))
}

const SUITE: &str = "name = \"x\"\nversion = 1\npurpose = \"says \\\"\\\"\\\" \\\\ hi\"\nbudget = \"10s\"\n\
    max_write = \"1GiB\"\nrepeats = 3\nspan = \"64MiB\"\n[[workload]]\nname = \"a\"\nop = \"read\"\n\
    pattern = \"random\"\nblock = \"4k\"\n[[workload]]\nname = \"b\"\nop = \"read\"\npattern = \"random\"\nblock = \"8k\"\n";

fn made(units: &str, slots: &str, rounds: usize, moves: Moves) -> String {
    let suite = Suite::parse(SUITE, "x.toml").expect("a suite");
    let plan = ExperimentPlan::new(&Request {
        roster: &Roster::inline(units, "--units").expect("units"),
        slots: &Slots::parse(slots, "--slots").expect("slots"),
        rounds,
        moves,
        suite: &suite,
        suite_source: "x.toml",
        suite_text: SUITE,
        handling_minutes: 1.5,
        seed: None,
    });
    plan.expect("a plan").to_text()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let small = made("A=1,2", "2", 2, Moves::EachRound);
    let mut seeds = claims::texts(&[
        &small,
        &made("A=1,2,3;B's $(rm) µ=x,y", "left,right,top", 3, Moves::EachRound),
        &made("A=1", "1", 1, Moves::Never),
        "format = \"assay-plan\"\nversion = 99\n",
        "format = \"\u{1b}\"\nversion = 1\n",
        "format = \"assay-plan\"\nversion = 1\nhash = \"x\"\n\nseed = 1\n",
    ]);
    for (from, to) in [
        ("rounds = 2", "rounds = 18446744073709551615"),
        ("rounds = 2", "rounds = 4000000000"),
        ("waves = 1", "waves = 0"),
        ("waves = 1", "waves = 9223372036854775807"),
        ("wave = 1", "wave = 18446744073709551615"),
        ("order = 1", "order = 0"),
        ("handling_minutes = 1.5", "handling_minutes = nan"),
        ("slot = \"1\"", "slot = \"\\u001b[2J\""),
        ("unit = \"1\"", "unit = \"\\n\""),
        ("[\"1\", \"2\"]", "[\"1\", \"\\u001b\"]"),
        ("seed = ", "\"\\u001b\" = "),
        ("name = \\\"x\\\"", "name = \\\"\\u001b\\\""),
        ("budget = ", "\\u202e = "),
    ] {
        seeds.push(small.replacen(from, to, 1).into_bytes());
    }
    seeds
}
