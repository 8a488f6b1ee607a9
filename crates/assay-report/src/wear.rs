//! A test of endurance as a page: the map of what failed, what was reached, and what time did to its data.

use assay_core::endurance::{Endurance, FailureKind, LifeEnd, Reached, RestRead};
use assay_core::text::clean;
use assay_core::units::{Bytes, grouped, rate, trimmed};
use assay_pictures::{WearMap, wear_map};

use crate::document::{Block, Data, Document, Table, TableRow, left, right};

/// The page of a test with its map.
#[must_use]
pub fn document(test: &Endurance, map: &WearMap) -> Document {
    let drawing = wear_map(map);
    let finding =
        drawing.as_ref().map_or_else(|| "no cycle was read yet".to_owned(), |drawing| drawing.title().to_owned());
    let mut blocks: Vec<Block> = drawing.map(|drawing| Block::Picture(Box::new(drawing))).into_iter().collect();
    blocks.extend(milestones(test).map(Block::Table));
    if !test.rest_reads.is_empty() {
        blocks.push(Block::Table(at_rest(&test.rest_reads)));
    }
    blocks.push(Block::Items(items(test)));
    Document { kind: "Endurance", about: format!("Endurance of {}", map.unit), finding, blocks, data: Data::default() }
}

fn shown(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

/// What was reached; `None` where nothing was.
fn milestones(test: &Endurance) -> Option<Table> {
    let reached = &test.milestones;
    let marks = [
        ("first error", reached.first_error),
        ("0.1 % of the sectors", reached.per_mille),
        ("1 %", reached.one_percent),
        ("10 %", reached.ten_percent),
        ("25 %", reached.quarter),
        ("50 %", reached.half),
        ("death", reached.death),
    ];
    let row = |(name, at): (&str, Reached)| {
        TableRow::Cells(vec![name.into(), shown(at.cycle).into(), Bytes(at.written_bytes).to_string().into()])
    };
    let rows: Vec<_> = marks.into_iter().filter_map(|(name, at)| Some(row((name, at?)))).collect();
    let columns = vec![left("reached"), right("in cycle"), right("after")];
    (!rows.is_empty()).then(|| Table { caption: "Milestones".to_owned(), columns, rows })
}

fn at_rest(reads: &[RestRead]) -> Table {
    let row = |read: &RestRead| {
        let age = read.age.map_or_else(|| "–".to_owned(), |age| trimmed(age.low_seconds as f64 / 86_400.0, 1));
        let speed = read.speed.as_ref();
        let ratio = speed.map(|speed| &speed.ratio).and_then(|ratio| Some((ratio.point, ratio.low?, ratio.high?)));
        TableRow::Cells(vec![
            age.into(),
            shown(read.lost_sectors).into(),
            kinds(&read.kinds).into(),
            speed.map_or_else(|| "–".to_owned(), |speed| rate(speed.bytes_per_second)).into(),
            speed.map_or_else(|| "–".to_owned(), |speed| rate(speed.first_bytes_per_second)).into(),
            ratio
                .map_or_else(
                    || "–".to_owned(),
                    |(point, low, high)| format!("{} ({} to {})", trimmed(point, 2), trimmed(low, 2), trimmed(high, 2)),
                )
                .into(),
        ])
    };
    let columns = vec![
        right("age in days"),
        right("sectors lost"),
        left("kinds"),
        right("read at"),
        right("first at"),
        right("ratio, 95 %"),
    ];
    Table { caption: "Readings at rest".to_owned(), columns, rows: reads.iter().map(row).collect() }
}

fn kinds(kinds: &std::collections::BTreeMap<FailureKind, u64>) -> String {
    let said: Vec<String> = kinds.iter().map(|(kind, count)| format!("{} {}", shown(*count), kind.title())).collect();
    if said.is_empty() { "–".to_owned() } else { said.join(", ") }
}

fn items(test: &Endurance) -> Vec<(String, String)> {
    let end = match test.end {
        LifeEnd::Running => "goes on".to_owned(),
        LifeEnd::Died { cause } => format!("died: {}", cause.title()),
        LifeEnd::Censored { reason } => format!("censored: {}", reason.title()),
    };
    let name = [&test.model, &test.unit].into_iter().flatten().map(|name| clean(name)).collect::<Vec<_>>().join(" ");
    let items = [
        ("medium", name),
        ("area", Bytes(test.area_bytes).to_string()),
        ("load", test.load.name().to_owned()),
        ("cycles", shown(test.cycles)),
        ("written", Bytes(test.written_bytes).to_string()),
        (
            "failed",
            match test.failed_sectors {
                0 => format!("0 of {} sectors", shown(test.sectors)),
                failed => format!("{} of {} sectors: {}", shown(failed), shown(test.sectors), kinds(&test.kinds)),
            },
        ),
        ("held again", format!("{} readings", shown(test.healed))),
        ("end", end),
    ];
    items.into_iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| (label.to_owned(), text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A milestone that was not reached has no row: alone in the table it would look like one that was.
    #[test]
    fn milestones_are_those_that_were_reached() {
        let mut test: Endurance = serde_json::from_str(
            r#"{"schema": 1, "id": "00ff", "started": "2026-11-29T12:00:00Z", "updated": "2026-11-29T13:00:00Z", "model": null,
                "unit": null, "capacity_bytes": 67108864, "area_bytes": 67108864, "load": {"load": "whole"}, "cycles": 3,
                "written_bytes": 201326592, "uncounted_bytes": 0, "read_bytes": 201326592, "failed_sectors": 0, "sectors": 131072,
                "kinds": {}, "healed": 0, "milestones": {"first_error": null, "per_mille": null, "one_percent": null,
                "ten_percent": null, "quarter": null, "half": null, "death": null}, "end": {"state": "running"}, "labels": {}}"#,
        )
        .unwrap();
        let text = |test: &Endurance| format!("{:?}", document(test, &WearMap::default()).blocks);
        assert!(!text(&test).contains("Milestones"), "{}", text(&test));
        assert!(text(&test).contains("0 of 131"), "{}", text(&test));
        test.milestones.first_error = Some(Reached { cycle: 2, written_bytes: 70_000_000 });
        assert!(text(&test).contains("first error") && !text(&test).contains("death"), "{}", text(&test));
    }
}
