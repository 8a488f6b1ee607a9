//! One record under one load: its run, or why it has none.

use assay_core::record::Record;

use super::report::Run;
use crate::connected::computer;
use crate::exclusion::excluded_whole;
use crate::host_days::HostDays;
use crate::identity::{identity, names_model};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::resolution::resolution;
use crate::{Reason, excluded};

/// The figures of a record under a load, the reason if they may win nothing, and the reasons for parts that are left
/// out.
pub(super) fn run(
    record: &Record,
    days: &HostDays,
    load: &Load,
    quantity: Quantity,
) -> (Option<(Run, Option<Reason>)>, Vec<Reason>) {
    let (reading, reasons) = crate::examine(record, load, quantity);
    let Some(reading) = reading else {
        return (None, excluded_whole(record).map_or(reasons, |whole| vec![whole]));
    };
    let unsound = excluded(&reading);
    let of = identity(record);
    let nameless = of.unit.is_empty() && !names_model(record);
    let until_narrow = record.settings.until_known();
    let resolution = resolution(record, reading.measurement);
    let (points, marks) = (reading.values, reading.marks);
    let (id, day, computer) = (record.id.clone(), days.name(record), computer(record));
    let host = record.host.hostname.clone();
    (
        Some((
            Run {
                record: id,
                unit: (of.model, of.unit),
                day,
                host,
                resolution,
                computer,
                nameless,
                points,
                until_narrow,
                marks,
            },
            unsound,
        )),
        reasons,
    )
}
