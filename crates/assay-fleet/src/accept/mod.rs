//! Records of nodes: what they have to be, and the one way into the store of this machine.

mod adopt;
mod asked;
mod criteria;
mod home;
mod misplaced;
mod refusal;

pub use adopt::adopt;
pub use asked::{Asked, AskedSuite};
pub use criteria::{Claim, Criteria, Guard, Way};
pub(crate) use home::is_record_id;
pub use home::{Accepted, Home};
pub use misplaced::{is_misplaced, mark_misplaced};
pub use refusal::{Nowhere, Refusal};
