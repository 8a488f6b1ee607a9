//! Records in the forms of other tools, for people and programs that read those.

mod crystaldiskmark;
mod fio;
mod long;
mod openbenchmarking;
#[cfg(feature = "parquet")]
mod parquet;
mod prometheus;

pub(crate) use crystaldiskmark::crystaldiskmark;
pub(crate) use fio::{fio_files, fio_json};
pub(crate) use long::long_csv;
pub(crate) use openbenchmarking::openbenchmarking;
#[cfg(feature = "parquet")]
pub(crate) use parquet::parquet;
pub(crate) use prometheus::prometheus;
