//! Why no ranking is possible.

/// Input that allows no ranking.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RankError {
    /// No record.
    #[error("no record to rank; measure something first: assay run")]
    NoRecords,
    /// No record has a figure under any load.
    #[error("none of the {0} records has a figure to rank; assay show ID says why")]
    NoFigures(usize),
    /// No record names its model.
    #[error("ranking needs models, and all {0} records lack one; add it with assay label QUERY model=…")]
    NoModels(usize),
    /// No load matches the requested one.
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
