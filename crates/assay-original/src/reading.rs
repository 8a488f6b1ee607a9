//! What a tool printed, by the importer.

use assay_core::record::{Measurement, OriginalRun, Record};
use assay_import::{File, Item, Options, import};

use crate::found::Found;

/// Longest line of a tool that is repeated in a message.
const LONGEST_LINE: usize = 200;

/// How a tool was called and what it printed, and the record that the importer makes of that.
pub(crate) fn read(
    found: &Found,
    command: &str,
    input: Option<&str>,
    printed: &str,
) -> Result<(OriginalRun, Record), String> {
    // dd does not say what it did.
    let text = format!("$ {command}\n{printed}");
    let options = Options { keep_text: true, ..Options::default() };
    let name = found.tool.name();
    let nothing = || complaint(name, printed);
    let imported = import(File::new(name, text), &options).map_err(|_| nothing())?;
    let record = imported.items.into_iter().find_map(|item| match item {
        Item::Made(record) => Some(*record),
        Item::Own(_) => None,
    });
    let mut record = record.ok_or_else(nothing)?;
    let source = record.source.take().ok_or_else(nothing)?;
    let run = OriginalRun {
        tool: name.to_owned(),
        version: found.version.clone(),
        command: command.to_owned(),
        input: input.map(str::to_owned),
        text_sha256: source.original_text_sha256,
        text: source.text,
    };
    Ok((run, record))
}

/// The measurement called `figure`, or the only one.
pub(crate) fn measurement(record: Record, figure: Option<&str>) -> Result<Measurement, String> {
    let wanted = |m: &Measurement| figure.is_none_or(|figure| m.workload.name == figure);
    let found = record.measurements.into_iter().find(wanted);
    found.ok_or_else(|| format!("it printed no figure of {}", figure.unwrap_or("a workload")))
}

/// The last thing that it said, where that was no figure.
pub(crate) fn complaint(name: &str, printed: &str) -> String {
    let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it printed nothing");
    let last: String = last.chars().filter(|c| !c.is_control()).take(LONGEST_LINE).collect();
    if last.starts_with(name) { last } else { format!("{name}: {last}") }
}

#[cfg(test)]
mod tests {
    use assay_core::original::Original;

    use super::*;

    fn found(tool: Original) -> Found {
        Found { tool, version: "1.0".to_owned(), programs: vec![tool.name().into()] }
    }

    #[test]
    fn a_figure_is_found_among_others_and_its_text_is_kept() {
        let printed = "\tInclude fsync in write timing\n\tO_DIRECT feature enabled\n\tFile size set to 8192 kB\n\
            \tRecord Size 4 kB\n\tCommand line used: iozone -e -I -s 8192k -r 4k -i 0 -i 1 -+n -f original\n\
            \tOutput is in kBytes/sec\n\
            \x20             kB  reclen    write    rewrite      read    reread\n\
            \x20           8192       4     34711         0     24000         0\n\niozone test complete.\n";
        let command = "iozone -e -I -s 8192k -r 4k -i 0 -i 1 -+n -f original";
        let (run, record) = read(&found(Original::Iozone), command, None, printed).unwrap();
        assert!(measurement(record.clone(), Some("random read")).is_err());
        let m = measurement(record, Some("read")).unwrap();
        assert_eq!(m.bytes_per_second.unwrap().point, 24_000.0 * 1024.0);
        assert_eq!((run.tool.as_str(), run.version.as_str(), run.command.as_str()), ("iozone", "1.0", command));
        assert!(run.text.unwrap().contains("34711") && run.text_sha256.len() == 64);
    }

    #[test]
    fn dd_is_read_by_its_command() {
        let printed =
            "20480+0 records in\n20480+0 records out\n83886080 bytes (84 MB, 80 MiB) copied, 4.0 s, 21 MB/s\n";
        let command = "dd if=/dev/zero of=original bs=4096 count=20480 conv=fsync";
        let m = measurement(read(&found(Original::Dd), command, None, printed).unwrap().1, None).unwrap();
        assert_eq!(m.durable_bytes_per_second.unwrap().point, 83_886_080.0 / 4.0);
    }

    #[test]
    fn a_tool_that_failed_is_quoted() {
        for (printed, want) in [
            (
                "dd: failed to open 'data': No such file or directory\n",
                "dd: failed to open 'data': No such file or directory",
            ),
            ("\n", "dd: it printed nothing"),
            ("odd\u{1b}[2J words\n\n", "dd: odd[2J words"),
        ] {
            let error = read(&found(Original::Dd), "dd if=data of=/dev/null", None, printed).unwrap_err();
            assert_eq!(error, want);
        }
    }
}
