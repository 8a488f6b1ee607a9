//! Why there is nothing to rank at all.

/// Input that no answer can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RankError {
    /// No record.
    #[error("no record to rank; measure something first: assay run")]
    NoRecords,
    /// No record has a figure under any load.
    #[error("none of the {0} records has a figure to rank; assay show ID says why")]
    NoFigures(usize),
    /// No record says of which model it is.
    #[error("ranking needs models, and all {0} records lack one; add it with assay label QUERY model=…")]
    NoModels(usize),
    /// No load is the one asked for.
    #[error("{0}")]
    NoSuchLoad(#[from] crate::LoadError),
    /// The load has no such figure.
    #[error("no record has the metric `{metric}` under {load}; choose another --metric")]
    NoSuchMetric {
        /// Name of the metric.
        metric: &'static str,
        /// Title of the load.
        load: String,
    },
    /// An option is out of range.
    #[error("{0}")]
    Option(String),
}
