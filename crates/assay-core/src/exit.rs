//! Exit codes of the command, documented in `docs/exit-codes.md` and in the help.

/// How the command ended, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Done, and the answer is good.
    Good = 0,
    /// Done, and the answer is no: fake, class not met, result invalid.
    No = 1,
    /// Usage or bad input.
    Usage = 2,
    /// The medium failed while it was used.
    Medium = 3,
    /// The environment failed: permission, missing tool, unreachable store, no space.
    Environment = 4,
    /// Done, and the medium is damaged: it loses data, but not in the way of a fake.
    Damaged = 5,
    /// The check could not tell; it says why, and which command can.
    CannotTell = 6,
    /// A comparison exceeds a limit that was set with `--fail-if`.
    Limit = 7,
    /// Done so far, and a person has something to do before the rest.
    Waiting = 8,
    /// Interrupted by a signal.
    Interrupted = 130,
}

impl Exit {
    /// All of them, by their codes.
    pub const ALL: [Self; 10] = [
        Self::Good,
        Self::No,
        Self::Usage,
        Self::Medium,
        Self::Environment,
        Self::Damaged,
        Self::CannotTell,
        Self::Limit,
        Self::Waiting,
        Self::Interrupted,
    ];

    /// Its name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::No => "no",
            Self::Usage => "usage",
            Self::Medium => "medium",
            Self::Environment => "environment",
            Self::Damaged => "damaged",
            Self::CannotTell => "cannot_tell",
            Self::Limit => "limit",
            Self::Waiting => "waiting",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
