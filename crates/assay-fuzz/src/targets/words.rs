//! Names and figures of the command line: units, slots, loads, prices, places.

use assay_analysis::LoadQuery;
use assay_analysis::Quantity;
use assay_analysis::advise::Price;
use assay_analysis::compare::Limit;
use assay_analysis::plan::{Roster, Slots, SwapPlace, quoted_line};
use assay_core::text::harmless;

use crate::claims;

/// Each is read, or refused in a line; names that are taken can be shown and typed.
pub(crate) fn run(data: &[u8]) {
    let text = claims::text(data);
    for roster in [Roster::inline(&text, "--units"), Roster::file(&text, "units.txt")] {
        match roster {
            Ok(roster) => {
                let units: Vec<(usize, &str)> = roster.units().collect();
                assert!((1..=2000).contains(&units.len()) && units.iter().all(|(m, _)| *m < roster.models().len()));
                roster.models().iter().for_each(|m| name(&m.name));
                units.iter().for_each(|(_, unit)| name(unit));
            }
            Err(error) => claims::one_line(&error),
        }
    }
    match Slots::parse(&text, "--slots") {
        Ok(slots) => {
            assert!((1..=500).contains(&slots.names().len()));
            slots.names().iter().for_each(|slot| name(slot));
        }
        Err(error) => claims::one_line(&error),
    }
    match text.parse::<Price>() {
        Ok(price) => {
            assert!(price.amount > 0.0 && price.amount.is_finite() && harmless(&price.currency) == price.currency)
        }
        Err(error) => claims::one_line(&error),
    }
    match Limit::parse(&text) {
        Ok(limit) => {
            assert!((0.0..=100.0).contains(&limit.share), "{limit:?}");
            assert_eq!(Limit::parse(&limit.text), Ok(limit.clone()), "what is shown means the same");
        }
        Err(error) => claims::one_line(&error),
    }
    let _ = LoadQuery::parse(&text).map_err(|error| claims::one_line(&error));
    let _ = Quantity::parse(&text).map_err(|error| claims::one_line(&error));
    let _ = SwapPlace::parse(&text, "--suspect").map_err(|error| claims::one_line(&error));
    let lines = quoted_line(&["run".to_owned(), text.clone()], 60);
    assert!(lines.iter().all(|line| !line.is_empty()));
}

#[track_caller]
fn name(name: &str) {
    assert!(!name.is_empty() && name.len() <= 256 && harmless(name) == *name && name.trim() == name, "{name:?}");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = claims::texts(&[
        "A=1,2;B=3",
        "A = 1, 2\n# comment\nB=x\n",
        "28",
        "99999999999999999999",
        "a,b,c",
        "12.90USD",
        "$25",
        "1e309USD",
        "999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999EUR",
        "8MiB/s",
        "random read 4 KiB, QD 8, 4 jobs synced",
        "qd99999999999 1 18446744073709551616kib",
        "A=1@s",
        "=@",
        "iops",
        "slower than 5%",
        "p99  higher than 10 % for random read 4 KiB",
        "lower than 1e9% for",
        "slower than 5% for \u{1b}[2J  for x",
        "\u{1b}[2J=\u{202e},\n;\u{9b}",
        "A=\u{1b}",
        "\u{200b}=x",
        "A=1,1",
        "A=µ,Μ",
    ]);
    seeds.push("x".repeat(3000).into_bytes());
    seeds.push(format!("{0}={0};{0}={0}", "y".repeat(256)).into_bytes());
    seeds.push(format!("A={}", (0..2001).map(|n| format!("{n},")).collect::<String>()).into_bytes());
    seeds
}
