//! The committed JSON Schema is the one that the types give.

use std::path::Path;

#[test]
fn the_committed_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/record-v1.json");
    let current = format!("{:#}\n", assay_core::record::json_schema());
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == current, "{} is out of date; run `make schema` and look at the difference", path.display());
}
