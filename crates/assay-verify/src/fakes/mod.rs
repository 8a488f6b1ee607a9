//! Media that lie or fail, as models over the device contract ([`crate::probe::Device`]): they
//! stand behind the tests of every check, and behind `assay`'s claims about what it finds.
//!
//! A model is a stack: sparse memory ([`Memory`]), the lie ([`Fake`]), damage ([`Damaged`]), caches
//! that hide losses ([`CacheOfRandom`], [`CacheOfSequence`]), and for tests a counter
//! ([`Counting`]) and a plug that is pulled ([`Dying`]). [`Model`] describes a whole stack and what
//! a check has to say about it.

mod cache;
mod counting;
mod damaged;
mod dying;
mod fake;
mod memory;
mod model;

pub use cache::{CacheOfRandom, CacheOfSequence};
pub use counting::Counting;
pub use damaged::{Damage, Damaged};
pub use dying::Dying;
pub use fake::{Fake, Geometry, GeometryError, Order};
pub use memory::Memory;
pub use model::{Expected, Model, Stack};
