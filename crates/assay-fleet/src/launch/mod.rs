//! How nodes are started: here, by ssh(1), by Slurm or by Ansible. Whether they did what they should is judged by their records, never by the
//! exit code of a launcher.

mod ansible;
mod heard;
mod launcher;
mod local;
mod process;
mod slurm;
mod ssh;
mod words;

pub use heard::NodeEnd;
pub use launcher::{Group, Launch, Launcher, Place};
pub use process::Launched;
pub use slurm::slurm_names;
pub(crate) use words::quoted;
