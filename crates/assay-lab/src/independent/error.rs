//! How operations of a medium fail.

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The medium reports an error at this place (EIO).
    Medium,
    /// There is no medium (ENODEV, ENXIO).
    Gone,
    /// It is read-only (EROFS, EPERM).
    ReadOnly,
    /// The medium did not answer within the timeout of a host.
    Hung,
    /// The operation is beyond the end, or not of whole blocks: a bug of the program.
    Bounds,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Self::Medium => "input/output error",
            Self::Gone => "no such device",
            Self::ReadOnly => "read-only",
            Self::Hung => "no answer",
            Self::Bounds => "beyond the end, or not whole blocks",
        })
    }
}

impl std::error::Error for Error {}
