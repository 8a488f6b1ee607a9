//! Records of nodes: what they have to be, and the one way into the store of this machine.

mod adopt;
mod criteria;
mod home;
mod refusal;

pub use adopt::{adopt, is_misplaced, mark_misplaced};
pub use criteria::{Asked, AskedSuite, Claim, Criteria, Guard, Way};
pub(crate) use home::is_record_id;
pub use home::{Accepted, Home};
pub use refusal::{Nowhere, Refusal};
