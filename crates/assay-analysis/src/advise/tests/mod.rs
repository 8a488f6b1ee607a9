//! The arithmetic of advice, on published figures and by hand.

mod cache;
mod nas;
mod purchase;
