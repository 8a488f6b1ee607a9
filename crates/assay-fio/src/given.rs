//! An option as it stands in a job file, and the forms that its value may have.

use assay_core::blocks::{BlockShare, Blocks};
use assay_core::distribution::Distribution;
use assay_core::priority::{LOWEST_LEVEL, Priorities, Priority, PriorityClass, PriorityShare};
use assay_core::suite::{MAX_BLOCK, SuiteWorkload};
use assay_core::text::{label, quoted};
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern};

use super::values::reckoned;
use crate::values::size;

/// A value with the line that set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) line: usize,
}

/// A size in bytes or in percent of the file or device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// In bytes.
    Bytes(u64),
    /// In percent, above 0 and at most 100.
    Percent(f64),
}

impl Amount {
    /// `count` times the amount.
    pub(crate) fn times(self, count: u64) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_mul(count)),
            Self::Percent(percent) => Self::Percent(percent * count as f64),
        }
    }

    /// In bytes, of a medium of that many.
    pub(crate) fn bytes_of_medium(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (percent / 100.0 * whole as f64) as u64 / 4096 * 4096,
        }
    }

    /// The percent, where it is in percent.
    pub(crate) fn percent(self) -> Option<f64> {
        match self {
            Self::Bytes(_) => None,
            Self::Percent(percent) => Some(percent),
        }
    }
}

/// An option as it stands in the file.
#[derive(Clone, Copy)]
pub(crate) struct Given<'k, 't> {
    pub(crate) key: &'k str,
    pub(crate) value: Option<&'t str>,
    pub(crate) line: usize,
    /// What `k` is: 1024 or 1000.
    pub(crate) base: u64,
}

impl<'t> Given<'_, 't> {
    pub(crate) fn text(&self) -> Result<&'t str, String> {
        let text = self.value.map(|v| v.trim_matches('"')).filter(|v| !v.is_empty());
        text.ok_or_else(|| format!("{0} needs a value: {0}=…", self.key))
    }

    pub(crate) fn named(&self, message: String) -> String {
        format!("{}: {message}", self.key)
    }

    pub(crate) fn at<T>(&self, value: T) -> At<T> {
        At { value, line: self.line }
    }

    /// A size in bytes.
    pub(crate) fn bytes(&self) -> Result<u64, String> {
        self.bytes_of(self.text()?)
    }

    fn bytes_of(&self, text: &str) -> Result<u64, String> {
        let number = |text: &str| size(text, self.base);
        match reckoned(text, number).map_err(|message| self.named(message))? {
            Some(bytes) => Ok(bytes),
            None => number(text).map_err(|message| self.named(message)),
        }
    }

    /// A size in bytes or percent.
    pub(crate) fn amount(&self) -> Result<Amount, String> {
        let text = self.text()?;
        // A file that a script fills in has `100%%`.
        let Some(percent) = text.strip_suffix('%').map(|text| text.trim_end_matches('%')) else {
            return self.bytes().map(Amount::Bytes);
        };
        let percent = percent.trim().parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
        percent.map(Amount::Percent).ok_or_else(|| self.named(format!("{} must be 0% to 100%", quoted(text))))
    }

    /// The values of reads and of writes. One that ends with no comma is for all that come after it.
    pub(crate) fn directions(&self) -> Result<[Option<&'t str>; 2], String> {
        let text = self.text()?;
        let mut values = text.split(',').map(str::trim);
        let reads = values.next().unwrap_or_default();
        let writes = values.next().unwrap_or(reads);
        Ok([reads, writes].map(|value| Some(value).filter(|value| !value.is_empty())))
    }

    /// A block, in bytes.
    pub(crate) fn block(&self, text: &str) -> Result<u64, String> {
        let bytes = self.bytes_of(text)?;
        if bytes == 0 || bytes > MAX_BLOCK.0 {
            return Err(format!("{} = {} must be 1 B to {MAX_BLOCK}", self.key, Bytes(bytes)));
        }
        Ok(bytes)
    }

    pub(crate) fn count(&self, limit: u32) -> Result<u32, String> {
        let text = self.text()?;
        text.parse()
            .ok()
            .filter(|n| (1..=limit).contains(n))
            .ok_or_else(|| format!("{} = {} must be 1 to {limit}", self.key, shown(text)))
    }

    /// A whole number; 0 is as if the option were not there.
    pub(crate) fn count_or_none(&self, limit: u32) -> Result<Option<u32>, String> {
        if self.text()? == "0" { Ok(None) } else { self.count(limit).map(Some) }
    }

    pub(crate) fn percent(&self) -> Result<u8, String> {
        let text = self.text()?;
        text.trim_end_matches('%')
            .parse()
            .ok()
            .filter(|n| *n <= 100)
            .ok_or_else(|| format!("{} = {} must be 0 to 100", self.key, shown(text)))
    }
}

/// A value for a message.
fn shown(text: &str) -> String {
    label(text, 80).unwrap_or_default()
}

// Values of options that have a form of their own.

/// What `rw` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) op: Op,
    pub(crate) pattern: Pattern,
    /// Bytes that a stream leaves out after each operation; negative where it goes back.
    pub(crate) skip: i64,
}

/// The kind of load: `randread`, or `write:112k` for a stream with gaps.
pub(crate) fn load(option: Given<'_, '_>) -> Result<Load, String> {
    let text = option.text()?;
    let (kind, more) = text.split_once(':').unwrap_or((text, ""));
    let (op, pattern) = match kind {
        "read" => (Op::Read, Pattern::Sequential),
        "write" => (Op::Write, Pattern::Sequential),
        "randread" => (Op::Read, Pattern::Random),
        "randwrite" => (Op::Write, Pattern::Random),
        "rw" | "readwrite" => (Op::Mixed, Pattern::Sequential),
        "randrw" => (Op::Mixed, Pattern::Random),
        _ => {
            return Err(format!(
                "rw {} does not map; use read, write, rw, randread, randwrite or randrw",
                quoted(text)
            ));
        }
    };
    let (sign, bytes) = more.strip_prefix('-').map_or((1, more), |rest| (-1, rest));
    let skip = match (pattern, more) {
        (_, "") => 0,
        (Pattern::Sequential, _) => {
            let bytes = size(bytes, option.base).map_err(|message| option.named(message))?;
            sign * i64::try_from(bytes).map_err(|_| option.named(format!("{} is too large", quoted(text))))?
        }
        // This number of operations in a row begins at a random place.
        (Pattern::Random, "1") => 0,
        (Pattern::Random, _) => {
            return Err(format!("rw {}: runs of random places do not map; use bssplit or rw={kind}", quoted(text)));
        }
    };
    Ok(Load { op, pattern, skip })
}

/// Sizes with their shares, or a single size.
pub(crate) fn split(option: Given<'_, '_>, text: &str) -> Result<Blocks, String> {
    let named = |message: String| if message.starts_with(option.key) { message } else { option.named(message) };
    let blocks = Blocks::read(text, |bytes| option.block(bytes)).map_err(named)?;
    if !blocks.is_empty() {
        return Ok(blocks);
    }
    // All operations have one size; the other sizes have a share of 0.
    let entries = text.split(':').map(|entry| entry.split_once('/').unwrap_or((entry, "")));
    let share = |percent: &str| percent.trim().parse::<f64>().unwrap_or(50.0);
    let all = entries.max_by(|(_, one), (_, other)| share(one).total_cmp(&share(other)));
    Blocks::one(option.block(all.map_or("", |(size, _)| size.trim()))?).map_err(named)
}

/// Sizes between two, each as frequent as any other; with the smaller one.
pub(crate) fn range(option: Given<'_, '_>, text: &str) -> Result<(u64, Blocks), String> {
    let wrong = || format!("bsrange {} must be two sizes, like 4k-64k", quoted(text));
    let (least, most) = text.split_once('-').ok_or_else(wrong)?;
    let (least, most) = (option.block(least)?, option.block(most)?);
    if least > most || !most.is_multiple_of(least) || most / least > 64 {
        return Err(format!(
            "bsrange {} must end at a multiple of where it begins, at most 64 times; use bssplit",
            quoted(text)
        ));
    }
    let sizes = most / least;
    let shares = (1..=sizes).map(|n| BlockShare { block_bytes: n * least, percent: 100.0 / sizes as f64 });
    Ok((least, Blocks::new(shares).map_err(|message| option.named(message))?))
}

/// Whether a stream has zones; those of zoned devices are another thing.
pub(crate) fn zones(option: Given<'_, '_>) -> Result<bool, String> {
    match option.text()? {
        "none" => Ok(false),
        "strided" => Ok(true),
        other => {
            let other = quoted(other);
            Err(format!("option `zonemode` does not map with {other}; use strided, or run the file with fio"))
        }
    }
}

pub(crate) fn distribution(text: &str) -> Result<Distribution, String> {
    let wrong = || {
        format!(
            "random_distribution {} does not map; use random, zipf:THETA, pareto:H, normal:PERCENT or zoned:OPERATIONS/AREA:…",
            quoted(text)
        )
    };
    // Other zones for writes (`zoned:…,…`) and a centre (`zipf:1.1:0.3`) have no counterpart in assay.
    Distribution::from_fio(text).map_err(|_| wrong())
}

/// Paths, as fio takes them: `:` divides several unless a backslash stands before it, `$` begins a variable, `-` is
/// standard input.
pub(crate) fn paths(option: Given<'_, '_>) -> Result<Vec<String>, String> {
    let text = option.text()?;
    if text == "-" {
        return Err(option.named("standard input does not map; name a file or a device".to_owned()));
    }
    let mut all = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(escaped @ (':' | '\\')) => all.last_mut().into_iter().for_each(|path| path.push(escaped)),
                _ => return Err(option.named(format!("{} is not a plain path; write it out", quoted(text)))),
            },
            ':' => all.push(String::new()),
            '$' => return Err(option.named(format!("{} is not a plain path; write it out", quoted(text)))),
            letter => all.last_mut().into_iter().for_each(|path| path.push(letter)),
        }
    }
    if all.iter().any(String::is_empty) {
        return Err(option.named(format!("{} names a place without a name", quoted(text))));
    }
    Ok(all)
}

// Priorities of a job and of a share of its operations: `prioclass`, `prio`, `cmdprio_percentage`, `cmdprio_class`, `cmdprio`,
// `cmdprio_bssplit`. What fio makes of them is by its manual, and as its system calls were seen to be.

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

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Given<'static, '_> {
        Given { key: "x", value: Some(text), line: 1, base: 1024 }
    }

    /// As fio 3.33 was seen to take them.
    #[test]
    fn values_are_for_reads_and_for_writes() {
        for (text, reads, writes) in [
            ("4k", Some("4k"), Some("4k")),
            ("4k,8k", Some("4k"), Some("8k")),
            (",8k", None, Some("8k")),
            ("4k,", Some("4k"), None),
            ("4k,8k,16k", Some("4k"), Some("8k")),
        ] {
            assert_eq!(given(text).directions(), Ok([reads, writes]), "{text}");
        }
    }

    #[test]
    fn amounts_are_bytes_or_percent() {
        assert_eq!(given("12.5%").amount(), Ok(Amount::Percent(12.5)));
        assert_eq!(given("100%%").amount(), Ok(Amount::Percent(100.0)));
        assert_eq!(given("2g").amount(), Ok(Amount::Bytes(2 << 30)));
        assert!(given("101%").amount().is_err() && given("-1%").amount().is_err());
        assert_eq!(Amount::Percent(50.0).bytes_of_medium(1 << 20), 1 << 19);
    }

    fn given_option(key: &'static str, text: &'static str) -> Given<'static, 'static> {
        Given { key, value: Some(text), line: 1, base: 1024 }
    }

    #[test]
    fn a_colon_divides_paths_unless_it_is_escaped() {
        let of = |text| paths(given_option("filename", text));
        assert_eq!(of("/dev/a:/dev/b").unwrap(), ["/dev/a", "/dev/b"]);
        assert_eq!(of("/dev/bsg/0\\:0\\:0\\:0").unwrap(), ["/dev/bsg/0:0:0:0"]);
        for text in ["-", "a:", "$x", "a\\n", "a\\"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_stream_may_leave_bytes_out_or_go_back() {
        let of = |text| load(given_option("rw", text)).map(|load| load.skip);
        assert_eq!((of("write:112k"), of("read:-8k"), of("rw")), (Ok(112 << 10), Ok(-8192), Ok(0)));
        assert!(of("randread:8").is_err() && of("read:x").is_err() && of("erase").is_err());
    }
}
