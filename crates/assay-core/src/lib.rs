//! The words assay speaks: units, workloads, suites, the record of a run and the events of
//! running it. Pure data: nothing here touches a device, a file or a clock.

pub mod arrivals;
pub mod blocks;
pub mod cluster;
pub mod cpus;
pub mod distribution;
pub mod draft;
pub mod endurance;
pub mod estimate;
pub mod event;
pub mod exit;
pub mod finding;
pub mod health;
pub mod histogram;
pub mod load_title;
pub mod medium;
pub mod observation;
pub mod origin;
pub mod original;
pub mod outcome;
pub mod priority;
pub mod private;
pub mod program;
pub mod record;
pub mod refined;
pub mod retention;
pub mod sensor;
pub mod shared;
pub mod soak;
pub mod suite;
pub mod text;
pub mod units;
pub mod verification;
pub mod workload;
