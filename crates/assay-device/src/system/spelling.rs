//! Notation of Windows paths, as text only, so that every system can test it. The system writes them in full
//! (`\\?\C:\`, `\\?\UNC\server\share\`), people do not, and devices have paths with the same beginnings (Microsoft,
//! "Naming Files, Paths, and Namespaces").

use std::ffi::{OsStr, OsString};

/// The longest path that a call accepts without `\\?\`, including the zero at its end (`MAX_PATH`).
const MAX_PATH: usize = 260;

/// The part after `\\?\`, or after `\??\`, which the system treats alike.
fn in_full(path: &str) -> Option<&str> {
    path.strip_prefix(r"\\?\").or_else(|| path.strip_prefix(r"\??\"))
}

/// The part after a word, ignoring case.
fn behind<'a>(path: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = path.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

/// The part after a drive letter, `C:`.
fn behind_letter(path: &str) -> Option<&str> {
    let (letter, rest) = path.split_at_checked(1)?;
    rest.strip_prefix(':').filter(|_| letter.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// A path as people write it. Names that only the system uses, as of a volume or of a device, stay as they are.
pub(crate) fn as_written(path: &str) -> String {
    let Some(rest) = in_full(path) else { return path.to_owned() };
    match behind(rest, r"UNC\") {
        Some(share) => format!(r"\\{share}"),
        None if behind_letter(rest).is_some_and(|rest| rest.starts_with('\\')) => rest.to_owned(),
        None => path.to_owned(),
    }
}

/// A path for calls that are documented only for `C:\` and `\\server\share\`, unless it is too long for them.
pub(crate) fn as_asked(path: &str) -> String {
    let written = as_written(path);
    if written.encode_utf16().count() < MAX_PATH { written } else { path.to_owned() }
}

/// A path with exactly one backslash at its end: after `\\?\` the system takes a second one for an empty name.
pub(crate) fn as_root(path: &OsStr) -> OsString {
    let mut root = path.to_owned();
    if !path.as_encoded_bytes().ends_with(b"\\") {
        root.push(r"\");
    }
    root
}

/// Whether a path names a device instead of something in its file system: everything below `\\.\`, and everything below
/// `\\?\` that is not on a drive, a share or a volume. `\\?\C:` and `\\?\Volume{…}` without a backslash are the device
/// itself.
pub(crate) fn is_device(path: &str) -> bool {
    // After slashes `?` means the same as `.`; either way the path means a device or a directory.
    let path = path.replace('/', r"\");
    if path.starts_with(r"\\.\") {
        return true;
    }
    let Some(rest) = in_full(&path) else { return false };
    let in_volume = |rest: &str| rest.split_once('}').is_some_and(|(_, rest)| rest.starts_with('\\'));
    let in_files = behind(rest, r"UNC\").is_some()
        || behind_letter(rest).is_some_and(|rest| rest.starts_with('\\'))
        || behind(rest, "Volume{").is_some_and(in_volume);
    !in_files
}

/// The path for queries of a volume's driver, without a backslash at its end: by the volume's name, otherwise by its
/// letter. A share, and a directory where another volume is mounted, have only the name.
pub(crate) fn driver(point: &str, name: Option<&str>) -> Option<String> {
    if let Some(name) = name {
        return Some(name.trim_end_matches('\\').to_owned());
    }
    let letter = point.trim_end_matches('\\');
    behind_letter(letter).is_some_and(str::is_empty).then(|| format!(r"\\.\{letter}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOLUME: &str = r"\\?\Volume{01234567-89ab-cdef-0123-456789abcdef}";

    #[test]
    fn paths_are_written_as_people_write_them() {
        for (path, written) in [
            (r"\\?\C:\", r"C:\"),
            (r"\\?\c:\data\x", r"c:\data\x"),
            (r"\??\C:\data", r"C:\data"),
            (r"\\?\UNC\server\share\x", r"\\server\share\x"),
            (r"\\?\unc\server\share", r"\\server\share"),
            (r"C:\data", r"C:\data"),
            (r"\\server\share", r"\\server\share"),
            (r"data", r"data"),
            ("", ""),
        ] {
            assert_eq!(as_written(path), written, "{path}");
            assert_eq!(as_asked(path), written, "{path}");
        }
    }

    #[test]
    fn what_people_have_no_words_for_stays() {
        let volume = format!(r"{VOLUME}\x");
        for path in [
            &*volume,
            r"\\?\PhysicalDrive0",
            r"\\?\GLOBALROOT\Device\Harddisk0",
            r"\\.\C:",
            r"\\?\C:",
            r"\\?\é:\",
            r"\\?\",
        ] {
            assert_eq!(as_written(path), path);
        }
    }

    #[test]
    fn a_path_that_is_too_long_is_asked_for_in_full() {
        let rest = |units: usize| format!(r"C:\{}", "é".repeat(units - 3));
        assert_eq!(as_asked(&format!(r"\\?\{}", rest(259))), rest(259));
        let long = format!(r"\\?\{}", rest(260));
        assert_eq!(as_asked(&long), long);
    }

    #[test]
    fn a_root_ends_with_one_backslash() {
        for (path, root) in
            [(r"\\?\C:\", r"\\?\C:\"), (r"\\?\UNC\server\share", r"\\?\UNC\server\share\"), (r"C:\data", r"C:\data\")]
        {
            assert_eq!(as_root(path.as_ref()), root);
        }
    }

    #[test]
    fn devices_are_told_from_what_lies_in_file_systems() {
        for device in [
            r"\\.\PhysicalDrive0",
            "//./PhysicalDrive0",
            r"\\.\C:",
            r"\\.\C:\data",
            r"\\.\UNC\server\share",
            r"\\?\PhysicalDrive0",
            "//?/PhysicalDrive0",
            r"\??\PhysicalDrive0",
            r"\\?\GLOBALROOT\Device\Harddisk0\Partition0",
            r"\\?\globalroot\device\harddiskvolume1\data",
            r"\\?\CdRom0",
            r"\\?\C:",
            r"\\?\C:data",
            r"\\?\UNC",
            r"\\?\1:\",
            r"\\?\",
            VOLUME,
        ] {
            assert!(is_device(device), "{device}");
        }
        let volume = format!(r"{VOLUME}\data");
        for file in [
            r"C:\data",
            "C:/data",
            "C:",
            r"\\server\share\data",
            r"\\?\C:\data",
            r"\\?\c:\",
            "//?/C:/data",
            r"\\?\UNC\server\share",
            r"\\?\unc\server\share\data",
            &volume,
            r"data\PhysicalDrive0",
            "PhysicalDrive0",
            "",
        ] {
            assert!(!is_device(file), "{file}");
        }
    }

    #[test]
    fn a_driver_is_asked_by_the_name_of_its_volume_or_its_letter() {
        assert_eq!(driver(r"C:\", Some(&format!(r"{VOLUME}\"))).as_deref(), Some(VOLUME));
        assert_eq!(driver(r"C:\", None).as_deref(), Some(r"\\.\C:"));
        for point in [r"\\server\share\", r"C:\mounted\", "", r"\"] {
            assert_eq!(driver(point, None), None, "{point}");
        }
    }
}
