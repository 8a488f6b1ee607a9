//! Changes of a medium over many nights: steps, slow changes, missed nights and moved counters, with a known rate of false
//! alarms. No I/O, no clock, no sentences: a night goes in, typed events come out. `docs/watch.md` has the method.

mod event;
mod kept;
mod medium;
mod night;
mod noise;
mod series;
mod status;
mod step;
mod trend;
mod watch;

pub use event::{Change, Event, Manner, Moved, What};
pub use kept::{ASSUMED_CYCLES, DAY, KEPT_VERSION, Kept, Measured, Plan, Skip, Skipped};
pub use night::{
    Condition, Conditions, Counter, Course, FILL_LABEL, FIRST, Figure, Kind, Night, RUN_LABEL, SECOND, WATCH_LABEL,
    counters, courses, night_of,
};
pub use series::Level;
pub use status::{Status, StatusEvent, metrics};
pub use trend::Trend;
pub use watch::{Taken, Watch};
