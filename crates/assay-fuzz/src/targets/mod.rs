//! The targets, one module each: `run` makes the claims, `seeds` gives inputs to begin with.

pub(crate) mod descriptors;
pub(crate) mod document;
pub(crate) mod fio_output;
pub(crate) mod fleet;
pub(crate) mod histogram;
pub(crate) mod import;
pub(crate) mod job_file;
pub(crate) mod journal;
pub(crate) mod klog;
pub(crate) mod left;
pub(crate) mod plan;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod sensor;
pub(crate) mod signature;
pub(crate) mod spool;
pub(crate) mod store;
pub(crate) mod suite;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod units;
pub(crate) mod words;
