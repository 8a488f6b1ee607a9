//! PostgreSQL as a peer: a server of its own in a directory of its own, reached by a socket.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A server, until it is dropped.
pub struct Postgres {
    bin: PathBuf,
    directory: tempfile::TempDir,
    as_user: bool,
    /// Of the program, beside the place of its socket.
    options: String,
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
        let server = Self::made()?;
        server.up();
        Some(server)
    }

    /// A server that also listens at 127.0.0.1, by TLS alone. Returns its port and the certificate of the authority that signed
    /// its own, which is for `localhost`.
    #[allow(dead_code)] // The measurements do not.
    pub fn start_with_tls() -> Option<(Self, u16, PathBuf)> {
        let mut server = Self::made()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let data = server.directory.path().join("data");
        let openssl = |words: &str| {
            let mut command = Command::new("openssl");
            command.args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(' '));
            ran(command.args(words.split(' ')).current_dir(server.directory.path()))
        };
        let made = openssl("-subj /CN=authority -out authority.pem -keyout authority.key")
            && openssl("-subj /CN=other -out other.pem -keyout other.key")
            && openssl(
                "-subj /CN=database -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE \
                 -CA authority.pem -CAkey authority.key -out data/server.crt -keyout data/server.key",
            );
        if !made {
            eprintln!("SKIP: openssl is not installed, or makes no certificates");
            return None;
        }
        if server.as_user {
            assert!(ran(Command::new("chown").arg("postgres").args(["server.crt", "server.key"]).current_dir(&data)));
        }
        std::fs::write(data.join("pg_hba.conf"), "local all all trust\nhostssl all all 127.0.0.1/32 trust\n").unwrap();
        server.options = format!("-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on");
        server.up();
        let authority = server.directory.path().join("authority.pem");
        Some((server, port, authority))
    }

    fn made() -> Option<Self> {
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
        let server = Self { bin, directory, as_user, options: "-c listen_addresses=''".to_owned() };
        let made = server.run("initdb", &["-D", "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"]);
        assert!(made, "initdb");
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
        let options = format!("-k {} {}", self.directory.path().display(), self.options);
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
        self.database_at(name, 5432)
    }

    /// The same where the socket is named after another port.
    pub fn database_at(&self, name: &str, port: u16) -> String {
        let (host, port) = (self.directory.path().display().to_string(), port.to_string());
        assert!(self.run("createdb", &["-h", &host, "-p", &port, "-U", "postgres", name]), "createdb");
        format!("host={host} port={port} user=postgres dbname={name}")
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
