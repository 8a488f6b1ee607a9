//! A suite on a medium of known size.

use super::Suite;
use super::groups;
use super::room::{WHOLE, share};
use crate::units::Bytes;

impl Suite {
    /// Whether a size in it is a share of the medium.
    #[must_use]
    pub fn has_shares(&self) -> bool {
        self.span_percent.is_some()
            || self.workloads.iter().any(|w| w.span_percent.is_some() || w.offset_percent.is_some())
    }

    /// The suite on a medium with `whole` usable bytes: shares become bytes.
    ///
    /// # Errors
    /// What is wrong, where blocks of a workload do not fit into its share.
    pub fn settled(&self, whole: u64) -> Result<Self, String> {
        if !self.has_shares() {
            return Ok(self.clone());
        }
        let mut suite = self.clone();
        if let Some(percent) = suite.span_percent.take() {
            suite.span = Bytes(share(percent, whole));
            let ratio = whole as f64 / WHOLE.0 as f64;
            suite.max_write = Bytes((suite.max_write.0 as f64 * ratio) as u64);
        }
        for w in &mut suite.workloads {
            if let Some(percent) = w.offset_percent.take() {
                w.offset = Some(Bytes(share(percent, whole)));
            }
            if let Some(percent) = w.span_percent.take() {
                // What is behind the end of the medium is left out.
                let most = whole.saturating_sub(w.offset.map_or(0, |offset| offset.0));
                w.span = Some(Bytes(share(percent, whole).min(most)));
            }
            let end = w.span.map_or(0, |span| span.0).saturating_add(w.offset.map_or(0, |offset| offset.0));
            suite.span = suite.span.max(Bytes(end));
            let reach = w.span.unwrap_or(suite.span).0;
            if w.largest().saturating_mul(u64::from(w.jobs)) > reach {
                return Err(format!("workload `{}`: its share of {} has no room for its blocks", w.name, Bytes(whole)));
            }
        }
        if suite.span.0 > whole {
            return Err(format!("the suite uses {}, and {} can be used", suite.span, Bytes(whole)));
        }
        match groups::wrong(&suite.workloads, suite.span) {
            Some((_, why)) => Err(why),
            None => Ok(suite),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    const TEXT: &str = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"4096TiB\"\nrepeats = 1\n\
        span = \"100%\"\nlayout = \"none\"\n[[workload]]\nname = \"a\"\nop = \"read\"\npattern = \"random\"\n\
        block = \"4KiB\"\nspan = \"12.5%\"\noffset = \"50%\"\n";

    #[test]
    fn shares_are_of_the_medium_that_is_there() {
        let suite = Suite::parse(TEXT, "x.toml").unwrap();
        assert!(suite.has_shares() && suite.layout.keeps_size());
        assert_eq!(Suite::parse(&suite.to_text(), "y.toml").unwrap(), suite, "{}", suite.to_text());
        let settled = suite.settled(8 * GIB).unwrap();
        assert_eq!((settled.span, settled.max_write), (Bytes(8 * GIB), Bytes(32 * GIB)));
        let w = &settled.workloads[0];
        assert_eq!((w.span, w.offset), (Some(Bytes(GIB)), Some(Bytes(4 * GIB))));
        assert!(!settled.has_shares());
        let none = suite.settled(8192).unwrap_err();
        assert!(none.contains("no room for its blocks"), "{none}");
    }
}
