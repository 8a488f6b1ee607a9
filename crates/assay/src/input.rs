//! Files that are opened to be read: what the user named, which may be a pipe, and what lies beside or below that, which may
//! be anything, as somebody else may have put it there.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use assay_device::owned::{Caching, Directory, OwnedError};

use crate::system;

/// How long a program is waited for that writes to a pipe which was named.
const FOR_A_WRITER: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// What a file holds, from its beginning.
pub(crate) type Input = io::Chain<Cursor<Vec<u8>>, File>;

/// Opens a file that the user named; links are followed. A pipe is read as one, where a program writes to it: one that
/// nothing writes to would be waited for without a word.
pub(crate) fn open(path: &Path) -> io::Result<Input> {
    open_within(path, FOR_A_WRITER)
}

fn open_within(path: &Path, time: Duration) -> io::Result<Input> {
    let end = Instant::now() + time;
    let file = system::open_at_once(path)?;
    let mut first = Vec::new();
    // A pipe of this process had its writer already: its end is its end.
    if system::is_pipe(&file)? && !is_own(path) {
        while !system::has_writer(&file, &mut first)? {
            if Instant::now() > end {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it is a pipe that no program writes to"));
            }
            std::thread::sleep(PAUSE);
        }
    }
    system::read_as_usual(&file)?;
    Ok(Cursor::new(first).chain(file))
}

/// Whether a path names a descriptor: `/dev/fd/63`, as shells write it for `<(…)`, or `/dev/stdin`.
fn is_own(path: &Path) -> bool {
    ["/dev/fd", "/dev/stdin", "/proc"].iter().any(|own| path.starts_with(own))
}

/// Opens the directory that lies at `inner` below another: no link on the way is followed.
pub(crate) fn directory_below(root: &Path, inner: &Path) -> Result<Directory, OwnedError> {
    let mut directory = Directory::open(root)?;
    for component in inner.components() {
        let name = match component {
            Component::Normal(name) => name,
            Component::CurDir => continue,
            _ => return Err(OwnedError::io(&root.join(inner), io::ErrorKind::InvalidInput)),
        };
        let below = directory.inside(name)?;
        directory = below.ok_or_else(|| OwnedError::io(&root.join(inner), io::ErrorKind::NotADirectory))?;
    }
    Ok(directory)
}

/// Opens a regular file below a directory; no link is followed, and nothing else is opened.
pub(crate) fn open_below(root: &Path, inner: &Path) -> Result<File, OwnedError> {
    let name = inner.file_name().ok_or_else(|| OwnedError::io(&root.join(inner), io::ErrorKind::InvalidInput))?;
    directory_below(root, inner.parent().unwrap_or(Path::new("")))?.read_file(name, Caching::Cached)
}

#[cfg(all(test, not(windows)))]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    }

    fn text(mut input: Input) -> String {
        let mut text = String::new();
        input.read_to_string(&mut text).expect("a text");
        text
    }

    #[test]
    fn a_pipe_is_read_where_a_program_writes_to_it_and_only_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        pipe(&path);
        let error = open_within(&path, Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.to_string(), "it is a pipe that no program writes to");
        // One that begins after a while, and writes its first word after another.
        let writer = path.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            let mut file = std::fs::OpenOptions::new().write(true).open(writer).unwrap();
            std::thread::sleep(Duration::from_millis(100));
            file.write_all(b"a text").unwrap();
            std::thread::sleep(Duration::from_millis(60));
            file.write_all(b" in two parts").unwrap();
        });
        assert_eq!(text(open_within(&path, Duration::from_secs(60)).unwrap()), "a text in two parts");
        thread.join().unwrap();
        let plain = directory.path().join("plain");
        std::fs::write(&plain, "plain").unwrap();
        assert_eq!(text(open(&plain).unwrap()), "plain");
        assert_eq!(open(&directory.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_descriptor_of_this_process_is_read_to_its_end_at_once() {
        let (reader, mut writer) = io::pipe().unwrap();
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        writer.write_all(b"through a shell").unwrap();
        drop(writer);
        assert_eq!(text(open(Path::new(&path)).unwrap()), "through a shell");
        assert_eq!(text(open(Path::new(&path)).unwrap()), "", "and nothing is waited for");
    }

    #[test]
    fn below_a_directory_nothing_but_files_is_opened() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        std::fs::create_dir(root.join("inner")).unwrap();
        std::fs::write(root.join("inner/file"), "held").unwrap();
        pipe(&root.join("inner/pipe"));
        symlink("file", root.join("inner/link")).unwrap();
        symlink("inner", root.join("way")).unwrap();
        assert_eq!(text(Cursor::new(Vec::new()).chain(open_below(root, Path::new("./inner/file")).unwrap())), "held");
        for inner in ["inner/pipe", "inner/link", "way/file", "inner", "../x", "", "none"] {
            assert!(open_below(root, Path::new(inner)).is_err(), "{inner}");
        }
    }
}
