//! `assay watch status` and `ack`.

use assay_core::exit::Exit;
use assay_core::text::{clean, harmless};
use assay_core::units::Bytes;
use assay_report::{right, table, wrapped};
use assay_watch::{Kept, Kind, Plan, Status};
use jiff::Timestamp;

use super::{keep, words};
use crate::cli::WatchStatusArgs;
use crate::documents::watch::WatchStatusDocument;
use crate::ending::Failure;
use crate::{ending, output};

pub(super) fn status(args: &WatchStatusArgs) -> Result<Exit, Failure> {
    let now = Timestamp::now().as_second();
    let names = match keep::names()? {
        names if names.is_empty() && args.names.is_empty() => names,
        _ => keep::named(&args.names)?,
    };
    let kept = names.iter().map(|name| keep::read(name)).collect::<Result<Vec<Kept>, Failure>>()?;
    let media: Vec<Status> = kept.iter().map(|kept| Status::of(kept, now)).collect();
    let quiet = media.iter().all(Status::is_quiet);
    if args.json {
        output::print_json(&WatchStatusDocument { quiet, media })?;
        return Ok(ending::of_answer(quiet));
    }
    if media.is_empty() {
        output::tell("no medium is watched; begin with: assay watch add DIR");
    }
    for (at, (status, kept)) in media.iter().zip(&kept).enumerate() {
        if at > 0 {
            output::print("")?;
        }
        show(status, &kept.plan)?;
    }
    Ok(ending::of_answer(quiet))
}

fn show(status: &Status, plan: &Plan) -> Result<(), Failure> {
    let style = output::stdout_style();
    let line = |text: &str| output::print(&output::wrapped(text, style.width));
    line(&format!("{}: {} at {}", status.name, clean(&status.medium), harmless(&status.target)))?;
    let last = status.last_night.map_or_else(|| "none yet".to_owned(), words::date);
    let next = status.next_night.map_or_else(|| format!("at {}", plan.nightly), words::date);
    let late = if status.overdue { ", and a night is late" } else { "" };
    line(&format!("nights    {}, the last {last}, the next {next}{late}", status.nights))?;
    let budget = (status.written_bytes_of_year, status.budget_bytes_of_year);
    line(&format!("written   {} of {} a year", Bytes(budget.0), Bytes(budget.1)))?;
    if let Some(skipped) = &status.skipped {
        let more = if skipped.detail.is_empty() { String::new() } else { format!(": {}", harmless(&skipped.detail)) };
        line(&format!("skipped   {}, as {}{more}", words::date(skipped.at), words::skip(skipped.reason)))?;
    }
    if !status.counters.is_empty() {
        let counters = status.counters.iter().map(|(name, value)| format!("{} {value}", harmless(name)));
        line(&format!("health    {}", counters.collect::<Vec<_>>().join(", ")))?;
    }
    if let Some(last) = status.events.last() {
        line(&format!("last      {}", words::event(plan, &last.event)))?;
    }
    if !status.levels.is_empty() {
        let rows = status.levels.iter().map(|level| {
            let figure = match level.figure {
                Kind::Rate => harmless(&level.load),
                Kind::Latency => format!("p99 of {}", harmless(&level.load)),
            };
            let trend = level.trend.as_ref().map_or_else(|| "–".to_owned(), |trend| words::change(&trend.per_year));
            vec![figure, words::level(level), words::spread(level), trend]
        });
        let columns = vec![wrapped("load"), right("level"), right("nights ±"), right("trend a year")];
        output::print(&table(columns, rows, &style))?;
    }
    for open in &status.open {
        line(&format!("! {}", words::event(plan, &open.event)))?;
        line(&format!("  → assay watch ack {}", open.id))?;
    }
    Ok(())
}

pub(super) fn acknowledge(event: &str) -> Result<Exit, Failure> {
    let (name, number) = match event.split_once('/') {
        Some((name, number)) => (name, Some(number)),
        None => (event, None),
    };
    keep::named(&[name.to_owned()])?;
    let Some(_lock) = keep::lock(name)? else {
        return Err(Failure::environment(format!("a night of {name} is under way; try again when it is over")));
    };
    let mut kept = keep::read(name)?;
    let open: Vec<u32> = kept.watch.open().map(|event| event.number).collect();
    let wanted: Vec<u32> = match number {
        None => open,
        Some(number) => {
            let read = number.parse().ok().filter(|number| kept.watch.acknowledge(*number));
            let missing = || {
                let ids: Vec<String> = open.iter().map(|number| format!("{name}/{number}")).collect();
                let open =
                    if ids.is_empty() { "none is open".to_owned() } else { format!("open are {}", ids.join(", ")) };
                Failure::usage(format!("{} is no event of {name}; {open}", assay_core::text::quoted(event)))
            };
            vec![read.ok_or_else(missing)?]
        }
    };
    wanted.iter().for_each(|number| {
        kept.watch.acknowledge(*number);
    });
    keep::write(&kept)?;
    Ok(Exit::Good)
}
