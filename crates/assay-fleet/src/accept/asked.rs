//! What nodes were asked to measure.

use assay_core::record::{Record, SuiteRef, Tool};

use super::refusal::Refusal;

/// What nodes were asked to measure, as far as it is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Version of the program.
    pub version: String,
    /// The suite; none where this machine does not have its text.
    pub suite: Option<AskedSuite>,
}

/// A suite whose text this machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedSuite {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// As it is to be in records; none where variables of an inventory may change it for a node.
    pub text: Option<String>,
}

impl Asked {
    /// Refuses a record of something else: of another program, or by another suite.
    ///
    /// # Errors
    /// [`Refusal::Imported`], [`Refusal::OtherProgram`], [`Refusal::OtherSuite`] or [`Refusal::ChangedSuite`].
    pub fn check(&self, record: &Record) -> Result<(), Refusal> {
        let Tool { name, version, .. } = &record.tool;
        if record.is_printed() {
            return Err(Refusal::Imported { asked: self.version.clone() });
        }
        if name != "assay" || *version != self.version {
            let (name, version) = (name.clone(), version.clone());
            return Err(Refusal::OtherProgram { name, version, asked: self.version.clone() });
        }
        let Some(asked) = &self.suite else { return Ok(()) };
        let SuiteRef { name, version } = &record.suite;
        if (name, *version) != (&asked.name, asked.version) {
            let (name, version) = (name.clone(), *version);
            return Err(Refusal::OtherSuite { name, version, asked: asked.name.clone(), asked_version: asked.version });
        }
        if asked.text.as_ref().is_some_and(|text| *text != record.settings.suite_text) {
            return Err(Refusal::ChangedSuite { name: name.clone() });
        }
        Ok(())
    }
}
