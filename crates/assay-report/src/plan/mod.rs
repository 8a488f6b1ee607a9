//! Plans, their status, the race and the swap test for people.

mod layout;
mod outlook;
mod race;
mod show;
mod status;
mod swap;

pub use outlook::outlook;
pub use race::race;
pub use show::show;
pub use status::status;
pub use swap::swap;
