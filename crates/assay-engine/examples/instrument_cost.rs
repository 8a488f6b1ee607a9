//! Prints what one operation costs the instrument itself on this host: the null engine with
//! histogram and sampling on.
#![allow(clippy::print_stdout)]

use std::time::Duration;

fn main() {
    for _ in 0..5 {
        println!("{:.1} ns per operation", assay_engine::null_cost(Duration::from_secs(1)).ns_per_operation);
    }
}
