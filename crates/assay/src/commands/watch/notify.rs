//! Messages: to commands, by curl to addresses, by sendmail to people, and figures for Prometheus.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::text::{self, clean};
use assay_watch::{Kept, Status, StatusEvent, metrics};

use super::words;
use crate::documents::watch::WatchMessage;
use crate::failure::Failure;
use crate::{files, output};

/// A receiver that takes longer is ended.
const LONGEST: Duration = Duration::from_secs(60);

/// Tells all that the plan names. What cannot be told is said here; the event stays open all the same.
pub(super) fn tell(kept: &Kept, events: &[StatusEvent]) {
    for event in events.iter().filter(|event| event.event.what.is_alarm()) {
        let sentence = words::event(&kept.plan, &event.event);
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
fn receive(program: &str, words: &[&str], input: &str) -> Result<(), String> {
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
    files::write_whole(Path::new(file), metrics(&Status::of(kept, now)))
}
