//! Priorities of a workload of a suite.

use super::check::{Refuse, SuiteError};
use super::file::WorkloadFile;
use super::workload::SuiteWorkload;
use crate::priority::{Priorities, Priority};
use crate::workload::Op;

impl WorkloadFile {
    /// The priorities as they are written.
    ///
    /// # Errors
    /// What cannot be read.
    pub(super) fn priorities(&self, fail: &Refuse<'_>) -> Result<Priorities, SuiteError> {
        let job = self
            .priority
            .as_ref()
            .map(|text| Priority::parse(text.get_ref()).map_err(|why| fail(text.span().start, why)));
        let shares = self.priority_shares.as_ref().map(|text| {
            let wrong = |why: String| fail(text.span().start, format!("priority_shares: {why}"));
            Priorities::parse_shares(text.get_ref()).map_err(wrong)
        });
        Ok(Priorities { job: job.transpose()?, shares: shares.transpose()?.unwrap_or_default() })
    }
}

impl SuiteWorkload {
    /// Its priorities in the form in which loads that do the same are the same.
    ///
    /// # Errors
    /// One line, where shares of its operations cannot have priorities, are about operations that it does not make, or come
    /// to more than all.
    pub fn checked_priorities(&self) -> Result<Priorities, String> {
        let load = self.load();
        if !self.priorities.shares.is_empty() && self.sync.each() {
            // What is synced after each write is not queued.
            return Err("priority_shares is for workloads without a sync after each write".to_owned());
        }
        let sizes = |op| load.sizes_of(op);
        self.priorities.settled(self.op, &sizes(Op::Read), &sizes(Op::Write))
    }
}

#[cfg(test)]
mod tests {
    use crate::suite::Suite;

    const HEAD: &str = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\nspan = \"64MiB\"\n\
        [[workload]]\nname = \"w\"\npattern = \"random\"\nblock = \"4KiB\"\n";

    /// A load has its priorities in one form, in its title and in what it is.
    #[test]
    fn priorities_are_read_and_checked() {
        let with = |more: &str| Suite::parse(&format!("{HEAD}{more}"), "my.toml");
        let shares = |text: &str| with(&format!("op = \"read\"\npriority = \"idle\"\npriority_shares = \"{text}\"\n"));
        let suite = shares("20 % of reads realtime").unwrap();
        let load = suite.workloads[0].load();
        assert_eq!(load.title(), "random read 4 KiB, priority idle, 20 % realtime");
        assert!(!load.is_plain());
        assert_eq!(Suite::parse(&suite.to_text(), "my.toml").unwrap(), suite);
        for (text, words) in [
            ("20 % of writes realtime", "no such operations"),
            ("20 % of 8KiB idle", "no such operations"),
            ("60 % idle, 50 % realtime", "110 %"),
            ("20 idle", "must be like"),
        ] {
            let error = shares(text).unwrap_err();
            assert!(error.message.contains(words) && error.line == 14, "{text}: {error}");
        }
        let synced = |more: &str| with(&format!("op = \"write\"\nsync = \"fsync\"\n{more}"));
        assert!(synced("priority = \"idle\"\n").is_ok());
        assert!(synced("priority_shares = \"5 % idle\"\n").unwrap_err().message.contains("without a sync"));
        assert!(synced("priority = \"urgent\"\n").unwrap_err().message.contains("must be realtime"));
    }
}
