//! Consumers of the event stream.

mod lines;
mod live;
mod machine;
mod painter;
mod status;
mod watcher;

pub(crate) use lines::Lines;
pub(crate) use live::Live;
pub(crate) use machine::Machine;
pub(crate) use painter::Painter;
pub(crate) use status::Status;
pub(crate) use watcher::{Progress, Silent};
