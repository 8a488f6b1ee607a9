//! The tools whose measurements suites repeat.

use serde::Deserialize;

/// A tool that can run a workload in place of assay: `original = "hdparm"` in a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Original {
    /// fio, with equal options.
    Fio,
    /// hdparm `-t`, with `--direct` where the workload is direct.
    Hdparm,
    /// GNU dd: writes zeros with `conv=fsync`, or reads the test file.
    Dd,
    /// iozone `-e`, with `-I` where the workload is direct.
    Iozone,
    /// ioping `-R`, with `-D` where the workload is direct.
    Ioping,
    /// f3write and f3read: files of 1 GiB through the page cache, which is emptied behind them.
    F3,
    /// bonnie++ `-f -n 0`, with `-D` where the workload is direct.
    #[serde(rename = "bonnie++")]
    Bonnie,
    /// sysbench cpu and memory, for programs.
    Sysbench,
    /// PostMark, for programs.
    Postmark,
}

impl Original {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Fio,
        Self::Hdparm,
        Self::Dd,
        Self::Iozone,
        Self::Ioping,
        Self::F3,
        Self::Bonnie,
        Self::Sysbench,
        Self::Postmark,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Hdparm => "hdparm",
            Self::Dd => "dd",
            Self::Iozone => "iozone",
            Self::Ioping => "ioping",
            Self::F3 => "f3",
            Self::Bonnie => "bonnie++",
            Self::Sysbench => "sysbench",
            Self::Postmark => "postmark",
        }
    }

    /// The Debian package that brings it, with the part of the archive where that is not main.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Hdparm => "hdparm",
            Self::Dd => "coreutils",
            Self::Iozone => "iozone3, of non-free",
            Self::Ioping | Self::F3 | Self::Bonnie | Self::Sysbench | Self::Postmark => self.name(),
        }
    }
}
