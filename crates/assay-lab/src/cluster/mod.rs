//! A cluster on one machine: nodes that ssh reaches, each in its own namespaces.

mod machines;
mod node;
mod slurm;
mod space;
mod volume;

pub use machines::{Cluster, ClusterPlan};
pub use node::{Node, NodePlan};
pub use slurm::Slurm;
pub use space::Space;
pub use volume::Volume;
