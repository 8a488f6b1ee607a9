//! What a run on many nodes asks of the system here, on Linux.

use std::fmt::Debug;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use assay_engine::Signal;
use rustix::process::{Pid, Resource, Rlimit, geteuid, getrlimit, kill_process, kill_process_group, setrlimit};

use crate::transport::{Closing, Connection, Endpoint, Listener, Origin};

/// Longest path of a socket in bytes: `sun_path` of unix(7) has 108.
const LONGEST_PATH: usize = 100;

/// Whether a directory belongs to this user alone and is not reached through a symbolic link.
pub(crate) fn is_private(directory: &Metadata) -> bool {
    directory.is_dir() && directory.uid() == geteuid().as_raw() && directory.mode() & 0o7777 == 0o700
}

/// The machine as uname(1) names it.
pub(crate) fn machine() -> String {
    rustix::system::uname().machine().to_string_lossy().into_owned()
}

/// Sends a signal to a process that has not been waited for, or to the whole group that it leads.
pub(crate) fn end(child: &Child, whole_group: bool, signal: Signal) {
    if let Some(process) = Pid::from_raw(child.id().cast_signed()) {
        let _ = if whole_group { kill_process_group } else { kill_process }(process, signal);
    }
}

impl Connection for UnixStream {
    fn again(&self) -> io::Result<Box<dyn Connection>> {
        Ok(Box::new(self.try_clone()?))
    }

    fn read_within(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))
    }

    fn write_within(&self, limit: Duration) -> io::Result<()> {
        self.set_write_timeout(Some(limit))
    }

    fn close(&self, what: Closing) {
        let _ = self.shutdown(what.how());
    }
}

/// A socket in a directory of this user alone, both gone with this value.
#[derive(Debug)]
struct PrivateListener<D> {
    listener: UnixListener,
    path: PathBuf,
    /// Removed with this value.
    _directory: D,
}

impl<D: Debug + Send> Listener for PrivateListener<D> {
    fn accept(&self) -> io::Result<(Box<dyn Connection>, Origin)> {
        let (stream, _) = self.listener.accept()?;
        Ok((Box::new(stream), Origin::Private))
    }

    fn endpoint(&self) -> io::Result<Endpoint> {
        Ok(Endpoint::Socket(self.path.clone()))
    }
}

/// Listens where no other user comes: on the way to a socket all directories are asked for the right to search (unix(7)).
/// `make` makes a directory of this user alone below another one; it is removed with its value.
pub(crate) fn listen_privately<D>(make: impl Fn(&Path) -> io::Result<D>) -> io::Result<Box<dyn Listener>>
where
    D: AsRef<Path> + Debug + Send + 'static,
{
    let own = std::path::absolute(std::env::temp_dir())?;
    let parents = [own.as_path(), Path::new("/tmp")];
    let mut refused = io::Error::other("no temporary directory has a short and plain path");
    for parent in parents.into_iter().filter(|parent| is_plain(parent)) {
        let listening = make(parent).and_then(|directory| {
            let path = directory.as_ref().join("meet");
            if path.as_os_str().len() > LONGEST_PATH {
                return Err(io::Error::other("the path of the temporary directory is too long for a socket"));
            }
            Ok(PrivateListener { listener: UnixListener::bind(&path)?, path, _directory: directory })
        });
        match listening {
            Ok(listener) => return Ok(Box::new(listener)),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Whether ssh(1) takes the path literally: colons, percent signs and dollars have a meaning in its option `-R`.
fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)))
}

/// Connects to such a socket, or to the end of a tunnel to one.
pub(crate) fn connect_privately(path: &Path) -> io::Result<Box<dyn Connection>> {
    Ok(Box::new(UnixStream::connect(path)?))
}

/// Raises the limit of open files to `wanted`; otherwise returns the highest limit that the system allows.
pub(crate) fn allow_open_files(wanted: u64) -> Result<(), u64> {
    let limits = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= wanted);
    let raised = Rlimit { current: Some(wanted), ..limits };
    if enough(limits.current) || enough(limits.maximum) && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    Err(limits.maximum.unwrap_or(u64::MAX))
}
