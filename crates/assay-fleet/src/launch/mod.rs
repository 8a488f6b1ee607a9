//! How nodes are started: here, by ssh(1), by Slurm or by Ansible. Their success is judged by their records, never by
//! the exit code of a launcher.

mod ansible;
mod launcher;
mod process;
mod request;
mod slurm;

pub use launcher::Launcher;
pub use process::{Launched, NodeEnd};
pub(crate) use process::{NO_SOCKET, end_words};
pub use request::{FarEnd, Launch, NodeGroup, NodePlace, Tunnel};
pub use slurm::slurm_names;
