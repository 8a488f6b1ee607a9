//! The names of files and directories that programs make. None is taken from elsewhere: of an archive only the shape of
//! its tree is used.

/// What [`crate::writes::stream`] writes.
pub(crate) const STREAM: &str = "stream";
/// The database of [`crate::writes::inserts`], and its journal.
pub(crate) const DATABASE: &str = "database";
pub(crate) const JOURNAL: &str = "database-journal";
/// What is unpacked, and what is compressed.
pub(crate) const ARCHIVE: &str = "archive";

/// Digits of a file and of a directory. With them names are as long as those in a Linux source tree, 13 letters in the
/// mean.
const FILE_DIGITS: usize = 10;
const DIRECTORY_DIGITS: usize = 8;

/// Name of a file.
pub(crate) fn file(number: u64) -> String {
    format!("f{number:0FILE_DIGITS$}.c")
}

/// Name of a directory.
pub(crate) fn directory(number: u32) -> String {
    format!("d{number:0DIRECTORY_DIGITS$}")
}

/// Whether a program gives such a name at this depth below its own directory.
#[must_use]
pub fn is_known(depth: u32, name: &str) -> bool {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_file = || name.strip_prefix('f').and_then(|n| n.strip_suffix(".c")).is_some_and(|n| digits(n, FILE_DIGITS));
    let is_directory = || name.strip_prefix('d').is_some_and(|n| digits(n, DIRECTORY_DIGITS));
    let is_own = || depth == 0 && [STREAM, DATABASE, JOURNAL, ARCHIVE].contains(&name);
    is_file() || is_directory() || is_own()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_known_again_and_nothing_else() {
        for name in [file(0), file(9_999_999_999), directory(7), STREAM.to_owned(), JOURNAL.to_owned()] {
            assert!(is_known(0, &name), "{name}");
        }
        assert!(is_known(3, &file(5)) && is_known(3, &directory(5)) && !is_known(1, ARCHIVE));
        for name in ["f1.c", "d1", "f0000000001.h", "f000000000x.c", "database-wal", "thesis.tex", "", "f"] {
            assert!(!is_known(0, name), "{name}");
        }
    }
}
