//! Fleets of media that were never made: what is true of them is chosen, who is measured where and when is chosen, and
//! the records are those that measuring would have left. What judges records is judged by these: it cannot know the
//! truth, and it is known here.

mod at_once;
mod design;
mod effects;
mod load;
mod records;
mod truth;

pub use at_once::{at_once, slowed};
pub use design::{Design, Repeats, Run};
pub use load::Load;
pub use records::Fleet;
pub use truth::{Ceiling, Model, Part, Spread, Truth, Units};
