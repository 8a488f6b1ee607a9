//! How a run or a repeat ended. Failure is data.

use serde::{Deserialize, Serialize};

/// Why a medium or a run did not finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "Failure"))]
pub enum RunFailure {
    /// No completion for longer than the medium could explain.
    Hung,
    /// The medium or its file system turned read-only.
    ReadOnly,
    /// The medium reported an I/O error.
    IoError,
    /// The medium is gone.
    Disappeared,
    /// No space left.
    OutOfSpace,
    /// Stopped by the user or a signal.
    Interrupted,
    /// The process was stopped (SIGSTOP, Ctrl-Z) and continued meanwhile; of a repeat only.
    Suspended,
    /// The process or host died; found and closed by a later run.
    Abandoned,
    /// The host lacked what the run needs: a thread, memory, a program. It says nothing of the medium.
    Host,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

impl RunFailure {
    /// The failure as people say it, after "did not finish:".
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Hung => "hung",
            Self::ReadOnly => "turned read-only",
            Self::IoError => "I/O error",
            Self::Disappeared => "disappeared",
            Self::OutOfSpace => "out of space",
            Self::Interrupted => "interrupted",
            Self::Suspended => "the process was stopped meanwhile",
            Self::Abandoned => "the run was killed or the host went down",
            Self::Host => "the host could not go on",
            Self::Other => "failed",
        }
    }

    /// The failure that an error number of this operating system stands for.
    #[must_use]
    pub fn from_errno(errno: i32) -> Self {
        match std::env::consts::OS {
            "windows" => Self::from_win32(errno),
            _ => Self::from_linux(errno),
        }
    }

    /// errno(3).
    fn from_linux(errno: i32) -> Self {
        match errno {
            30 => Self::ReadOnly,              // EROFS
            28 | 122 => Self::OutOfSpace,      // ENOSPC, EDQUOT
            19 | 6 | 123 => Self::Disappeared, // ENODEV, ENXIO, ENOMEDIUM
            110 => Self::Hung,                 // ETIMEDOUT
            _ => Self::IoError,
        }
    }

    /// "System Error Codes" of the Windows API, winerror.h.
    fn from_win32(number: i32) -> Self {
        match number {
            19 => Self::ReadOnly, // ERROR_WRITE_PROTECT
            // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED
            39 | 112 | 1295 => Self::OutOfSpace,
            // ERROR_BAD_UNIT, ERROR_NOT_READY, ERROR_WRONG_DISK, ERROR_DEV_NOT_EXIST, ERROR_NO_SUCH_DEVICE,
            // ERROR_FILE_INVALID, ERROR_MEDIA_CHANGED, ERROR_NO_MEDIA_IN_DRIVE, ERROR_DEVICE_NOT_CONNECTED,
            // ERROR_DEVICE_REMOVED
            20 | 21 | 34 | 55 | 433 | 1006 | 1110 | 1112 | 1167 | 1617 => Self::Disappeared,
            121 | 1460 => Self::Hung, // ERROR_SEM_TIMEOUT, ERROR_TIMEOUT
            _ => Self::IoError,
        }
    }
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Outcome {
    /// Everything that was planned was done.
    Completed,
    /// Still under way; found in a stored record, it means that the run was killed.
    Running,
    /// It did not finish.
    Failed {
        /// Why.
        failure: RunFailure,
        /// The system's or medium's own words.
        detail: String,
        /// Name of the workload under way; null outside of one.
        workload: Option<String>,
        /// Time since the start of the run in nanoseconds.
        elapsed_ns: u64,
        /// Bytes written by the run until then.
        written_bytes: u64,
    },
}

impl Outcome {
    /// Whether the medium itself failed (not the user, the space or the host).
    #[must_use]
    pub fn medium_failed(&self) -> bool {
        matches!(
            self,
            Self::Failed {
                failure: RunFailure::Hung
                    | RunFailure::ReadOnly
                    | RunFailure::IoError
                    | RunFailure::Disappeared
                    | RunFailure::Other,
                ..
            }
        )
    }

    /// One line: `completed`, or `did not finish: read-only after 38 min 5 s, 41.0 GiB written`.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Completed => "completed".to_owned(),
            Self::Running => "still running, or killed".to_owned(),
            Self::Failed { failure, detail, workload, elapsed_ns, written_bytes } => {
                let mut text = format!(
                    "did not finish: {} after {}, {} written",
                    failure.title(),
                    crate::units::span(std::time::Duration::from_nanos(*elapsed_ns)),
                    crate::units::Bytes(*written_bytes)
                );
                if let Some(name) = workload {
                    text.push_str(&format!(", during {name}"));
                }
                if !detail.is_empty() {
                    text.push_str(&format!(" ({detail})"));
                }
                text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_errors_are_those_of_the_system() {
        for (number, linux, windows) in [
            (5, RunFailure::IoError, RunFailure::IoError),
            (19, RunFailure::Disappeared, RunFailure::ReadOnly),
            (28, RunFailure::OutOfSpace, RunFailure::IoError),
            (30, RunFailure::ReadOnly, RunFailure::IoError),
            (110, RunFailure::Hung, RunFailure::IoError),
            (112, RunFailure::IoError, RunFailure::OutOfSpace),
            (122, RunFailure::OutOfSpace, RunFailure::IoError),
            (1167, RunFailure::IoError, RunFailure::Disappeared),
        ] {
            assert_eq!(RunFailure::from_linux(number), linux, "{number}");
            assert_eq!(RunFailure::from_win32(number), windows, "{number}");
        }
    }

    #[test]
    fn a_failure_is_told_with_the_systems_words_where_there_are_any() {
        let failed = |detail: &str| Outcome::Failed {
            failure: RunFailure::IoError,
            detail: detail.to_owned(),
            workload: Some("w".to_owned()),
            elapsed_ns: 5_000_000_000,
            written_bytes: 0,
        };
        assert!(failed("EIO").sentence().ends_with(", during w (EIO)"), "{}", failed("EIO").sentence());
        assert!(failed("").sentence().ends_with(", during w"), "{}", failed("").sentence());
    }
}
