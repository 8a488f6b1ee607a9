//! What nodes and their coordinator speak through: TCP, or a Unix socket that this user alone can reach.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// Where a coordinator is found, as `--rendezvous` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// An address of this machine. Anyone who can reach it may connect.
    Address(SocketAddr),
    /// A socket in a directory that only this user can access.
    Socket(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Socket(path) => path.display().fmt(f),
        }
    }
}

/// The origin of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Through a socket that only this user can access.
    #[cfg_attr(windows, expect(dead_code, reason = "there are no such sockets"))]
    Private,
    /// From an address.
    Address(SocketAddr),
}

impl Origin {
    /// The address under which it is counted; none for those who came through the private socket.
    pub(crate) fn address(self) -> Option<IpAddr> {
        match self {
            Self::Private => None,
            Self::Address(address) => Some(address.ip()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Private => f.write_str("a process of this user"),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// The direction of a connection to close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// Nothing more is sent.
    Sending,
    /// Both ways.
    Both,
}

impl Closing {
    pub(crate) fn how(self) -> Shutdown {
        match self {
            Self::Sending => Shutdown::Write,
            Self::Both => Shutdown::Both,
        }
    }
}

/// A connection that bytes go through in their order.
pub(crate) trait Connection: Read + Write + Send + Sync + fmt::Debug {
    /// The same connection once more.
    fn again(&self) -> io::Result<Box<dyn Connection>>;
    /// A read waits for so long at most.
    fn read_within(&self, limit: Duration) -> io::Result<()>;
    /// A write waits for so long at most, and none is kept back to be sent with others.
    fn write_within(&self, limit: Duration) -> io::Result<()>;
    /// Also ends operations that wait on the connection.
    fn close(&self, what: Closing);
}

impl Connection for TcpStream {
    fn again(&self) -> io::Result<Box<dyn Connection>> {
        Ok(Box::new(self.try_clone()?))
    }

    fn read_within(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))
    }

    fn write_within(&self, limit: Duration) -> io::Result<()> {
        self.set_nodelay(true)?;
        self.set_write_timeout(Some(limit))
    }

    fn close(&self, what: Closing) {
        let _ = self.shutdown(what.how());
    }
}

/// What waits for connections.
pub(crate) trait Listener: Send + fmt::Debug {
    /// The next one.
    fn accept(&self) -> io::Result<(Box<dyn Connection>, Origin)>;
    /// Where it is found.
    fn endpoint(&self) -> io::Result<Endpoint>;
}

impl Listener for TcpListener {
    fn accept(&self) -> io::Result<(Box<dyn Connection>, Origin)> {
        let (stream, from) = self.accept()?;
        Ok((Box::new(stream), Origin::Address(from)))
    }

    fn endpoint(&self) -> io::Result<Endpoint> {
        self.local_addr().map(Endpoint::Address)
    }
}
