//! PostgreSQL as a peer: a server of its own in a directory of its own, reached by a socket.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A server, until it is dropped.
pub struct Postgres {
    bin: PathBuf,
    directory: tempfile::TempDir,
    as_user: bool,
}

fn bin() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let of_versions = versions.map(|entry| entry.path().join("bin"));
    std::env::split_paths(&path)
        .chain(of_versions)
        .find(|bin| bin.join("initdb").exists() && bin.join("pg_ctl").exists())
}

impl Postgres {
    /// Starts one; none where it is not installed, which is printed and counted by `tests/run.sh`.
    pub fn start() -> Option<Self> {
        let Some(bin) = bin().and_then(|bin| bin.join("initdb").canonicalize().ok()?.parent().map(Path::to_owned))
        else {
            eprintln!("SKIP: PostgreSQL is not installed");
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        // It refuses to run as root.
        let as_user = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.starts_with(b"0\n"));
        if as_user && !ran(Command::new("chown").arg("postgres").arg(directory.path())) {
            eprintln!("SKIP: PostgreSQL does not run as root, and there is no user postgres");
            return None;
        }
        let server = Self { bin, directory, as_user };
        let made = server.run("initdb", &["-D", "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"]);
        assert!(made, "initdb");
        server.up();
        Some(server)
    }

    fn run(&self, program: &str, args: &[&str]) -> bool {
        let program = self.bin.join(program);
        let mut command = if self.as_user {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        ran(command.args(args).current_dir(self.directory.path()))
    }

    /// Starts the server again.
    pub fn up(&self) {
        let options = format!("-k {} -c listen_addresses=''", self.directory.path().display());
        assert!(self.run("pg_ctl", &["-D", "data", "-w", "-l", "log", "-o", &options, "start"]), "pg_ctl start");
    }

    /// Ends it as an operator does: who is connected is cut off.
    #[allow(dead_code)] // The measurements do not.
    pub fn stop(&self) {
        assert!(self.run("pg_ctl", &["-D", "data", "-w", "-m", "fast", "stop"]), "pg_ctl stop");
    }

    /// Ends it as a crash does.
    pub fn crash(&self) {
        let _ = self.run("pg_ctl", &["-D", "data", "-w", "-m", "immediate", "stop"]);
    }

    /// Address of a new database.
    pub fn database(&self, name: &str) -> String {
        let host = self.directory.path().display().to_string();
        assert!(self.run("createdb", &["-h", &host, "-U", "postgres", name]), "createdb");
        format!("host={host} user=postgres dbname={name}")
    }
}

fn ran(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.crash();
    }
}
