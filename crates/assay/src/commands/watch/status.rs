//! `assay watch status` and `ack`.

use assay_core::exit::Exit;
use assay_pictures::Drawing;
use assay_report::watch::{Watched, document, picture};
use assay_report::{Document, Style};
use assay_watch::{Kept, Night, Status, courses};
use jiff::Timestamp;
use serde_json::Value;

use super::keep;
use crate::answer::{Answer, Target, WITH_PICTURE};
use crate::cli::WatchStatusArgs;
use crate::documents::watch::WatchStatusDocument;
use crate::ending::{self, Failure};
use crate::output;

pub(super) fn status(args: &WatchStatusArgs) -> Result<Exit, Failure> {
    let target = Target::new(&args.file, WITH_PICTURE)?;
    let answer = status_answer(args, &target, target.is_file())?;
    let quiet = answer.quiet();
    target.deliver(&answer, args.json)?;
    Ok(ending::of_answer(quiet))
}

/// What is known of watched media; with their nights where a picture may be wanted.
pub(in crate::commands) fn status_answer(
    args: &WatchStatusArgs,
    target: &Target,
    with_nights: bool,
) -> Result<WatchAnswer, Failure> {
    let now = Timestamp::now().as_second();
    let names = match keep::names()? {
        names if names.is_empty() && args.names.is_empty() => names,
        _ => keep::named(&args.names)?,
    };
    let mut media = Vec::new();
    for name in &names {
        let kept = keep::read(name)?;
        let nights = if with_nights { nights(&kept)? } else { Vec::new() };
        media.push(Watched { status: Status::of(&kept, now), courses: courses(&nights) });
    }
    target.redact_watched(&mut media);
    Ok(WatchAnswer(media))
}

/// The nights of a medium that the store holds.
fn nights(kept: &Kept) -> Result<Vec<Night>, Failure> {
    let records = keep::first_records(&kept.plan)?;
    Ok(records.iter().filter_map(|record| kept.night_of(record, keep::began(record)?)).collect())
}

/// Watched media.
pub(in crate::commands) struct WatchAnswer(Vec<Watched>);

impl WatchAnswer {
    fn quiet(&self) -> bool {
        self.0.iter().all(|watched| watched.status.is_quiet())
    }
}

impl Answer for WatchAnswer {
    fn text(&self, style: &Style) -> String {
        document(&self.0).text(style)
    }

    fn json(&self) -> Result<Value, Failure> {
        let media = self.0.iter().map(|watched| watched.status.clone()).collect();
        output::json(&WatchStatusDocument { quiet: self.quiet(), media })
    }

    fn document(&self) -> Document {
        document(&self.0)
    }

    fn picture(&self) -> Option<Drawing> {
        picture(&self.0)
    }
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
