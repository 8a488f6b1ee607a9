//! A cluster on one machine: nodes that ssh reaches, each in its own namespaces.

mod machines;
mod node;
mod space;

pub use machines::{Cluster, ClusterPlan, Slurm, Volume};
pub use node::{Node, NodePlan};
pub use space::Space;
