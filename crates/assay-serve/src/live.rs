//! What a page shows of a job while it runs: the events as words and numbers, which the browser only places.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use assay_core::event::{Event, EventKind};
use assay_core::finding::Severity;
use assay_core::units::{Bytes, figures, latency, rate, span};
use axum::response::sse::{self, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::jobs::{Job, State};

/// Between two looks at a job whose events come faster.
const PAUSE: Duration = Duration::from_millis(100);
/// A connection says so often that it is alive: proxies end silent ones.
const ALIVE: Duration = Duration::from_secs(15);

/// Time left as people say it.
fn left(ns: u64) -> String {
    match Duration::from_nanos(ns) {
        left if left < Duration::from_secs(1) => "almost done".to_owned(),
        left => format!("{} left", span(Duration::from_secs(left.as_secs()))),
    }
}

/// An event for the page; none of those that it does not show.
pub(crate) fn shown(event: &Event) -> Option<Value> {
    Some(match &event.event {
        EventKind::Started { medium, suite, budget_ns, planned_write_bytes, .. } => {
            let writes = match planned_write_bytes {
                0 => "writes nothing".to_owned(),
                bytes => format!("writes at most {}", Bytes(*bytes)),
            };
            let time = span(Duration::from_nanos(*budget_ns));
            json!({"kind": "started", "text": format!("{}, suite {suite}: takes at most {time}, {writes}", medium.title())})
        }
        EventKind::Phase { phase } => {
            let words = match phase.as_str() {
                "layout" => "Writing the test file",
                "calibrate" => "A first look at the speed",
                "cleanup" => "Removing the test file",
                "samples" => "Writing samples, and reading them back",
                "write" => "Filling the free space",
                "read" => "Reading back",
                other => other,
            };
            json!({"kind": "phase", "text": words})
        }
        EventKind::Progress { done_bytes, total_bytes, bytes_per_second } => json!({
            "kind": "progress", "share": share(*done_bytes, *total_bytes), "rate": rate(*bytes_per_second),
            "left": format!("{} of {}", Bytes(*done_bytes), Bytes(*total_bytes)), "point": bytes_per_second,
        }),
        EventKind::RepeatStarted { title, repeat, repeats, done, total, left_ns, .. } => json!({
            "kind": "repeat", "text": format!("{title}, repeat {repeat} of {repeats}"),
            "share": share(u64::from(*done), u64::from(*total)), "left": left(*left_ns),
        }),
        EventKind::Sample { iops, bytes_per_second, p99_ns, temperature_celsius, left_ns, .. } => json!({
            "kind": "sample", "rate": rate(*bytes_per_second), "iops": format!("{} IOPS", figures(*iops)),
            "p99": p99_ns.map_or_else(|| "–".to_owned(), latency),
            "temperature": temperature_celsius.map(|celsius| format!("{} °C", figures(celsius))),
            "left": left(*left_ns), "point": bytes_per_second,
        }),
        EventKind::RepeatFinished { workload, repeat, iops, bytes_per_second, p99_ns, .. } => json!({
            "kind": "done", "load": workload, "repeat": repeat, "rate": rate(*bytes_per_second),
            "iops": figures(*iops), "p99": p99_ns.map_or_else(|| "–".to_owned(), latency),
        }),
        EventKind::ProgramFinished { program, repeat, value, unit } => json!({
            "kind": "done", "load": program, "repeat": repeat, "rate": format!("{} {unit}", figures(*value)),
            "iops": "–", "p99": "–",
        }),
        EventKind::Warning { title, workload, warning } if warning.severity >= Severity::Suspect => {
            let about = title.as_ref().or(workload.as_ref()).map(|title| format!("{title}: ")).unwrap_or_default();
            json!({"kind": "warning", "text": format!("{about}{}", warning.cause())})
        }
        EventKind::Warning { .. } | EventKind::Finished { .. } => return None,
    })
}

fn share(done: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { (done as f64 / total as f64).clamp(0.0, 1.0) }
}

/// Where a watcher of a job stands.
struct Watcher {
    job: Arc<Job>,
    next: u64,
    waiting: Vec<sse::Event>,
    over: bool,
}

impl Watcher {
    /// What happened since the last look, oldest last.
    fn look(&mut self) {
        let ended = matches!(self.job.state(), State::Ended(_));
        for (number, event) in self.job.events(self.next) {
            self.next = number + 1;
            if let Some(value) = shown(&event) {
                self.waiting.push(sse::Event::default().id(number.to_string()).data(value.to_string()));
            }
        }
        if ended && !self.over {
            self.over = true;
            self.waiting.push(sse::Event::default().event("over").data("{}"));
        }
        self.waiting.reverse();
    }
}

/// Events of a job from this number on, those that come included, until it has ended.
pub(crate) fn events(job: Arc<Job>, from: u64) -> Sse<impl Stream<Item = Result<sse::Event, Infallible>>> {
    let mut news = job.watch();
    // A look is due, whatever was seen before.
    news.mark_changed();
    let watcher = Watcher { job, next: from, waiting: Vec::new(), over: false };
    let all = stream::unfold((watcher, news), |(mut watcher, mut news)| async move {
        loop {
            if let Some(event) = watcher.waiting.pop() {
                return Some((Ok(event), (watcher, news)));
            }
            if watcher.over {
                return None;
            }
            // The job itself holds the sender.
            news.changed().await.ok()?;
            sleep(PAUSE).await;
            news.mark_unchanged();
            watcher.look();
        }
    });
    Sse::new(all).keep_alive(KeepAlive::new().interval(ALIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_words_before_they_leave() {
        let event = |event| Event { at: String::new(), elapsed_ns: 0, event };
        let sample = EventKind::Sample {
            workload: "a".to_owned(),
            interval_ns: 1,
            iops: 1620.4,
            bytes_per_second: 22.9e6,
            p99_ns: None,
            temperature_celsius: None,
            left_ns: 500_000_000,
        };
        let value = shown(&event(sample)).unwrap();
        assert_eq!(
            (&value["rate"], &value["p99"], &value["left"]),
            (&json!("22.9 MB/s"), &json!("–"), &json!("almost done"))
        );
        assert_eq!(value["temperature"], Value::Null);
        let progress = EventKind::Progress { done_bytes: 5, total_bytes: 0, bytes_per_second: 0.0 };
        assert_eq!(shown(&event(progress)).unwrap()["share"], json!(0.0), "nothing is divided by nothing");
    }
}
