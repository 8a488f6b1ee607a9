//! Records of nodes: what they have to be, and the one way into the store of this machine.

mod criteria;
mod home;

pub use criteria::{Asked, AskedSuite, Criteria, Guard, Nowhere, RecordClaim, RecordRefusal, Way};
pub(crate) use home::is_record_id;
pub use home::{Accepted, Home, adopt, is_misplaced, mark_misplaced};
