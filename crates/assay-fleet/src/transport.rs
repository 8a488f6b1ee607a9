//! What nodes and their coordinator speak through, TCP or a Unix socket that this user alone can reach;
//! and the number of connections that have not shown the key.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
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

// Connections that have not shown the key. Their number is limited, and the number from one origin is limited further.
// When all places are taken, the connection that has been silent longest is closed for a new one, so silent
// connections keep no node out.

/// The largest number of open connections.
pub(crate) const MOST_UNAUTHENTICATED: usize = 256;
/// The same for one address; in IPv6 for a network of 64 bits, because one host may have all its addresses.
pub(crate) const MOST_OF_ONE_ORIGIN: usize = 64;
/// The same for this machine, where ssh tunnels may end: each of them may be another node.
pub(crate) const MOST_FROM_HERE: usize = 192;
/// Time in nanoseconds after which a silent connection is dropped where more than half of the places are taken.
const FIRST_WORD_NS: u64 = 1_000_000_000;
/// Interval for checking whether the closed connection has left; its leaving also wakes the check.
const LOOK: Duration = Duration::from_millis(100);

/// Connections without the key.
#[derive(Debug, Default)]
pub(crate) struct Unauthenticated {
    waiting: Mutex<Waiting>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The number of the next connection.
    next: u64,
    connections: BTreeMap<u64, ConnectionPlace>,
}

/// The place of a connection.
#[derive(Debug)]
struct ConnectionPlace {
    /// The address under which it is counted; none for a private socket.
    from: Option<IpAddr>,
    /// The time in nanoseconds when it last sent something, or arrived.
    heard_ns: u64,
    /// Whether it has sent anything.
    spoke: bool,
    /// It was closed for a new connection, and is leaving.
    dropped: bool,
    connection: Box<dyn Connection>,
}

impl Unauthenticated {
    /// Gives a new connection a place, and returns its number. Where none is free, the connection that has been silent
    /// longest is closed, and this waits until it has left: so there are never more than [`MOST_UNAUTHENTICATED`].
    pub(crate) fn enter(&self, from: Origin, connection: Box<dyn Connection>, now_ns: u64) -> u64 {
        let from = from.address().map(counted_as);
        let mut waiting = self.lock();
        while let Some(crowd) = waiting.crowd(from) {
            waiting.drop_silent(crowd);
            waiting = self.left.wait_timeout(waiting, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        let number = waiting.next;
        waiting.next += 1;
        let place = ConnectionPlace { from, heard_ns: now_ns, spoke: false, dropped: false, connection };
        waiting.connections.insert(number, place);
        number
    }

    /// It said something that this protocol has.
    pub(crate) fn heard(&self, number: u64, now_ns: u64) {
        if let Some(place) = self.lock().connections.get_mut(&number) {
            (place.heard_ns, place.spoke) = (now_ns, true);
        }
    }

    /// It has shown the key, or is gone. `false` where it had to make way before, or had no place any more.
    pub(crate) fn leave(&self, number: u64) -> bool {
        let place = self.lock().connections.remove(&number);
        self.left.notify_all();
        place.is_some_and(|place| !place.dropped)
    }

    /// Drops those that have not said a word for a second, where places are scarce.
    pub(crate) fn tidy(&self, now_ns: u64) {
        let mut waiting = self.lock();
        let counts = waiting.counts();
        let all: usize = counts.values().sum();
        for place in waiting.connections.values_mut() {
            let scarce = all > MOST_UNAUTHENTICATED / 2 || counts[&place.from] > most(place.from) / 2;
            if scarce && !place.spoke && now_ns.saturating_sub(place.heard_ns) > FIRST_WORD_NS {
                place.drop_it();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionPlace {
    fn drop_it(&mut self) {
        self.dropped = true;
        self.connection.close(Closing::Both);
    }
}

impl Waiting {
    fn counts(&self) -> BTreeMap<Option<IpAddr>, usize> {
        let mut counts = BTreeMap::new();
        self.connections.values().for_each(|place| *counts.entry(place.from).or_default() += 1);
        counts
    }

    /// Where one has to make way for a connection from there; none where a place is free. With its own places taken it is one
    /// of its own; with all taken, one of those who have most.
    fn crowd(&self, from: Option<IpAddr>) -> Option<Option<IpAddr>> {
        let counts = self.counts();
        if counts.get(&from).copied().unwrap_or(0) >= most(from) {
            return Some(from);
        }
        let full = self.connections.len() >= MOST_UNAUTHENTICATED;
        full.then(|| counts.into_iter().max_by_key(|(_, count)| *count).and_then(|(from, _)| from))
    }

    /// Closes the one from there that has been silent longest, unless one is leaving already.
    fn drop_silent(&mut self, from: Option<IpAddr>) {
        let own = self.connections.values_mut().filter(|place| place.from == from);
        let silent = own.min_by_key(|place| (!place.dropped, place.heard_ns));
        if let Some(place) = silent.filter(|place| !place.dropped) {
            place.drop_it();
        }
    }
}

fn most(from: Option<IpAddr>) -> usize {
    if from.is_none_or(|address| address.is_loopback()) { MOST_FROM_HERE } else { MOST_OF_ONE_ORIGIN }
}

/// The address under which one is counted: of IPv6 the network, but for this machine itself.
fn counted_as(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// A connection that knows whether it was closed.
    #[derive(Debug, Clone, Default)]
    struct Fake(Arc<AtomicBool>);

    impl io::Read for Fake {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Ok(0)
        }
    }

    impl io::Write for Fake {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Ok(0)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Connection for Fake {
        fn again(&self) -> io::Result<Box<dyn Connection>> {
            Ok(Box::new(self.clone()))
        }

        fn read_within(&self, _: Duration) -> io::Result<()> {
            Ok(())
        }

        fn write_within(&self, _: Duration) -> io::Result<()> {
            Ok(())
        }

        fn close(&self, _: Closing) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn origin(text: &str) -> Origin {
        if text.is_empty() { Origin::Private } else { Origin::Address((text.parse::<IpAddr>().unwrap(), 1).into()) }
    }

    /// Connections arrive at times 0, 1, 2, …. A closed connection leaves at once.
    #[derive(Default)]
    struct House {
        unauthenticated: Arc<Unauthenticated>,
        came: Vec<(u64, Fake)>,
    }

    impl House {
        fn comes(&mut self, from: &str) -> u64 {
            let fake = Fake::default();
            let (house, entering) = (Arc::clone(&self.unauthenticated), Box::new(fake.clone()));
            let (from, now) = (origin(from), self.came.len() as u64);
            let thread = std::thread::spawn(move || house.enter(from, entering, now));
            while !thread.is_finished() {
                self.closed_ones_leave();
                std::thread::yield_now();
            }
            let number = thread.join().unwrap();
            self.came.push((number, fake));
            number
        }

        fn closed_ones_leave(&self) {
            for (number, _) in self.came.iter().filter(|(_, fake)| fake.0.load(Ordering::Relaxed)) {
                assert!(!self.unauthenticated.leave(*number), "it was dropped");
            }
        }

        fn closed(&self) -> Vec<u64> {
            self.came.iter().filter(|(_, fake)| fake.0.load(Ordering::Relaxed)).map(|(number, _)| *number).collect()
        }
    }

    #[test]
    fn the_one_that_was_silent_longest_makes_way() {
        let mut house = House::default();
        let first: Vec<u64> = (0..MOST_FROM_HERE).map(|_| house.comes("127.0.0.1")).collect();
        assert!(house.closed().is_empty());
        house.unauthenticated.heard(first[0], 1000);
        house.comes("127.0.0.1");
        assert_eq!(house.closed(), [first[1]], "the first one spoke");
        house.comes("");
        assert_eq!(house.closed(), [first[1]], "who comes through the private socket has other places");
    }

    #[test]
    fn one_address_takes_no_place_of_others() {
        let mut house = House::default();
        let first = house.comes("10.0.0.1");
        (1..MOST_OF_ONE_ORIGIN).for_each(|_| _ = house.comes("::ffff:10.0.0.1"));
        assert!(house.closed().is_empty(), "one address in two notations");
        house.comes("10.0.0.1");
        assert_eq!(house.closed(), [first]);
        let local: Vec<u64> =
            (0..MOST_UNAUTHENTICATED - MOST_OF_ONE_ORIGIN).map(|_| house.comes("127.0.0.1")).collect();
        assert_eq!(house.closed(), [first]);
        house.comes("10.0.0.2");
        assert_eq!(house.closed(), [first, local[0]], "all are taken, and those here have most");
    }

    #[test]
    fn all_addresses_of_a_host_in_ipv6_count_as_one() {
        let mut house = House::default();
        let first = house.comes("2001:db8:0:1::1");
        (1..MOST_OF_ONE_ORIGIN).for_each(|host| _ = house.comes(&format!("2001:db8:0:1::{host:x}:0")));
        house.comes("2001:db8:0:2::1");
        assert!(house.closed().is_empty());
        house.comes("2001:db8:0:1::ffff");
        assert_eq!(house.closed(), [first]);
    }

    #[test]
    fn a_second_without_a_word_is_too_long_where_places_are_scarce() {
        let mut house = House::default();
        let spoke = house.comes("10.0.0.1");
        (1..MOST_OF_ONE_ORIGIN / 2).for_each(|_| _ = house.comes("10.0.0.1"));
        house.unauthenticated.heard(spoke, 5);
        house.unauthenticated.tidy(2 * FIRST_WORD_NS);
        assert!(house.closed().is_empty(), "half of the places are free");
        house.comes("10.0.0.1");
        house.unauthenticated.tidy(FIRST_WORD_NS);
        assert!(house.closed().is_empty() || !house.closed().contains(&spoke));
        house.unauthenticated.tidy(2 * FIRST_WORD_NS);
        assert_eq!(house.closed().len(), MOST_OF_ONE_ORIGIN / 2);
        assert!(!house.closed().contains(&spoke));
    }

    #[test]
    fn who_shows_the_key_or_leaves_is_not_counted() {
        let mut house = House::default();
        for _ in 0..1000 {
            let number = house.comes("fe80::1");
            assert!(house.unauthenticated.leave(number) && !house.unauthenticated.leave(number));
        }
        assert!(house.unauthenticated.lock().connections.is_empty() && house.closed().is_empty());
    }
}
