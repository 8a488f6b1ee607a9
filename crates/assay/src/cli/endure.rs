//! Arguments of `assay endure`.

use std::path::PathBuf;
use std::time::Duration;

use assay_core::units::Bytes;
use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::{FileArgs, values};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay endure /dev/sdX --overwrite /dev/sdX --until '3000 cycles'
                                     wears a device, which loses its content
  assay endure /dev/sdX /dev/sdY --overwrite /dev/sdX --overwrite /dev/sdY
                                     several until they die
  assay endure /mnt/card --until 'first error'
                                     wears the free space
  assay endure /mnt/card --workload random-sync --part 1GiB
                                     as databases and logs do
  assay endure --resume /dev/sdZ     goes on, in any reader
  assay endure /dev/sdX --overwrite /dev/sdX --until '1000 cycles' --retain 30d
                                     then --resume reads it in 30 days
  assay endure --read-back /dev/sdX  reads it now
  assay endure --status              all tests, and how far they are
  assay endure --status 4f0c -o map.svg
                                     what failed where and when, of one test";

#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help(PICTURE)))]
pub(crate) struct EndureArgs {
    /// Raw devices, or directories whose free space is worn; with --status ids of tests, or their first characters
    #[arg(required_unless_present = "status")]
    pub(crate) targets: Vec<PathBuf>,

    /// Allow overwriting a raw device that holds data, by naming it once more
    #[arg(long, value_name = "DEVICE")]
    pub(crate) overwrite: Vec<PathBuf>,

    /// End of the test: a number of cycles ('3000 cycles'), a date (2027-01-31), or 'first error'; by default when the medium dies
    #[arg(long, value_name = "WHEN", value_parser = until)]
    pub(crate) until: Option<Until>,

    /// What wears the medium
    #[arg(long, value_name = "LOAD", value_enum, default_value_t = WearArg::Whole)]
    pub(crate) workload: WearArg,

    /// Wear only this much, like 1GiB: the start of a device, or a part of the free space
    #[arg(long, value_name = "SIZE")]
    pub(crate) part: Option<Bytes>,

    /// Another medium in the same reader, which is only read: it tells a dead reader from a dead medium
    #[arg(long, value_name = "DEVICE")]
    pub(crate) control: Option<PathBuf>,

    /// Longest wait for a medium that is gone or fails, before its test ends
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = wait)]
    pub(crate) wait: Duration,

    /// Resume tests: assay finds them by what is on the media. A test at rest is read once its rest is over
    #[arg(long, conflicts_with_all = ["workload", "part", "labels"])]
    pub(crate) resume: bool,

    /// After the last cycle let the medium rest unplugged for this long; --resume then reads it. Without --until it rests after
    /// the first cycle
    #[arg(long, value_name = "TIME", value_parser = retain)]
    pub(crate) retain: Option<Duration>,

    /// Read what the last cycle wrote, at once; write nothing
    #[arg(long, conflicts_with_all = ["overwrite", "until", "workload", "part", "control", "wait", "resume", "retain", "labels"])]
    pub(crate) read_back: bool,

    /// Show all tests; wear nothing
    #[arg(long, conflicts_with_all = ["overwrite", "until", "workload", "part", "control", "resume", "retain", "read_back", "labels"])]
    pub(crate) status: bool,

    /// Time without a completed operation after which the medium counts as hung
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::hang_after)]
    pub(crate) hang_after: Duration,

    /// Label of the record, like model=…, unit=…, slot=… or price=12.90USD; repeat for more
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = values::label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Print one JSON document: the tests
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Help of `-o`.
const PICTURE: &str =
    "With --status and the id of one test: draw the map of what failed, cell by cycle; .html, .svg or .png";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WearArg {
    /// Overwrites all of it in 16 slices, comparable with surveys
    Whole,
    /// Writes blocks of 4 KiB in random order, with a sync after each
    RandomSync,
}

/// When a test ends, beside the death of the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Cycles(u64),
    Date(Timestamp),
    FirstError,
}

fn wait(text: &str) -> Result<Duration, String> {
    values::time(Duration::ZERO..=Duration::from_secs(30 * 86_400), "0s to 30d")(text)
}

fn retain(text: &str) -> Result<Duration, String> {
    values::time(Duration::from_secs(1)..=Duration::from_secs(20 * 365 * 86_400), "1s to 7300d")(text)
}

fn until(text: &str) -> Result<Until, String> {
    let text = text.trim();
    if matches!(text, "first error" | "first-error") {
        return Ok(Until::FirstError);
    }
    let number = text.strip_suffix("cycles").or_else(|| text.strip_suffix("cycle")).map(str::trim);
    if let Some(cycles) = number.and_then(|number| number.parse().ok()).filter(|cycles| *cycles > 0) {
        return Ok(Until::Cycles(cycles));
    }
    let date = || text.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::system()).ok();
    let time = text.parse::<Timestamp>().ok().or_else(|| Some(date()?.timestamp()));
    time.map(Until::Date).ok_or_else(|| "write '3000 cycles', a date like 2027-01-31, or 'first error'".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_cycles_a_date_or_the_first_error() {
        assert_eq!(until("3000 cycles"), Ok(Until::Cycles(3000)));
        assert_eq!(until("1 cycle"), Ok(Until::Cycles(1)));
        assert_eq!(until("first error"), Ok(Until::FirstError));
        assert!(matches!(until("2027-01-31"), Ok(Until::Date(_))));
        assert!(matches!(until("2027-01-31T12:00:00Z"), Ok(Until::Date(_))));
        for wrong in ["3000", "0 cycles", "never", "-1 cycles"] {
            assert!(until(wrong).is_err(), "{wrong}");
        }
    }
}
