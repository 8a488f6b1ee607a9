//! The files of an article, and the list of them for programs.

use assay_analysis::UnitNote;
use assay_core::record::Record;
use serde::Serialize;

use super::caption::Caption;
use super::document::document;
use super::findings::Finding;
use super::manifest::Manifest;
use super::pictures::pictures;
use crate::foreign::long_csv;

/// An article, in the order in which its files are to be written: the one that names the others last, so that an article that was
/// cut off can be written again.
#[derive(Debug, Clone, PartialEq)]
pub struct Article {
    /// Its files.
    pub files: Vec<ArticleFile>,
    /// The result for each load, in the order of the tables.
    pub findings: Vec<Finding>,
}

/// A file of an article.
#[derive(Debug, Clone, PartialEq)]
pub struct ArticleFile {
    /// Its name in the directory.
    pub name: String,
    /// Its content.
    pub content: Vec<u8>,
    /// Its caption; `None` for a file that is not a picture.
    pub caption: Option<Caption>,
}

/// The name of the text that names all other files.
const README: &str = "README.md";

/// The article on `records`, which the caller has redacted where it is to be shared.
#[must_use]
pub fn article(records: &[Record]) -> Article {
    let found = crate::presented::finding::of(records, None);
    let pictures = pictures(records, found.beside());
    let (document, findings) = document(records, found.sentence, &pictures);
    let text = |name: &str, content: String| ArticleFile {
        name: name.to_owned(),
        content: content.into_bytes(),
        caption: None,
    };
    let texts = [
        text("index.html", document.html()),
        text("table.csv", document.csv()),
        text("results.csv", long_csv(records)),
    ];
    let pictures = pictures.into_iter().map(|picture| ArticleFile {
        name: picture.file,
        content: picture.content,
        caption: Some(picture.caption),
    });
    let mut files: Vec<ArticleFile> = texts.into_iter().chain(pictures).collect();
    let readme = format!("{}\n", document.markdown());
    let all = files.iter().map(|file| (file.name.as_str(), file.content.as_slice()));
    let line = Manifest::line(all.chain([(README, readme.as_bytes())]));
    files.push(text(README, readme + &line));
    Article { files, findings }
}

/// The output of `assay report --article --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Written {
    /// The directory.
    pub directory: String,
    /// Its files.
    pub files: Vec<WrittenFile>,
    /// The result of each load, in the order of the tables.
    pub findings: Vec<Finding>,
    /// Ids of the records.
    pub records: Vec<String>,
    /// Contradictions between labels and serial numbers.
    pub contradictions: Vec<UnitNote>,
}

/// A file in the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenFile {
    /// Its name.
    pub file: String,
    /// Its size.
    pub bytes: usize,
    /// The caption of a picture; null for other files.
    pub caption: Option<Caption>,
}

impl Article {
    /// The list of files in a directory, with the records they were made from.
    #[must_use]
    pub fn written<'a>(
        &self,
        directory: &str,
        records: impl IntoIterator<Item = &'a str>,
        contradictions: Vec<UnitNote>,
    ) -> Written {
        let file = |file: &ArticleFile| WrittenFile {
            file: file.name.clone(),
            bytes: file.content.len(),
            caption: file.caption.clone(),
        };
        Written {
            directory: directory.to_owned(),
            files: self.files.iter().map(file).collect(),
            findings: self.findings.clone(),
            records: records.into_iter().map(str::to_owned).collect(),
            contradictions,
        }
    }
}
