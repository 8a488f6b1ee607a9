//! Class thresholds met here, next to the classes that the medium claims.

use assay_core::classes::{CLASSES, highest_met, met};
use assay_core::finding::Verdict;
use assay_core::record::Record;

use crate::bus;
use crate::headline::Headline;

/// What can be said about classes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Judged {
    /// Whether there are figures to judge by.
    pub(crate) judged: bool,
    /// Highest class of each family whose thresholds are met by the low ends of the intervals.
    pub(crate) met: Vec<&'static str>,
    /// Met by the figures, but not by the low ends of their intervals.
    pub(crate) perhaps: Vec<&'static str>,
    /// Classes on the label, each with what the figures say about it.
    pub(crate) claimed: Vec<(String, Claim)>,
}

/// What the figures say about a claimed class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Its thresholds are met.
    Met,
    /// At least one threshold is missed.
    Missed,
    /// Its threshold is above what the bus lets through.
    BeyondBus,
    /// A figure it needs is missing, too uncertain or not trustworthy, or the class is unknown.
    Unknown,
}

/// Judges; nothing is met by an invalid record.
pub(crate) fn judge(record: &Record) -> Judged {
    let headline = Headline::of(record);
    let (low, point) = (headline.at_least(), headline.at_point());
    let trusted = record.validity.verdict != Verdict::Invalid;
    let met_low = if trusted { highest_met(&low) } else { Vec::new() };
    let perhaps = if trusted {
        highest_met(&point).into_iter().filter(|class| !met_low.contains(class)).collect()
    } else {
        Vec::new()
    };
    let claimed = record
        .medium
        .claimed_classes
        .iter()
        .map(|name| {
            let claim = CLASSES.iter().find(|c| c.name == name).map_or(Claim::Unknown, |class| {
                match (met(class, &low), met(class, &point)) {
                    _ if !trusted => Claim::Unknown,
                    (Some(true), _) => Claim::Met,
                    (_, Some(false)) => match bus::reachable(&record.medium) {
                        Some(reachable) if reachable < class.sequential_write => Claim::BeyondBus,
                        _ => Claim::Missed,
                    },
                    _ => Claim::Unknown,
                }
            });
            (name.clone(), claim)
        })
        .collect();
    Judged { judged: trusted && headline.sequential_write.is_some(), met: met_low, perhaps, claimed }
}

impl Judged {
    /// In words: `C10 U1 V10 A1 met here; claimed C10 U3 A1; beyond this bus: U3`.
    pub(crate) fn sentence(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.met.is_empty() {
            parts.push(format!("{} met here", self.met.join(" ")));
        } else if self.judged {
            parts.push("none met here".to_owned());
        }
        if !self.perhaps.is_empty() {
            parts.push(format!("{} within the uncertainty", self.perhaps.join(" ")));
        }
        if !self.claimed.is_empty() {
            parts.push(format!("claimed {}", self.names(|_| true)));
        }
        if !self.judged && self.claimed.iter().all(|(_, claim)| *claim == Claim::Unknown) {
            parts.extend((!self.claimed.is_empty()).then(|| "not judged here".to_owned()));
            return (!parts.is_empty()).then(|| parts.join("; "));
        }
        for (claim, words) in
            [(Claim::Missed, "not met"), (Claim::BeyondBus, "beyond this bus"), (Claim::Unknown, "cannot tell")]
        {
            let names = self.names(|c| c == claim);
            if !names.is_empty() {
                parts.push(format!("{words}: {names}"));
            }
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn names(&self, pick: impl Fn(Claim) -> bool) -> String {
        let names: Vec<&str> = self.claimed.iter().filter(|(_, c)| pick(*c)).map(|(n, _)| n.as_str()).collect();
        names.join(" ")
    }
}
