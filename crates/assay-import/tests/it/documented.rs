//! The page about formats is that of this version.

use std::path::Path;

#[test]
fn the_page_has_a_row_for_each_format() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/import.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("## Formats").unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let mut documented: Vec<&str> = rows.iter().map(|row| row.split('|').nth(1).unwrap().trim()).collect();
    let mut names = assay_import::names();
    documented.sort_unstable();
    names.sort_unstable();
    assert_eq!(documented, names);
    assert!(rows.iter().all(|row| row.matches('|').count() == 5), "four cells in each row");
}
