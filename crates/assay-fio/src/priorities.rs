//! Priorities of a job and of a share of its operations: `prioclass`, `prio`, `cmdprio_percentage`, `cmdprio_class`, `cmdprio`,
//! `cmdprio_bssplit`. What fio makes of them is by its manual, and as its system calls were seen to be.

use assay_core::priority::{LOWEST_LEVEL, Priorities, Priority, PriorityClass, PriorityShare};
use assay_core::suite::SuiteWorkload;
use assay_core::text::quoted;
use assay_core::workload::Op;

use crate::given::{At, Given};

/// Engines of fio that take a priority with an operation.
const WITH_PRIORITIES: [&str; 2] = ["io_uring", "libaio"];
const OPS: [Op; 2] = [Op::Read, Op::Write];

/// A share of the operations of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PriorityEntry {
    block_bytes: u64,
    percent: u8,
    /// Where the entry has one of its own.
    priority: Option<Priority>,
}

/// What the options ask for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    class: Option<PriorityClass>,
    level: Option<u8>,
    /// Of reads, and of writes.
    percent: [Option<At<u8>>; 2],
    classes: [Option<PriorityClass>; 2],
    levels: [Option<u8>; 2],
    split: [Option<At<Vec<PriorityEntry>>>; 2],
}

impl Asked {
    /// Takes over an option about priorities; false where it is another one.
    ///
    /// # Errors
    /// What is wrong with its value.
    pub(crate) fn set(&mut self, option: Given<'_, '_>) -> Result<bool, String> {
        match option.key {
            "prioclass" => self.class = Some(class(option, option.text()?, 0)?),
            "prio" => self.level = Some(level(option, option.text()?)?),
            "cmdprio_class" => each(&mut self.classes, option, |text| class(option, text, 1))?,
            "cmdprio" => each(&mut self.levels, option, |text| level(option, text))?,
            "cmdprio_percentage" => {
                each(&mut self.percent, option, |text| Ok(option.at(percent(option, text)?)))?;
            }
            "cmdprio_bssplit" => {
                each(&mut self.split, option, |text| {
                    let entries: Result<Vec<_>, _> = text.split(':').map(|entry| read(option, entry)).collect();
                    Ok(option.at(entries?))
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The priorities of a workload that `engine` runs in fio.
    ///
    /// # Errors
    /// What does not go together, with its line.
    pub(crate) fn for_workload(
        &self,
        workload: &SuiteWorkload,
        engine: Option<&str>,
    ) -> Result<Priorities, At<String>> {
        let given = self.class.is_some() || self.level.is_some();
        // A level without class is one of best effort.
        let class = self.class.unwrap_or(PriorityClass::BestEffort);
        let job = given.then_some(Priority { class, level: self.level.unwrap_or(0) });
        let used = OPS.into_iter().enumerate().filter(|(_, op)| workload.op == Op::Mixed || workload.op == *op);
        let load = workload.load();
        let (mut shares, mut line) = (Vec::new(), 0);
        let mut forms = [false; 2];
        for (direction, op) in used {
            let usual = Priority {
                class: self.classes[direction].unwrap_or(PriorityClass::Realtime),
                level: self.levels[direction].unwrap_or(0),
            };
            if let Some(of) = self.percent[direction].filter(|percent| percent.value > 0) {
                (line, forms[0]) = (of.line, true);
                shares.push(PriorityShare { op: Some(op), block_bytes: None, percent: of.value, priority: usual });
            }
            let Some(split) = &self.split[direction] else { continue };
            (line, forms[1]) = (split.line, true);
            // No operation has the other sizes.
            let sizes = load.sizes_of(op);
            for entry in split.value.iter().filter(|e| e.percent > 0 && sizes.contains(&e.block_bytes)) {
                let (block_bytes, percent) = (Some(entry.block_bytes), entry.percent);
                shares.push(PriorityShare {
                    op: Some(op),
                    block_bytes,
                    percent,
                    priority: entry.priority.unwrap_or(usual),
                });
            }
        }
        if forms == [true; 2] {
            return Err(At { value: "cmdprio_percentage and cmdprio_bssplit exclude each other".to_owned(), line });
        }
        if !shares.is_empty() && !engine.is_some_and(|engine| WITH_PRIORITIES.contains(&engine)) {
            let value = "priorities of single operations are for ioengine=io_uring and libaio, in fio too".to_owned();
            return Err(At { value, line });
        }
        let asked = SuiteWorkload { priorities: Priorities { job, shares }, ..workload.clone() };
        asked.checked_priorities().map_err(|value| At { value, line })
    }
}

/// Takes over the values of reads and writes.
fn each<'t, T>(
    places: &mut [Option<T>; 2],
    option: Given<'_, 't>,
    value: impl Fn(&'t str) -> Result<T, String>,
) -> Result<(), String> {
    for (place, text) in places.iter_mut().zip(option.directions()?) {
        if let Some(text) = text {
            *place = Some(value(text)?);
        }
    }
    Ok(())
}

/// A class by its number, `least` to 3. fio takes 0, that of no class, as best effort.
fn class(option: Given<'_, '_>, text: &str, least: u8) -> Result<PriorityClass, String> {
    let number = text.parse::<u8>().ok().filter(|number| (least..=3).contains(number));
    let class = number.map(|number| {
        let known = PriorityClass::ALL.into_iter().find(|class| class.number() == number);
        known.unwrap_or(PriorityClass::BestEffort)
    });
    class.ok_or_else(|| format!("{} = {} must be {least} to 3", option.key, quoted(text)))
}

fn level(option: Given<'_, '_>, text: &str) -> Result<u8, String> {
    let level = text.parse::<u8>().ok().filter(|level| *level <= LOWEST_LEVEL);
    level.ok_or_else(|| format!("{} = {} must be 0 to {LOWEST_LEVEL}", option.key, quoted(text)))
}

fn percent(option: Given<'_, '_>, text: &str) -> Result<u8, String> {
    Given { value: Some(text), ..option }.percent()
}

/// `SIZE/PERCENT`, `SIZE/PERCENT/CLASS/LEVEL` or that with a hint of 0, which is none.
fn read(option: Given<'_, '_>, entry: &str) -> Result<PriorityEntry, String> {
    let parts: Vec<&str> = entry.split('/').map(str::trim).collect();
    let (size, share, own) = match parts[..] {
        [size, share] => (size, share, None),
        [size, share, class, level] | [size, share, class, level, "0"] => (size, share, Some((class, level))),
        [_, _, _, _, _] => {
            let what = "an entry has a hint, as for command duration limits, and priorities have none here";
            return Err(format!("{}: {}: {what}", option.key, quoted(entry)));
        }
        _ => {
            let like = "SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL";
            return Err(format!("{}: {} must be {like}", option.key, quoted(entry)));
        }
    };
    let priority =
        own.map(|(of, place)| Ok::<_, String>(Priority { class: class(option, of, 0)?, level: level(option, place)? }));
    Ok(PriorityEntry {
        block_bytes: option.block(size)?,
        percent: percent(option, share)?,
        priority: priority.transpose()?,
    })
}
