//! Standard output, and what the terminal can show.

use std::io::{IsTerminal, Write};
use std::path::Path;

use assay_core::text::harmless;
use assay_report::Style;

use crate::failure::Failure;

/// Prints text on standard output; a reader that went away is success.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Prints one JSON document.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}"))
}

/// Prints text for people on standard error; it may be closed.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", text.strip_suffix('\n').unwrap_or(text));
}

/// A path for a line on a terminal.
pub(crate) fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

/// Where text for people goes, and what can be shown there.
pub(crate) fn style(stream: &impl IsTerminal, columns: Option<u16>) -> Style {
    let terminal = stream.is_terminal();
    let unicode = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
        .is_none_or(|locale| {
            let locale = locale.to_lowercase();
            // The C locale is what cron, ssh and containers have; their readers know UTF-8.
            locale.contains("utf") || locale == "c" || locale == "posix"
        });
    Style { width: columns.filter(|_| terminal).map_or(80, usize::from), color: terminal && color_wanted(), unicode }
}

/// Style of standard output.
pub(crate) fn stdout_style() -> Style {
    let out = std::io::stdout();
    style(&out, rustix::termios::tcgetwinsize(&out).ok().map(|size| size.ws_col).filter(|c| *c > 0))
}

/// Style of standard error.
pub(crate) fn stderr_style() -> Style {
    let err = std::io::stderr();
    style(&err, rustix::termios::tcgetwinsize(&err).ok().map(|size| size.ws_col).filter(|c| *c > 0))
}

fn color_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
