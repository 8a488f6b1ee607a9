//! Errors of all crates, with the line that people read and their exit code. Outcomes have theirs in `ending.rs`.

use assay_core::exit::Exit;
use assay_core::suite::SuiteError;
use assay_device::DeviceError;
use assay_fleet::FleetError;
use assay_runner::RunError;
use assay_store::StoreError;

/// Why the command ended without doing its work.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    exit: Exit,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Usage }
    }

    pub(crate) fn environment(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Environment }
    }

    pub(crate) fn interrupted(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Interrupted }
    }

    /// What is wrong, in one line.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Exit code of the program.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl From<std::io::Error> for Failure {
    /// Errors of standard output only; others are given their path where they arise.
    fn from(error: std::io::Error) -> Self {
        Self::environment(format!("standard output: {error}"))
    }
}

impl From<clap::Error> for Failure {
    /// What clap says in several lines, in one: the mistake, what would be right, no usage.
    fn from(error: clap::Error) -> Self {
        let text = error.to_string();
        let mut message = String::new();
        let parts = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
        for part in parts.filter(|line| !line.is_empty() && !line.starts_with("For more information")) {
            let part = part.strip_prefix("error: ").unwrap_or(part);
            match message.chars().last() {
                None => {}
                Some(':') => message.push(' '),
                Some(_) => message.push_str("; "),
            }
            message.push_str(part);
        }
        message.push_str("; see --help");
        Self::usage(message)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self { message: error.to_string(), exit: error.exit() }
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        RunError::from(error).into()
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        Self { message: error.to_string(), exit: error.exit() }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self { message: error.to_string(), exit: error.exit() }
    }
}

impl From<assay_report::RedactError> for Failure {
    fn from(error: assay_report::RedactError) -> Self {
        Self::environment(error.to_string())
    }
}

impl From<SuiteError> for Failure {
    fn from(error: SuiteError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<assay_verify::files::VerifyError> for Failure {
    fn from(error: assay_verify::files::VerifyError) -> Self {
        use assay_verify::files::VerifyError as E;
        let message = error.to_string();
        match error {
            E::System { .. }
            | E::Memory { .. }
            | E::NotDirectory(_)
            | E::Kept(_)
            | E::Unfinished(_)
            | E::Limit(_)
            | E::NothingToResume(_)
            | E::NothingToRead(_) => Self::usage(message),
            E::ReadOnly(_)
            | E::Permission(_)
            | E::Full { .. }
            | E::Busy(_)
            | E::Foreign(_)
            | E::NoState(_)
            | E::Elsewhere { .. }
            | E::Owned(_)
            | E::Io { .. } => Self::environment(message),
        }
    }
}

impl From<assay_verify::probe::JournalError> for Failure {
    /// A file that is no journal is a usage error.
    fn from(error: assay_verify::probe::JournalError) -> Self {
        use assay_verify::probe::JournalError as E;
        let message = error.to_string();
        match error {
            E::NotAJournal { .. } => Self::usage(message),
            _ => Self::environment(message),
        }
    }
}

impl From<assay_verify::probe::RestoreError> for Failure {
    /// The wrong device is a usage error.
    fn from(error: assay_verify::probe::RestoreError) -> Self {
        use assay_verify::probe::RestoreError as E;
        let message = error.to_string();
        match error {
            E::OtherSize { .. } | E::AnotherCard { .. } | E::Newer { .. } => Self::usage(message),
            E::Journal(error) => error.into(),
            E::Device { .. } | E::Exchanged { .. } => Self::environment(message),
        }
    }
}
