//! `assay report --article`

use std::io::Read;
use std::path::Path;

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::units::counted;
use assay_report::article::{self, Article, Manifest};

use crate::answer::settle;
use crate::cli::ReportArgs;
use crate::failure::Failure;
use crate::{files, output, queries, state};

pub(super) fn article(args: &ReportArgs, directory: &Path) -> Result<Exit, Failure> {
    let found = queries::find(&args.queries)?;
    let redactor = state::redactor(args.identities)?;
    let mut records = found.iter().map(|f| redactor.record(&f.record)).collect::<Result<Vec<Record>, _>>()?;
    let contradictions = settle(&mut records);
    let article = article::article(&records);
    files::make_directory(directory)?;
    check(directory, &article)?;
    for file in &article.files {
        files::write_whole(&directory.join(&file.name), &file.content)?;
    }
    if args.json {
        // As text: a name need not be UTF-8, and JSON is.
        let directory = directory.to_string_lossy();
        let written = article.written(&directory, found.iter().map(|f| f.record.id.as_str()), contradictions);
        output::print_json(&written)?;
    } else {
        let count = counted(article.files.len(), "file");
        output::tell(&format!("wrote {count} to {}: README.md, index.html and others", output::shown(directory)));
    }
    Ok(Exit::Good)
}

/// Longest file that is compared with an article's: none of these comes near it.
const LONGEST: u64 = 64 << 20;

/// Before anything is written: a file is replaced if an article made it and it was not changed since, or if it is the same.
fn check(directory: &Path, article: &Article) -> Result<(), Failure> {
    let readme = article.files.last().map_or("", |file| &file.name);
    let known = content(&directory.join(readme)).map(|text| Manifest::read(readme, &text)).unwrap_or_default();
    for file in &article.files {
        let path = directory.join(&file.name);
        let is_own = |there: &[u8]| {
            there == file.content || known.holds(&file.name, there) || file.name == readme && known.is_article()
        };
        if path.symlink_metadata().is_ok() && !content(&path).is_some_and(|there| is_own(&there)) {
            let shown = output::shown(&path);
            return Err(Failure::usage(format!(
                "{shown} is there, and is of no article or was changed; name another directory, or remove it"
            )));
        }
        files::check_writable(&path)?;
    }
    Ok(())
}

/// What a regular file holds; `None` of a link, a pipe, a directory and what is longer than a file of an article.
fn content(path: &Path) -> Option<Vec<u8>> {
    path.symlink_metadata().ok().filter(|meta| meta.is_file() && meta.len() <= LONGEST)?;
    let mut all = Vec::new();
    std::fs::File::open(path).ok()?.take(LONGEST).read_to_end(&mut all).ok()?;
    Some(all)
}
