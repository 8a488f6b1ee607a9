//! The pages of the documentation, and the command lines in them.

use std::path::{Path, PathBuf};

/// The pages that show command lines.
pub fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let single = [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "data/README.md",
        "examples/articles/README.md",
        "examples/articles/hpi-cluster/README.md",
        "examples/fleet/README.md",
        "fleet/ansible_collections/assay/fleet/README.md",
    ];
    let mut files: Vec<PathBuf> = single.iter().map(|file| root.join(file)).collect();
    for directory in ["docs", "docs/decisions", "docs/results"] {
        let entries = std::fs::read_dir(root.join(directory)).unwrap();
        files.extend(
            entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "md")),
        );
    }
    files.sort();
    files.into_iter().map(|file| (file.clone(), std::fs::read_to_string(&file).unwrap())).collect()
}

/// Lines of blocks of code: between fences, or indented by four. A line that ends in `\` goes on in the next one.
pub fn blocks(page: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            match lines.last_mut() {
                Some(last) if last.ends_with('\\') => {
                    last.pop();
                    last.push_str(line.trim());
                }
                _ => lines.push(line.to_owned()),
            }
        }
    }
    lines
}
