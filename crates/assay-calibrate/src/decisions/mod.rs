//! What the commands say, by the functions that they call. Where those change, this changes and the rows do not.

mod advise;
mod compare;
mod interval;
mod plan;
mod rank;
mod stored;

pub use advise::{Cached, LocalOrNas, buy, cache, class_a1, nas};
pub use compare::{Compared, Word, compare, compare_models, compare_orders, compare_runs, compare_within};
pub use interval::{another_day, another_unit, today};
pub use plan::{Ended, Raced, blamed, race};
pub use rank::{Named, needed_to_name, odd, odd_under_any_load, orders, rank};
pub use stored::{save, stored};
