//! Sections of a report, one heading for each direction. A copy of the text may lack one of the headings.

use assay_core::workload::Op;

use crate::report::Load;

/// The sections of a report as far as they were read.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    current: Option<Op>,
    headed: Vec<Op>,
    rows: Vec<Load>,
    /// Whether the heading of the rows that are read is lost.
    lost: bool,
    lost_once: bool,
}

impl Sections {
    /// Begins the section of a direction.
    pub(crate) fn begin(&mut self, op: Op) {
        self.current = Some(op);
        self.headed.push(op);
        self.rows.clear();
        self.lost = false;
    }

    /// The direction of the rows that are read.
    pub(crate) fn op(&self) -> Option<Op> {
        self.current
    }

    /// Whether a row belongs to the section. A row that repeats belongs to another section that lost its heading, and so do all rows
    /// after it.
    pub(crate) fn holds(&mut self, load: &Load) -> bool {
        self.lost |= self.rows.contains(load);
        self.lost_once |= self.lost;
        self.rows.push(load.clone());
        !self.lost
    }

    /// What is missing, where reads and writes should both have a heading.
    pub(crate) fn missing(&self) -> Option<String> {
        let has = |op| self.headed.contains(&op);
        let heading = match (has(Op::Read), has(Op::Write)) {
            _ if self.headed.is_empty() => return None,
            (true, false) => "[Write]",
            (false, true) => "[Read]",
            _ if self.lost_once => "a section",
            _ => return None,
        };
        Some(format!("the heading of {heading}"))
    }
}
