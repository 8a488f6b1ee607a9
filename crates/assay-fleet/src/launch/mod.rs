//! How nodes are started: here, by ssh(1), by Slurm or by Ansible. Their success is judged by their records, never by
//! the exit code of a launcher.

mod ansible;
mod launcher;
mod launcher_output;
mod local;
mod process;
mod slurm;
mod ssh;
mod what;
mod words;

pub use launcher::Launcher;
pub use launcher_output::NodeEnd;
pub use process::Launched;
pub use slurm::slurm_names;
pub use what::{FarEnd, Group, Launch, Place, Tunnel};
