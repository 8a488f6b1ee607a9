//! The state of a medium as the medium counts it: what is asked, how, and what the answers mean.

mod answer;
pub mod ata;
pub mod cmd56;
pub mod ext_csd;
pub mod nvme;
mod question;
mod reader;
mod sysfs;

pub use answer::{Parsed, Refusal};
pub use question::{Ask, Disk, Question};
pub use reader::HealthReader;
