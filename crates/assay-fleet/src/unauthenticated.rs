//! Connections that have not shown the key: a limited number, and fewer of one address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

/// Open at a time; further ones are closed at once.
pub(crate) const ALL: usize = 256;
/// The same of one address, so that none keeps the others out; in IPv6 of one network of 64 bits, as a host has all its addresses.
pub(crate) const EACH: usize = 64;
/// The same of this machine, where the tunnels of ssh end: each of them may be another node.
pub(crate) const HERE: usize = 192;

/// Connections without the key, by address.
#[derive(Debug, Default)]
pub(crate) struct Unauthenticated(Mutex<HashMap<IpAddr, usize>>);

impl Unauthenticated {
    /// Counts one more of this address, unless there are enough.
    pub(crate) fn enter(&self, from: IpAddr) -> bool {
        let from = counted_as(from);
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = waiting.values().sum();
        let own = waiting.get(&from).copied().unwrap_or(0);
        let room = all < ALL && own < if from.is_loopback() { HERE } else { EACH };
        if room {
            waiting.insert(from, own + 1);
        }
        room
    }

    /// One of this address is known now, or gone.
    pub(crate) fn leave(&self, from: IpAddr) {
        let from = counted_as(from);
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.get_mut(&from) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(waiting.remove(&from)),
        }
    }
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
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_address_leaves_room_for_others() {
        let unauthenticated = Unauthenticated::default();
        let entered = |from: &str| (0..1000).filter(|_| unauthenticated.enter(address(from))).count();
        assert_eq!((entered("10.0.0.1"), entered("::ffff:10.0.0.1")), (64, 0), "one address in two notations");
        assert_eq!(entered("127.0.0.1"), 192);
        assert!(!unauthenticated.enter(address("10.0.0.2")), "all together are too many");
        unauthenticated.leave(address("127.0.0.1"));
        assert!(!unauthenticated.enter(address("10.0.0.1")) && unauthenticated.enter(address("10.0.0.2")));
    }

    #[test]
    fn all_addresses_of_a_host_in_ipv6_count_as_one() {
        let unauthenticated = Unauthenticated::default();
        let entered =
            (0..1000u32).filter(|host| unauthenticated.enter(address(&format!("2001:db8:0:1::{host:x}")))).count();
        assert_eq!(entered, 64);
        assert!(unauthenticated.enter(address("2001:db8:0:2::1")), "another network");
        let here = (0..1000).filter(|_| unauthenticated.enter(address("::1"))).count();
        assert_eq!(here, 256 - 65, "this machine has places of its own");
        unauthenticated.leave(address("2001:db8:0:1::ffff"));
        assert!(unauthenticated.enter(address("2001:db8:0:1::abcd")));
    }

    #[test]
    fn who_left_is_not_counted() {
        let unauthenticated = Unauthenticated::default();
        for _ in 0..1000 {
            assert!(unauthenticated.enter(address("fe80::1")));
            unauthenticated.leave(address("fe80::1"));
        }
        assert!(unauthenticated.0.lock().unwrap().is_empty());
    }
}
