//! `assay report`: a page, a picture, or an article with its files.

use std::io::Read;
use std::path::Path;

use assay_core::exit::Exit;
use assay_core::observation::Observation;
use assay_core::text::{self, harmless};
use assay_core::units::counted;
use assay_report::article::{self, Article, Manifest};
use assay_report::{Redactor, ReportFormat, View, render, render_files};
use serde_json::Value;

use crate::answer::settle;
use crate::cli::ReportArgs;
use crate::documents::{self, ReportDocument};
use crate::ending::Failure;
use crate::{files, output, queries, state};

pub(super) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    match (&args.article, &args.output) {
        (Some(directory), _) => write_article(args, directory),
        (None, Some(output)) => file(args, output),
        (None, None) => Err(Failure::usage("name a file with -o, or a directory with --article")),
    }
}

fn file(args: &ReportArgs, output: &Path) -> Result<Exit, Failure> {
    let to_stdout = files::is_stdout(output);
    let format = match args.format {
        Some(format) => format,
        None if to_stdout => {
            return Err(Failure::usage(
                "standard output has no extension; add --format html, md, csv, json, svg, png or gif",
            ));
        }
        None => ReportFormat::from_path(output, ReportFormat::ALL).map_err(|e| Failure::usage(e.to_string()))?,
    };
    if args.json && to_stdout {
        return Err(Failure::usage("--json and a report on standard output do not go together; name a file"));
    }
    if !format.is_picture() && (args.picture.is_some() || args.load.is_some()) {
        return Err(Failure::usage("--picture and --load are for pictures; name a file in .svg, .png or .gif"));
    }
    let view = View { kind: args.picture, load: args.load.clone() };
    let found = queries::find(&args.queries)?;
    let redactor = state::redactor(args.identities)?;
    let redacted = || redactor.records(found.iter().map(|f| &f.record));
    let is_directory = output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
    if is_directory && !to_stdout {
        let several = render_files(format, &redacted()?).ok_or_else(|| {
            let shown = output::shown(output);
            Failure::usage(format!("{shown} is a directory, which only --format fio-json writes to; name a file"))
        })?;
        return write_files(args, output, several, found.iter().map(|f| f.record.id.clone()).collect());
    }
    if !to_stdout {
        files::check_writable(output)?;
    }
    let text = match format {
        // From the documents themselves, so that with --identities fields of a newer version are kept.
        ReportFormat::Json => documents(found.iter().map(|f| f.document.as_str()), &redactor)?.into_bytes(),
        other => render(other, &redacted()?, &view).map_err(|e| Failure::usage(harmless(&e.to_string())))?,
    };
    if to_stdout {
        output::print_bytes(&text)?;
    } else {
        files::write_whole(output, &text)?;
        if args.json {
            let records = found.into_iter().map(|f| f.record.id).collect();
            let file = documents::path(output);
            output::print_json(&ReportDocument { file, files: None, records, bytes: text.len() })?;
        } else {
            output::tell(&format!("wrote {}", output::shown(output)));
        }
    }
    Ok(Exit::Good)
}

/// Writes each file into the directory, and makes the directory first if it is missing.
fn write_files(
    args: &ReportArgs,
    output: &Path,
    several: Vec<(String, String)>,
    ids: Vec<String>,
) -> Result<Exit, Failure> {
    let shown = output::shown(output);
    files::make_directory(output)?;
    for (name, text) in &several {
        files::write_whole(&output.join(name), text)?;
    }
    if args.json {
        let bytes = several.iter().map(|(_, text)| text.len()).sum();
        let files = Some(several.into_iter().map(|(name, _)| name).collect());
        output::print_json(&ReportDocument { file: documents::path(output), files, records: ids, bytes })?;
    } else {
        let count = several.len();
        output::tell(&format!("wrote {count} {} to {shown}", if count == 1 { "file" } else { "files" }));
    }
    Ok(Exit::Good)
}

fn documents<'a>(texts: impl Iterator<Item = &'a str>, redactor: &Redactor) -> Result<String, Failure> {
    let mut all: Vec<Value> = Vec::new();
    for text in texts {
        let value = serde_json::from_str(text)
            .map_err(|e| Failure::environment(format!("a stored record is not JSON: {e}")))?;
        all.push(value);
    }
    redactor.values(&mut all);
    let whole = if all.len() == 1 { all.swap_remove(0) } else { Value::Array(all) };
    Ok(text::json(&format!("{whole:#}\n")))
}

// `assay report --article`

fn write_article(args: &ReportArgs, directory: &Path) -> Result<Exit, Failure> {
    let found = queries::find(&args.queries)?;
    let redactor = state::redactor(args.identities)?;
    let mut records = redactor.records(found.iter().map(|f| &f.record))?;
    let mut observations: Vec<Observation> = records.iter().map(Observation::from).collect();
    let contradictions = settle(&mut observations);
    for (record, settled) in records.iter_mut().zip(observations) {
        (record.labels, record.validity) = (settled.labels, settled.validity);
    }
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

/// Longest file that is compared with an article's: no file of an article comes near it.
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
                "{shown} was not written as a part of this article, or was changed since; name another directory, or remove it"
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
