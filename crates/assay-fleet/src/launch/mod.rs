//! How nodes are started: here, by ssh(1), by Slurm or by Ansible. Whether they did what they should is judged by their records, never by the
//! exit code of a launcher.

mod ansible;
mod heard;
mod launcher;
mod local;
mod process;
mod slurm;
mod ssh;
mod what;
mod words;

pub use heard::NodeEnd;
pub use launcher::Launcher;
pub use process::Launched;
pub use slurm::slurm_names;
pub use what::{Group, Launch, Place};
pub(crate) use words::quoted;
