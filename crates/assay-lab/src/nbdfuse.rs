//! A file that an NBD server backs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{Missing, try_run};

/// The nbdfuse process and the file that it mounts.
#[derive(Debug)]
pub(crate) struct NbdFuse {
    process: Child,
    point: PathBuf,
}

impl NbdFuse {
    /// Mounts the `bytes` that the server at `socket` serves as the file `point`.
    pub(crate) fn mount(socket: &Path, point: PathBuf, bytes: u64) -> Result<Self, Missing> {
        File::create(&point).map_err(|e| Missing(format!("{}: {e}", point.display())))?;
        let process = Command::new("nbdfuse")
            .arg(&point)
            .arg("--unix")
            .arg(socket)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| Missing(format!("nbdfuse: {e}")))?;
        let fuse = Self { process, point };
        wait_for(|| std::fs::metadata(&fuse.point).is_ok_and(|file| file.len() == bytes), "nbdfuse")?;
        Ok(fuse)
    }

    /// The file.
    pub(crate) fn point(&self) -> &Path {
        &self.point
    }
}

impl Drop for NbdFuse {
    fn drop(&mut self) {
        try_run("fusermount3", &["-u".as_ref(), self.point.as_os_str()]);
        let _ = self.process.kill();
        let _ = self.process.wait();
        try_run("fusermount3", &["-u".as_ref(), "-z".as_ref(), self.point.as_os_str()]);
    }
}

/// Waits until a started program is ready.
pub(crate) fn wait_for(ready: impl Fn() -> bool, what: &str) -> Result<(), Missing> {
    let start = Instant::now();
    while !ready() {
        if start.elapsed() > Duration::from_secs(10) {
            return Err(Missing(format!("{what} did not start")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
