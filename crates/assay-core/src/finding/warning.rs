//! A finding as a record holds it, and what all findings of a record amount to.

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::kind::{Finding, Severity};

/// A finding of a record, with its weight. Its sentences are made whenever it is shown or written. Those of a document are
/// read only if a newer version wrote them about a finding that this version does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "WarningDocument", into = "WarningDocument")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "WarningDocument"))]
pub struct Warning {
    /// What was found.
    pub finding: Finding,
    /// How much it weighs.
    pub severity: Severity,
    /// Cause and remedy of a finding that this version does not know.
    newer: Option<Box<(String, String)>>,
}

impl Warning {
    /// A finding of a document, with the weight that the document gives it. That weight counts only if a newer version found
    /// what this version does not know.
    #[must_use]
    pub fn read(finding: Finding, severity: Severity) -> Self {
        let severity = if finding == Finding::Unknown { severity } else { finding.severity() };
        Self { finding, severity, newer: None }
    }

    /// What it means for the number, in pieces that can be merged with those of the same finding elsewhere.
    #[must_use]
    pub fn pieces(&self) -> Cause {
        self.newer.as_ref().map_or_else(|| self.finding.pieces(), |newer| Cause::words(&newer.0))
    }

    /// What it means for the number: a sentence without a full stop.
    #[must_use]
    pub fn cause(&self) -> String {
        self.pieces().to_string()
    }

    /// What mends it; empty where nothing can.
    #[must_use]
    pub fn remedy(&self) -> &str {
        self.newer.as_ref().map_or_else(|| self.finding.remedy(), |newer| &newer.1)
    }
}

impl From<Finding> for Warning {
    fn from(finding: Finding) -> Self {
        Self { severity: finding.severity(), finding, newer: None }
    }
}

/// A finding with its weight and its sentences.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Warning"))]
struct WarningDocument {
    /// What was found.
    finding: Finding,
    /// How much it weighs.
    severity: Severity,
    /// What it means for the number.
    cause: String,
    /// What mends it; empty where nothing can.
    remedy: String,
}

impl From<Warning> for WarningDocument {
    fn from(warning: Warning) -> Self {
        let (cause, remedy) = (warning.cause(), warning.remedy().to_owned());
        Self { finding: warning.finding, severity: warning.severity, cause, remedy }
    }
}

impl From<WarningDocument> for Warning {
    fn from(document: WarningDocument) -> Self {
        let WarningDocument { finding, severity, cause, remedy } = document;
        let newer = (finding == Finding::Unknown).then(|| Box::new((cause, remedy)));
        Self { newer, ..Self::read(finding, severity) }
    }
}

/// What the warnings amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "Verdict2"))]
pub enum ValidityVerdict {
    /// Nothing speaks against the numbers.
    Valid,
    /// Something may have changed the numbers.
    Suspect,
    /// At least one number is not what it says.
    Invalid,
}

/// The verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Validity {
    /// The worst of all warnings.
    pub verdict: ValidityVerdict,
    /// Everything worse than a note, each once.
    pub reasons: Vec<Warning>,
}

impl Validity {
    /// Judges by the worst of `warnings`.
    pub fn judge<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Self {
        let mut verdict = ValidityVerdict::Valid;
        let mut reasons: Vec<Warning> = Vec::new();
        for warning in warnings {
            let weight = match warning.severity {
                Severity::Note => continue,
                Severity::Suspect => ValidityVerdict::Suspect,
                Severity::Invalid => ValidityVerdict::Invalid,
            };
            verdict = verdict.max(weight);
            if !reasons.contains(warning) {
                reasons.push(warning.clone());
            }
        }
        Self { verdict, reasons }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_warning_decides() {
        let warnings: Vec<Warning> = [Finding::BusLimited { share: 0.97 }, Finding::AnotherRun].map(Into::into).into();
        let validity = Validity::judge(warnings.iter());
        assert_eq!(validity.verdict, ValidityVerdict::Suspect);
        assert_eq!(validity.reasons.len(), 1);
        let bad: Warning = Finding::ServedFromCache { proof_ratio: 0.02 }.into();
        assert_eq!(Validity::judge(warnings.iter().chain([&bad])).verdict, ValidityVerdict::Invalid);
        assert!(bad.cause().contains("only 2.00 %"), "{}", bad.cause());
    }

    #[test]
    fn a_finding_of_a_newer_version_is_read() {
        let text = r#"{"kind":"cosmic_ray","bits":3}"#;
        assert_eq!(serde_json::from_str::<Finding>(text).unwrap(), Finding::Unknown);
        let text = r#"{"finding":{"kind":"cosmic_ray"},"severity":"suspect","cause":"a bit fell","remedy":"lead"}"#;
        let warning = serde_json::from_str::<Warning>(text).unwrap();
        assert_eq!(
            (warning.cause().as_str(), warning.remedy(), warning.severity),
            ("a bit fell", "lead", Severity::Suspect)
        );
    }

    #[test]
    fn sentences_of_a_document_are_not_read() {
        let text = r#"{"finding":{"kind":"another_run"},"severity":"note","cause":"<b>","remedy":"<i>"}"#;
        let warning = serde_json::from_str::<Warning>(text).unwrap();
        // Neither is its weight.
        assert_eq!(warning, Finding::AnotherRun.into());
        let written = serde_json::to_value(&warning).unwrap();
        assert_eq!(written["cause"], Finding::AnotherRun.cause());
    }
}
