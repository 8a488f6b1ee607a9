//! `assay report --article`

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::units::counted;
use assay_report::article::{self, Article, MARK};

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

/// Before anything is written: an article takes the place of an article, and of nothing else.
fn check(directory: &Path, article: &Article) -> Result<(), Failure> {
    let own = is_article(&directory.join(&article.files[0].name));
    for file in &article.files {
        let path = directory.join(&file.name);
        if !own && path.symlink_metadata().is_ok() {
            let shown = output::shown(&path);
            return Err(Failure::usage(format!("{shown} is there, and is of no article; name another directory")));
        }
        files::check_writable(&path)?;
    }
    Ok(())
}

/// Whether the end of a file is that of an article. Only the end is read, and only of a regular file.
fn is_article(path: &Path) -> bool {
    let regular = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let end = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(2 * MARK.len() as u64)))?;
        let mut end = Vec::new();
        file.take(2 * MARK.len() as u64).read_to_end(&mut end)?;
        Ok(end)
    };
    regular && end().is_ok_and(|end| end.trim_ascii_end().ends_with(MARK.as_bytes()))
}
