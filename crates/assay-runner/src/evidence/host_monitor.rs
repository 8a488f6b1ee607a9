//! Looks at the host before and after each repeat.

use std::cell::RefCell;

use assay_core::finding::Finding;
use assay_core::record::Measurement;
use assay_device::{HostState, KernelLog, Sysroot, TargetInfo, swaps_on};

use super::host;

/// What the host was like before a repeat.
#[derive(Debug)]
pub(crate) struct Mark(HostState);

/// Looks at the host and at the kernel log.
#[derive(Debug)]
pub(crate) struct HostMonitor {
    sysroot: Sysroot,
    log: RefCell<KernelLog>,
    /// What the kernel said while nothing was measured.
    between: RefCell<Vec<String>>,
    swaps_here: bool,
}

impl HostMonitor {
    /// Begins to listen to the kernel.
    pub(crate) fn new(sysroot: &Sysroot, seen: &TargetInfo) -> Self {
        let mut devices: Vec<String> = seen.medium.stack.iter().map(|node| node.name.clone()).collect();
        devices.extend(seen.leaves.iter().cloned());
        Self {
            sysroot: sysroot.clone(),
            log: RefCell::new(KernelLog::follow(sysroot, &devices)),
            between: RefCell::default(),
            swaps_here: swaps_on(sysroot, &seen.leaves),
        }
    }

    /// What is known before the first repeat.
    pub(crate) fn at_start(&self) -> Option<Finding> {
        host::in_the_past(&HostState::read(&self.sysroot).throttle)
    }

    /// Before a repeat.
    pub(crate) fn before(&self) -> Mark {
        self.between.borrow_mut().extend(self.log.borrow_mut().trouble());
        Mark(HostState::read(&self.sysroot))
    }

    /// After it: what happened meanwhile.
    pub(crate) fn after(&self, mark: &Mark) -> Vec<Finding> {
        let mut findings = host::between(&mark.0, &HostState::read(&self.sysroot), self.swaps_here);
        findings.extend(errors(&self.log.borrow_mut().trouble()));
        findings
    }

    /// At the end of the run: what the kernel said outside of repeats.
    pub(crate) fn at_end(&self) -> Option<Finding> {
        let mut lines = self.between.take();
        lines.extend(self.log.borrow_mut().trouble());
        errors(&lines)
    }
}

fn errors(lines: &[String]) -> Option<Finding> {
    let first = lines.first()?.clone();
    Some(Finding::KernelErrors { lines: lines.len() as u64, first })
}

/// Adds what one repeat brought to what earlier ones did: of each kind one finding, the gravest.
pub(crate) fn keep(measurement: &mut Measurement, findings: Vec<Finding>) {
    for fresh in findings {
        let alike = |known: &Finding| std::mem::discriminant(known) == std::mem::discriminant(&fresh);
        let merged = match measurement.warnings.iter().map(|w| &w.finding).find(|known| alike(known)) {
            Some(known) => merge(known, &fresh),
            None => fresh.clone(),
        };
        measurement.warnings.retain(|w| !alike(&w.finding));
        measurement.warn(merged);
    }
}

fn merge(known: &Finding, fresh: &Finding) -> Finding {
    match (known, fresh) {
        (Finding::LoadOfOthers { share, .. }, Finding::LoadOfOthers { share: other, .. }) if other <= share => {
            known.clone()
        }
        (Finding::KernelErrors { lines, first }, Finding::KernelErrors { lines: more, .. }) => {
            Finding::KernelErrors { lines: lines + more, first: first.clone() }
        }
        (Finding::Suspended { suspended_ns }, Finding::Suspended { suspended_ns: more }) => {
            Finding::Suspended { suspended_ns: suspended_ns + more }
        }
        (Finding::Swapped { pages }, Finding::Swapped { pages: more }) => Finding::Swapped { pages: pages + more },
        _ => fresh.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::shape::tests::measurement;

    #[test]
    fn of_each_kind_the_gravest_is_kept() {
        let mut m = measurement(&[]);
        let load = |share: f64| Finding::LoadOfOthers { share, most: "make".into() };
        let error = |first: &str| Finding::KernelErrors { lines: 2, first: first.into() };
        keep(&mut m, vec![load(0.5), error("one")]);
        let suspended = |seconds: u64| Finding::Suspended { suspended_ns: seconds * 1_000_000_000 };
        keep(&mut m, vec![load(0.3), suspended(2)]);
        keep(&mut m, vec![suspended(3)]);
        keep(&mut m, vec![load(0.9), error("two"), Finding::Swapped { pages: 3 }]);
        let findings: Vec<Finding> = m.warnings.iter().map(|w| w.finding.clone()).collect();
        let errors = Finding::KernelErrors { lines: 4, first: "one".into() };
        assert_eq!(findings, [suspended(5), load(0.9), errors, Finding::Swapped { pages: 3 }]);
    }

    #[test]
    fn no_line_is_no_error() {
        assert_eq!(errors(&[]), None);
    }
}
