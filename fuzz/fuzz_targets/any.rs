//! Any target of `assay-fuzz`: the one that the variable `ASSAY_FUZZ_TARGET` names. One program, so that a
//! new target needs no file here and all of them are built once.
#![no_main]

use std::sync::OnceLock;

use assay_fuzz::{Target, find};
use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fuzz_target!(init: {
    let name = std::env::var("ASSAY_FUZZ_TARGET").unwrap_or_default();
    let target = find(&name).unwrap_or_else(|| panic!("ASSAY_FUZZ_TARGET={name} is no target"));
    TARGET.get_or_init(|| target);
}, |data: &[u8]| {
    if let Some(target) = TARGET.get() {
        target.check(data);
    }
});
