//! Findings as they stand in a record, and what they amount to.

use serde::{Deserialize, Serialize};

use super::kind::{Finding, Severity};

/// A finding with its weight and its text, as stored and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// What was found.
    pub finding: Finding,
    /// How much it weighs.
    pub severity: Severity,
    /// What it means for the number.
    pub cause: String,
    /// What mends it; empty where nothing can.
    pub remedy: String,
}

impl From<Finding> for Warning {
    fn from(finding: Finding) -> Self {
        Self { severity: finding.severity(), cause: finding.cause(), remedy: finding.remedy().to_owned(), finding }
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
    /// Causes of everything worse than a note.
    pub reasons: Vec<String>,
}

impl Validity {
    /// Judges by the worst of `warnings`.
    pub fn judge<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Self {
        let mut verdict = ValidityVerdict::Valid;
        let mut reasons = Vec::new();
        for warning in warnings {
            let weight = match warning.severity {
                Severity::Note => continue,
                Severity::Suspect => ValidityVerdict::Suspect,
                Severity::Invalid => ValidityVerdict::Invalid,
            };
            verdict = verdict.max(weight);
            if !reasons.contains(&warning.cause) {
                reasons.push(warning.cause.clone());
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
        assert!(bad.cause.contains("only 2.00 %"), "{}", bad.cause);
    }

    #[test]
    fn a_finding_of_a_newer_version_is_read() {
        let text = r#"{"kind":"cosmic_ray","bits":3}"#;
        assert_eq!(serde_json::from_str::<Finding>(text).unwrap(), Finding::Unknown);
    }
}
