//! `assay import`

mod command;
mod intake;
mod kept;

pub(super) use command::import;
