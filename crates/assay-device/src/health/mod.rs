//! The state of a medium as the medium counts it: what is asked, how, and what the answers mean.

mod ask;
pub mod ata;
pub mod cmd56;
pub mod ext_csd;
pub mod nvme;
mod reader;

pub use ask::{Argument, Ask, Disk, Parsed, Question, Refusal};
pub use reader::HealthReader;
