//! A store on a disk, and what the program answers about it.

use std::path::PathBuf;
use std::process::Command;

use assay_lab::people::Store;
use serde_json::Value;

/// The program: the one of this build, or the one that `ASSAY_CAMPAIGN_PROGRAM` names, such as that of a release.
fn program() -> PathBuf {
    std::env::var_os("ASSAY_CAMPAIGN_PROGRAM").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_assay")), PathBuf::from)
}

/// An answer: the document, or what was said in place of one.
#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub document: Value,
    pub words: String,
}

/// A data directory with the records of a store in it; `ASSAY_CAMPAIGN_KEEP=DIR` keeps it as DIR/SEED/data, beside the files.
#[derive(Debug)]
pub struct Asked {
    directory: PathBuf,
    /// Removes it in the end, unless it is kept.
    _guard: Option<tempfile::TempDir>,
    /// What imports said that did not succeed.
    pub refused: Vec<String>,
}

impl Asked {
    /// Imports all files of the store: those without options together, the others one by one.
    pub fn of(store: &Store) -> Self {
        let (directory, guard) = match std::env::var_os("ASSAY_CAMPAIGN_KEEP") {
            Some(kept) => (PathBuf::from(kept).join(store.seed.to_string()), None),
            None => {
                let directory = tempfile::tempdir().unwrap();
                (directory.path().to_owned(), Some(directory))
            }
        };
        let files = directory.join("files");
        std::fs::create_dir_all(&files).unwrap();
        let mut asked = Self { directory, _guard: guard, refused: Vec::new() };
        let mut together = Vec::new();
        for file in &store.files {
            let path = files.join(&file.name);
            std::fs::write(&path, &file.text).unwrap();
            if file.options.is_empty() {
                together.push(path);
                continue;
            }
            let mut words = vec!["import".to_owned(), path.to_string_lossy().into_owned()];
            words.extend(file.options.iter().cloned());
            asked.import(&words);
        }
        if !together.is_empty() {
            let mut words = vec!["import".to_owned()];
            words.extend(together.iter().map(|path| path.to_string_lossy().into_owned()));
            asked.import(&words);
        }
        asked
    }

    fn import(&mut self, words: &[String]) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = self.ask(&words);
        if answer.code != Some(0) {
            self.refused.push(answer.words);
        }
    }

    /// Asks with `--json`.
    pub fn ask(&self, words: &[&str]) -> Answer {
        let output = Command::new(program())
            .args(words)
            .arg("--json")
            .env("ASSAY_DATA", self.data())
            .env("NO_COLOR", "1")
            .current_dir(&self.directory)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        Answer { code: output.status.code(), document, words: String::from_utf8_lossy(&output.stderr).into_owned() }
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }
}
