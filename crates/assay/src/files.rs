//! Files that are read, which may be pipes, and files that are written whole or not at all.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use assay_device::owned::{Caching, Directory, OwnedError};

use crate::ending::Failure;
use crate::system;

/// Bytes of the longest of [`RECORDS`].
const LONGEST_START: u64 = 16;

/// Whether the file of `-o` is standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The file of `-o`; none where that is standard output, to which commands print without it.
pub(crate) fn named(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| !is_stdout(path))
}

/// Refuses standard output as the place of a report beside a card.
pub(crate) fn refuse_stdout(path: &Path) -> Result<(), Failure> {
    if is_stdout(path) {
        return Err(Failure::usage(
            "standard output has the card; name a file with -o, or print the record with --json",
        ));
    }
    Ok(())
}

/// Checks that a file can be written, before the work that it is for; leaves everything as it was.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    let attempt = place(path).and_then(|place| match place {
        // To open and close a pipe tells its reader that all has come.
        OutputPlace::Stream => Ok(()),
        OutputPlace::Overwritten(file) => OpenOptions::new().append(true).open(file).map(drop),
        OutputPlace::Swapped { directory, .. } => Ok(directory.can_make()?),
    });
    attempt.map_err(|error| cannot_write(path, &error))
}

/// Writes a file whole or not at all where that is possible: into a neighbour first, which then
/// takes its place, with its mode and owner.
pub(crate) fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let attempt = place(path).and_then(|place| match place {
        OutputPlace::Stream => OpenOptions::new().write(true).open(path)?.write_all(content.as_ref()),
        OutputPlace::Overwritten(file) => overwrite(&file, content.as_ref()),
        OutputPlace::Swapped { directory, name } => Ok(directory.replace(&name, content.as_ref())?),
    });
    attempt.map_err(|error| cannot_write(path, &error))
}

/// Makes a directory for files that are written, unless it is there.
pub(crate) fn make_directory(path: &Path) -> Result<(), Failure> {
    match std::fs::create_dir(path) {
        Ok(()) => Ok(()),
        Err(_) if path.is_dir() => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(Failure::environment(format!("{} is no directory; name another one", path.display())))
        }
        Err(error) => Err(Failure::environment(format!(
            "{} cannot be made: {error}; name a directory in one that exists",
            path.display()
        ))),
    }
}

/// Gives a file new content where no other can take its place. What is longer is written behind the old content first: on a
/// full disk that fails, and the old content is whole.
fn overwrite(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let before = file.metadata()?.len();
    let (head, tail) = content.split_at(usize::try_from(before).unwrap_or(usize::MAX).min(content.len()));
    let longer = file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(tail)).and_then(|()| file.sync_data());
    if let Err(error) = longer {
        file.set_len(before)?;
        return Err(error);
    }
    file.rewind()?;
    file.write_all(head)?;
    file.set_len(content.len() as u64)?;
    file.sync_data()
}

/// How a file is written.
enum OutputPlace {
    /// A pipe or a terminal.
    Stream,
    /// A file in a directory where nothing else can be made.
    Overwritten(PathBuf),
    /// Under another name first.
    Swapped { directory: Box<Directory>, name: OsString },
}

fn place(path: &Path) -> std::io::Result<OutputPlace> {
    refuse_planted(path)?;
    // By its own name: what `/dev/fd/63` leads to has no other.
    if let Ok(meta) = path.metadata()
        && !meta.is_file()
    {
        return match meta.is_dir() {
            true => Err(ErrorKind::IsADirectory.into()),
            false if system::takes_text(&meta) => Ok(OutputPlace::Stream),
            false => Err(std::io::Error::other("it is a device, whose content would be lost")),
        };
    }
    // Links are followed: the file takes the new content, not the link's place.
    let file = std::fs::canonicalize(path)
        // A link to what is not there yet, or no link at all.
        .or_else(|_| std::fs::read_link(path).map(|to| path.parent().unwrap_or(Path::new("")).join(to)))
        .unwrap_or_else(|_| path.to_owned());
    let exists = file.symlink_metadata();
    let directory = above(&file);
    let swappable = system::may_swap(directory, exists.as_ref().ok());
    if exists.is_ok() {
        refuse_records(&file)?;
        if !swappable {
            return Ok(OutputPlace::Overwritten(file));
        }
    }
    let name = file.file_name().ok_or(ErrorKind::IsADirectory)?.to_owned();
    Ok(OutputPlace::Swapped { directory: Box::new(Directory::open(directory)?), name })
}

/// What is never replaced by a report or a plan, by how it begins: a database or its log, as that of the store
/// (<https://www.sqlite.org/fileformat.html>), and the journal of a probe, the only copy of what a device held.
const RECORDS: [(&[u8], &str); 4] = [
    (b"SQLite format 3\0", "it is a database, as stores are"),
    (&[0x37, 0x7f, 0x06, 0x82], "it is the log of a database, as stores have one"),
    (&[0x37, 0x7f, 0x06, 0x83], "it is the log of a database, as stores have one"),
    (b"assay-undo-log-", "it is the journal of a quick probe"),
];

/// Refuses to replace what holds records, or what was on a device. One that cannot be read is replaced as others are.
fn refuse_records(file: &Path) -> std::io::Result<()> {
    let mut start = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST_START).read_to_end(&mut start));
    match RECORDS.iter().find(|(begins, _)| read.is_ok() && start.starts_with(begins)) {
        Some((_, what)) => Err(std::io::Error::other(*what)),
        None => Ok(()),
    }
}

/// In a directory that all may write in, a link of another user is not followed, as the kernel does not where
/// `fs.protected_symlinks` is set (proc_sys_fs(5)).
fn refuse_planted(path: &Path) -> std::io::Result<()> {
    let (Ok(link), Ok(above)) = (path.symlink_metadata(), above(path).metadata()) else { return Ok(()) };
    // Also junctions of Windows.
    if link.is_symlink() && system::is_planted(&link, &above) {
        return Err(std::io::Error::other(system::PLANTED));
    }
    Ok(())
}

fn above(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let shown = path.display();
    Failure::environment(match error.kind() {
        ErrorKind::NotFound => format!("{shown} cannot be written: its directory is not there; make it first"),
        _ => format!("{shown} cannot be written: {error}; name another file"),
    })
}

// Files that are opened to be read: what the user named, which may be a pipe, and what lies beside or below that, which may
// be anything, as somebody else may have put it there.

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

#[cfg(not(windows))]
#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

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

    #[test]
    fn a_file_is_replaced_whole_and_a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a.md"), dir.path().join("link.md"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for text in ["one", "two"] {
            check_writable(&link).unwrap();
            write_whole(&link, text).unwrap();
            assert_eq!(std::fs::read_to_string(&link).unwrap(), text);
        }
        assert!(link.is_symlink() && file.is_file());
        assert!(std::fs::read_dir(dir.path()).unwrap().all(|e| !e.unwrap().path().to_string_lossy().contains("part")));
    }

    /// Threat 20.
    #[test]
    fn a_file_that_is_replaced_keeps_its_mode_and_a_planted_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.md");
        std::fs::write(&file, "secret").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        write_whole(&file, "two").unwrap();
        assert_eq!((std::fs::read(&file).unwrap(), file.metadata().unwrap().mode() & 0o7777), (b"two".to_vec(), 0o640));

        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o1777)).unwrap();
        let link = open.join("b.md");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, "three").unwrap();
        if !rustix::process::geteuid().is_root() {
            return;
        }
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        assert!(write_whole(&link, "four").is_err() && check_writable(&link).is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"three");
    }

    #[test]
    fn what_is_no_file_is_written_to_and_not_replaced() {
        let null = Path::new("/dev/null");
        check_writable(null).unwrap();
        write_whole(null, "text").unwrap();
        assert!(!null.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn what_is_written_in_place_is_whole_or_as_it_was() {
        let test = "what_is_written_in_place_is_whole_or_as_it_was";
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.md");
        std::fs::write(&file, "first").unwrap();
        for text in ["longer than that", "short", ""] {
            overwrite(&file, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
        let mount = |arguments: &[&str]| {
            let done = std::process::Command::new(arguments[0]).args(&arguments[1..]).arg(dir.path()).output();
            done.is_ok_and(|done| done.status.success())
        };
        if !mount(&["mount", "-t", "tmpfs", "-o", "size=64k", "none"]) {
            return assay_lab::skip(test, &assay_lab::Missing("needs root to mount".to_owned()));
        }
        let old = vec![b'o'; 20_000];
        std::fs::write(&file, &old).unwrap();
        let written = overwrite(&file, &vec![b'n'; 200_000]);
        let now = std::fs::read(&file).unwrap();
        assert!(mount(&["umount"]));
        assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
        assert!(now == old, "the old content is lost: {} bytes", now.len());
    }

    #[test]
    fn records_and_what_was_on_a_device_are_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("records"), dir.path().join("link.html"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let store = tempfile::tempdir().unwrap();
        drop(assay_store::SqliteStore::open(store.path()).unwrap());
        let store = std::fs::read(store.path().join("assay.sqlite")).unwrap();
        let device =
            assay_verify::probe::JournalIdentity { bytes: 0, name: String::new(), serial: None, attachment: None };
        drop(
            assay_verify::probe::Journal::create(&file, &device, assay_verify::probe::Salt::random().unwrap()).unwrap(),
        );
        let journal = std::fs::read(&file).unwrap();
        for content in [&store[..], b"\x37\x7f\x06\x82 log", &journal] {
            std::fs::write(&file, content).unwrap();
            for path in [&file, &link] {
                assert!(check_writable(path).is_err());
                let said = write_whole(path, "text").unwrap_err().message().to_owned();
                assert!(said.contains("cannot be written: it is "), "{said}");
            }
            assert_eq!(std::fs::read(&file).unwrap(), content);
        }
    }

    /// Its reader sees all of it, and no end before.
    #[test]
    fn a_pipe_is_written_once() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("a.html");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        check_writable(&pipe).unwrap();
        write_whole(&pipe, "text").unwrap();
        assert_eq!(reader.join().unwrap(), b"text");
        // As a shell names one, whose link leads to no path.
        let (reader, writer) = std::io::pipe().unwrap();
        let named = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
        write_whole(Path::new(&named), "more").unwrap();
        drop(writer);
        assert_eq!(std::io::read_to_string(reader).unwrap(), "more");
    }

    #[test]
    fn a_check_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        check_writable(&dir.path().join("new.html")).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(check_writable(&dir.path().join("no/such/new.html")).is_err());
        assert!(check_writable(dir.path()).is_err(), "a directory");
    }
}
