//! Runs that are turns of an experiment plan: between two of them a person moves units from slot to slot.

mod media;
mod progress;

pub use progress::{RotationProgress, check_plan_words, places_of, turn_of};
