//! A suite as text.

use std::fmt::Write as _;

use super::room::{Extent, LayoutRule};
use super::{Suite, SuiteWorkload};
use crate::priority::shares_text;
use crate::program::SuiteProgram;
use crate::suite::Analysis;
use crate::text::toml;
use crate::units::{exact_bytes, exact_duration};
use crate::workload::{Op, Pattern, Sync};

impl Suite {
    /// The suite as a file that [`Suite::parse`] reads to the same suite. Durations are kept to the microsecond.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "name = {}\nversion = {}\npurpose = {}\nbudget = \"{}\"\nmax_write = \"{}\"\nrepeats = {}\nspan = \"{}\"\n",
            toml(&self.name),
            self.version,
            toml(&self.purpose),
            exact_duration(self.budget),
            exact_bytes(self.max_write.0),
            self.repeats,
            Extent::of(self.span, self.span_percent),
        );
        if self.layout != LayoutRule::default() {
            let _ = writeln!(text, "layout = \"{}\"", self.layout.name());
        }
        if let Some(enough) = self.enough {
            let _ = writeln!(text, "enough = \"{enough}\"");
        }
        self.workloads.iter().for_each(|w| write_workload(w, &mut text));
        text.extend(self.programs.iter().map(SuiteProgram::to_text));
        text
    }
}

fn write_workload(w: &SuiteWorkload, text: &mut String) {
    let op = match w.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Mixed => "mixed",
    };
    let pattern = match w.pattern {
        Pattern::Sequential => "sequential",
        Pattern::Random => "random",
    };
    let sync = match w.sync {
        Sync::End => "end",
        Sync::Fdatasync => "fdatasync",
        Sync::Fsync => "fsync",
    };
    let sizes = match w.blocks.is_empty() {
        true => format!("block = \"{}\"", exact_bytes(w.block.0)),
        false => format!("blocks = \"{}\"", w.blocks),
    };
    let _ = write!(
        text,
        "\n[[workload]]\nname = {}\nop = \"{op}\"\npattern = \"{pattern}\"\n{sizes}\nqueue_depth = {}\njobs = {}\n\
         sync = \"{sync}\"\ndirect = {}\n",
        toml(&w.name),
        w.queue_depth,
        w.jobs,
        w.direct,
    );
    let mut line = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = {value}");
        }
    };
    let string = |text: String| format!("\"{text}\"");
    line("read_percent", w.read_percent.map(|percent| percent.to_string()));
    line("rate", w.rate.as_ref().map(|rate| toml(&rate.to_string())));
    line("arrivals", w.rate.as_ref().map(|_| string(w.process.name().to_owned())));
    line("distribution", (!w.distribution.is_uniform()).then(|| string(w.distribution.to_string())));
    line("think", w.think.map(|think| string(format!("{}us", think.pause_ns / 1000))));
    line("think_after", w.think.map(|think| think.after_operations.to_string()));
    write_refined(w, &mut line);
    line("priority", w.priorities.job.map(|job| string(job.to_string())));
    let shares = &w.priorities.shares;
    line("priority_shares", (!shares.is_empty()).then(|| string(shares_text(shares))));
    line("cpus", (!w.cpus.is_empty()).then(|| string(w.cpus.to_string())));
    line("poll", w.poll.then(|| "true".to_owned()));
    line("group", w.group.as_ref().map(|group| string(group.clone())));
    line("duration", w.duration.map(|duration| string(exact_duration(duration))));
    line("span", w.span.map(|span| string(Extent::of(span, w.span_percent).to_string())));
    line("offset", w.offset.map(|offset| string(Extent::of(offset, w.offset_percent).to_string())));
    line("analysis", (w.analysis == Analysis::Soak).then(|| string("soak".to_owned())));
    line("original", w.original.map(|original| string(original.name().to_owned())));
}

fn write_refined(w: &SuiteWorkload, line: &mut impl FnMut(&str, Option<String>)) {
    let string = |text: String| format!("\"{text}\"");
    let r = &w.refined;
    let sizes = if r.writes.shares().len() == 1 { "write_block" } else { "write_blocks" };
    line(sizes, (!r.writes.is_empty()).then(|| string(r.writes.to_string())));
    line("align", r.align_bytes.map(|bytes| string(exact_bytes(bytes))));
    line("stride", r.stride.map(|stride| string(stride.to_string())));
    line("files", (r.files > 1).then(|| r.files.to_string()));
    line("shared", r.shared.then(|| "true".to_owned()));
    line("apart", r.apart.then(|| "true".to_owned()));
    line("sync_every", (r.sync_every > 1).then(|| r.sync_every.to_string()));
    line("duplicate_percent", (r.duplicate_percent > 0).then(|| r.duplicate_percent.to_string()));
    line("zero_percent", (r.zero_percent > 0).then(|| r.zero_percent.to_string()));
    line("flow", r.flow.map(|flow| flow.weight.to_string()));
    let pause = r.flow.filter(|flow| flow.pause_ns > 0);
    line("flow_pause", pause.map(|flow| string(format!("{}us", flow.pause_ns / 1000))));
}
