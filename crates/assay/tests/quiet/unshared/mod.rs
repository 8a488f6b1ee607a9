//! Tests that any load would disturb: each has the lab to itself. Their names come after those of the tests that share
//! the lab, so that they wait for all of these once, and not for one after the other.

mod accuracy;
mod host;
mod originals;
