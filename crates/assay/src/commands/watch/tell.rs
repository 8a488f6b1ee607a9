//! Receivers of a night's messages: commands, addresses by curl, people by sendmail, Prometheus by a file, and Home Assistant by MQTT.
//!
//! Discovery of a whole device by Home Assistant: <https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery>. Both messages
//! are retained, so that Home Assistant knows them after a restart. User, password and TLS stand in the file of
//! mosquitto_pub, and in no argument.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::text::{self, clean};
use assay_report::watch::{event as event_sentence, figure_name};
use assay_watch::{Kept, Kind, Level, Status, StatusEvent, metrics};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::cli::{broker_parts, watch_name_of};
use crate::documents::watch::WatchMessage;
use crate::ending::Failure;
use crate::{files, output};

/// A receiver that takes longer is ended.
const LONGEST: Duration = Duration::from_secs(60);

/// Tells all that the plan names. What cannot be told is said here; the event stays open all the same.
pub(super) fn tell(kept: &Kept, events: &[StatusEvent]) {
    for event in events.iter().filter(|event| event.event.what.is_alarm()) {
        let sentence = event_sentence(&kept.plan.name, &kept.plan.title, &event.event);
        let plan = &kept.plan;
        let message = WatchMessage {
            watch: &plan.name,
            medium: &plan.title,
            target: &plan.target,
            happened: event,
            sentence: sentence.clone(),
        };
        let Ok(json) = output::json(&message) else { continue };
        let json = text::json(&json.to_string()) + "\n";
        let said = |what: &str, done: Result<(), String>| {
            if let Err(reason) = done {
                output::tell_wrapped(&format!("{what} did not take the message {}: {reason}", event.id));
            }
        };
        for command in &plan.notify {
            said(&format!("--notify `{command}`"), receive("sh", &["-c", command], &json));
        }
        for address in &plan.webhooks {
            let words =
                ["-fsS", "-m", "30", "-H", "Content-Type: application/json", "--data-binary", "@-", "--", address];
            said(&format!("--webhook {address}"), receive("curl", &words, &json));
        }
        for address in &plan.mail {
            let subject = clean(&format!("assay: {}", event.id));
            let mail =
                format!("To: {address}\nSubject: {subject}\nContent-Type: text/plain; charset=utf-8\n\n{sentence}\n");
            said(&format!("--mail {address}"), receive("sendmail", &["-t", "-i"], &mail));
        }
    }
}

/// Runs a command with a text on its standard input; why it failed.
pub(super) fn receive(program: &str, words: &[&str], input: &str) -> Result<(), String> {
    let spawned =
        Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| format!("{program}: {error}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // One that reads nothing has got the message by being called.
        let _ = pipe.write_all(input.as_bytes());
    }
    let begun = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                let mut said = String::new();
                let _ = child.stderr.take().map(|pipe| pipe.take(4096).read_to_string(&mut said));
                let last = said.lines().last().unwrap_or_default();
                return Err(format!("it ended with {status} {last}").trim_end().to_owned());
            }
            None if begun.elapsed() > LONGEST => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it took longer than {} s", LONGEST.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Writes the file for Prometheus, whole or not at all.
pub(super) fn write_metrics(kept: &Kept, now: i64) -> Result<(), Failure> {
    let Some(file) = &kept.plan.textfile else { return Ok(()) };
    files::write_whole(Path::new(file), metrics(&[Status::of(kept, now)]))
}

// Home Assistant.

/// Publishes what is known of a watch; why it failed.
pub(super) fn publish(broker: &str, status: &Status) -> Result<(), String> {
    send(broker, &discovery_topic(&status.name), &discovery(status).to_string())?;
    send(broker, &state_topic(&status.name), &state(status).to_string())
}

/// Removes the entities of a watch: an empty message takes the place of a retained one.
pub(super) fn withdraw(broker: &str, watch: &str) -> Result<(), String> {
    send(broker, &discovery_topic(watch), "")?;
    send(broker, &state_topic(watch), "")
}

fn send(broker: &str, topic: &str, text: &str) -> Result<(), String> {
    let (host, port) = broker_parts(broker).ok_or_else(|| "it is no host".to_owned())?;
    // Without a text it is the empty message, which removes what the broker retains.
    let what = if text.is_empty() { "-n" } else { "-s" };
    receive("mosquitto_pub", &["-h", host, "-p", port, "-q", "1", "-r", "-t", topic, what], text)
}

fn discovery_topic(watch: &str) -> String {
    format!("homeassistant/device/assay-watch-{watch}/config")
}

fn state_topic(watch: &str) -> String {
    format!("assay/watch/{watch}/state")
}

/// The name of a figure among the values.
fn key(level: &Level) -> String {
    watch_name_of(&figure_name(&level.load, level.figure)).replace('-', "_")
}

fn discovery(status: &Status) -> Value {
    let id = format!("assay-watch-{}", status.name);
    let mut components = Map::new();
    let mut add = |key: &str, mut of: Value| {
        of["unique_id"] = json!(format!("{id}-{key}"));
        components.insert(key.to_owned(), of);
    };
    add(
        "alarm",
        json!({"platform": "binary_sensor", "device_class": "problem", "name": "Alarm or late night",
            "value_template": "{{ 'OFF' if value_json.quiet else 'ON' }}"}),
    );
    add(
        "last_night",
        json!({"platform": "sensor", "device_class": "timestamp", "name": "Last night",
            "value_template": "{{ value_json.last_night }}"}),
    );
    add(
        "written",
        json!({"platform": "sensor", "device_class": "data_size", "unit_of_measurement": "B", "name": "Written in a year",
            "value_template": "{{ value_json.written_bytes_of_year }}"}),
    );
    for level in &status.levels {
        let unit = match level.figure {
            Kind::Rate => "IOPS",
            Kind::Latency => "ms",
        };
        let key = key(level);
        let name = clean(&figure_name(&level.load, level.figure));
        add(
            &key,
            json!({"platform": "sensor", "name": name, "unit_of_measurement": unit, "state_class": "measurement",
                "value_template": format!("{{{{ value_json.levels.{key} }}}}")}),
        );
    }
    json!({
        "device": {"identifiers": [id], "name": clean(&status.name), "model": clean(&status.medium)},
        "origin": {"name": "assay", "sw_version": env!("CARGO_PKG_VERSION")},
        "state_topic": state_topic(&status.name),
        "components": components,
    })
}

/// The values: levels in IOPS, and milliseconds of the 99th percentile.
fn state(status: &Status) -> Value {
    let value = |level: &Level| match level.figure {
        Kind::Rate => level.value,
        Kind::Latency => level.value / 1e6,
    };
    let levels: Map<String, Value> = status.levels.iter().map(|level| (key(level), json!(value(level)))).collect();
    let last = status.last_night.and_then(|last| Timestamp::from_second(last).ok()).map(|last| last.to_string());
    json!({
        "quiet": status.is_quiet(),
        "open_alarms": status.open.len(),
        "last_night": last,
        "written_bytes_of_year": status.written_bytes_of_year,
        "levels": levels,
    })
}
