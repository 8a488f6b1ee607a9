//! Arguments of `assay watch`.

use std::path::PathBuf;
use std::time::Duration;

use assay_core::units::Bytes;
use clap::{Args, Subcommand, ValueHint};

use super::{FileArgs, values};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay watch add /mnt/card              measures it each night from now on
  assay watch add /mnt/card --print      only shows the timer and the budget
  assay watch run                        a night of all watched media, now
  assay watch status                     level, trend, last change, next night
  assay watch ack card/3                 silent until the value moves again";
const ADD_EXAMPLES: &str = "\
Examples:
  assay watch add /mnt/card --nightly 03:30
  assay watch add /mnt/card --notify 'ntfy publish cards' --mail me@example.org
  assay watch add /mnt/ssd --endurance 150TB --textfile /var/lib/node/ssd.prom
  assay watch add /dev/sdb --suite read-only   a device, which is only read";
const RUN_EXAMPLES: &str = "\
Examples:
  assay watch run
  assay watch run card --json";
const STATUS_EXAMPLES: &str = "\
Examples:
  assay watch status
  assay watch status card --json
  assay watch status card -o card.html   a page with the year as a picture";
const ACK_EXAMPLES: &str = "\
Examples:
  assay watch ack card/3     one event
  assay watch ack card       all events of a medium";
const REMOVE_EXAMPLES: &str = "\
Examples:
  assay watch remove card    its records stay";

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<WatchCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WatchCommand {
    /// Watch a medium: measure it each night, by a timer of systemd or cron
    #[command(after_help = ADD_EXAMPLES)]
    Add(Box<WatchAddArgs>),
    /// Measure a night now, and say what changed
    #[command(after_help = RUN_EXAMPLES)]
    Run(WatchRunArgs),
    /// Show level, trend, last change, health and next night of watched media
    #[command(after_help = STATUS_EXAMPLES)]
    Status(WatchStatusArgs),
    /// Mark an event as seen
    #[command(after_help = ACK_EXAMPLES)]
    Ack {
        /// Event, like card/3, or the name of a watch for all of its events
        #[arg(value_name = "EVENT")]
        event: String,
    },
    /// End a watch: removes its timer and its levels, and keeps its records
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove {
        /// Name of the watch
        #[arg(value_name = "WATCH")]
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WatchAddArgs {
    /// Directory on the medium, or a device, which is only read
    #[arg(default_value = ".")]
    pub(crate) target: PathBuf,

    /// Name of the watch; made of that of the medium by default
    #[arg(long = "named", value_name = "WATCH", value_parser = name)]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) how: WatchHowArgs,
}

/// How a night is measured, and where its messages go.
#[derive(Debug, Args)]
pub(crate) struct WatchHowArgs {
    /// Time of day of the night's run
    #[arg(long, value_name = "HH:MM", default_value = "03:30", value_parser = time_of_day)]
    pub(crate) nightly: String,

    /// Suite by name, or a suite file
    #[arg(long, value_name = "NAME|FILE", default_value = crate::suites::DEFAULT, value_parser = values::SuiteName,
          hide_possible_values = true)]
    pub(crate) suite: String,

    /// Longest time of a night's run
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = night_time)]
    pub(crate) night_time: Duration,

    /// Most bytes that a night's run writes
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub(crate) night_writes: Bytes,

    /// Bytes that the medium can be written in its life, as its maker states them; 300 times its size by default
    #[arg(long, value_name = "SIZE")]
    pub(crate) endurance: Option<Bytes>,

    /// Command that receives each message as JSON on standard input; repeat for more
    #[arg(long, value_name = "COMMAND")]
    pub(crate) notify: Vec<String>,

    /// Address that each message is posted to as JSON, by curl; repeat for more
    #[arg(long = "webhook", value_name = "URL", value_parser = address)]
    pub(crate) webhooks: Vec<String>,

    /// Address that each message is mailed to, by sendmail; repeat for more
    #[arg(long, value_name = "ADDRESS", value_parser = mail)]
    pub(crate) mail: Vec<String>,

    /// MQTT broker that Home Assistant listens to, by mosquitto_pub; its user, password and TLS stand in the file
    /// ~/.config/mosquitto_pub
    #[arg(long, value_name = "HOST[:PORT]", value_parser = broker)]
    pub(crate) mqtt: Option<String>,

    /// File for the textfile collector of Prometheus' node_exporter, written after each night
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) textfile: Option<PathBuf>,

    /// Make no timer: something else calls assay watch run each night
    #[arg(long)]
    pub(crate) no_timer: bool,

    /// Show the timer and the budget, and change nothing
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WatchRunArgs {
    /// Watches; all by default
    #[arg(value_name = "WATCH")]
    pub(crate) names: Vec<String>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WatchStatusArgs {
    /// Watches; all by default
    #[arg(value_name = "WATCH")]
    pub(crate) names: Vec<String>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) file: FileArgs,
}

/// Longest name; it is a label and part of a file's name.
const LONGEST_NAME: usize = 40;

/// The name of a watch.
pub(super) fn name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || text.len() > LONGEST_NAME || !text.chars().all(plain) || text.starts_with('-') {
        return Err(format!("a name has 1 to {LONGEST_NAME} of the characters a to z, 0 to 9 and -, like card-1"));
    }
    Ok(text.to_owned())
}

/// A name made of any text.
pub(crate) fn name_of(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars().map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    name.truncate(LONGEST_NAME - 4);
    let name = name.trim_end_matches('-');
    if name.is_empty() { "medium".to_owned() } else { name.to_owned() }
}

fn time_of_day(text: &str) -> Result<String, String> {
    let read = || {
        let (hours, minutes) = text.split_once(':').filter(|_| !text.contains('+'))?;
        let (hour, minute): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
        (hours.len() <= 2 && minutes.len() == 2 && hour < 24 && minute < 60).then(|| format!("{hour:02}:{minute:02}"))
    };
    read().ok_or_else(|| "write a time of day, like 03:30".to_owned())
}

fn night_time(text: &str) -> Result<Duration, String> {
    values::time(Duration::from_secs(5)..=Duration::from_secs(3600), "5s to 1h")(text)
}

fn address(text: &str) -> Result<String, String> {
    let known = text.starts_with("https://") || text.starts_with("http://");
    let plain = text.chars().all(|c| c.is_ascii_graphic());
    if known && plain { Ok(text.to_owned()) } else { Err("write an address, like https://example.org/hook".to_owned()) }
}

fn broker(text: &str) -> Result<String, String> {
    let wrong = || "write a host, like broker.lan or 10.0.0.2:1883".to_owned();
    broker_parts(text).map(|_| text.to_owned()).ok_or_else(wrong)
}

/// Port of brokers without TLS.
const PORT: &str = "1883";

/// Host and port of `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
pub(crate) fn broker_parts(broker: &str) -> Option<(&str, &str)> {
    let (host, port) = match broker.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => (address, rest.strip_prefix(':').or(rest.is_empty().then_some(PORT))?),
        None => broker.rsplit_once(':').unwrap_or((broker, PORT)),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    let good = !host.is_empty() && !host.starts_with('-') && host.chars().all(plain);
    (good && port.parse::<u16>().is_ok_and(|port| port > 0)).then_some((host, port))
}

fn mail(text: &str) -> Result<String, String> {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "@.+-_".contains(c));
    if plain && !text.is_empty() && !text.starts_with('-') {
        Ok(text.to_owned())
    } else {
        Err("write an address of mail, like me@example.org or root".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_labels_files_and_units_of_systemd() {
        assert_eq!(name_of("Samsung EVO Plus, 64.0 GB"), "samsung-evo-plus-64-0-gb");
        assert_eq!(name_of("–"), "medium");
        assert!(name("card-1").is_ok() && name(&name_of(&"x".repeat(99))).is_ok());
        assert!(name("../x").is_err() && name("").is_err() && name("-x").is_err() && name("A").is_err());
    }

    #[test]
    fn brokers_are_hosts_and_no_options() {
        assert_eq!(broker_parts("broker.lan"), Some(("broker.lan", "1883")));
        assert_eq!(broker_parts("10.0.0.1:8883"), Some(("10.0.0.1", "8883")));
        assert_eq!(broker_parts("[::1]:1884"), Some(("::1", "1884")));
        for bad in ["", "-x", "a b", "host:0", "host:x", "user@host", ":1883"] {
            assert_eq!(broker_parts(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_and_addresses_are_plain() {
        assert_eq!(time_of_day("3:05"), Ok("03:05".to_owned()));
        assert!(time_of_day("24:00").is_err() && time_of_day("03:5").is_err() && time_of_day("+3:05").is_err());
        assert!(address("https://x/\n").is_err() && address("file:///etc").is_err() && mail("a b").is_err());
    }
}
