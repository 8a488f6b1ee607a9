//! How often may be asked: by token, and by network where there is none.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Askers that are remembered; beyond, those that have asked nothing for the longest time are forgotten.
const REMEMBERED: usize = 20_000;

/// A rate with room for a burst.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// At most this often at once.
    pub burst: f64,
    /// And this often a second on the whole.
    pub per_second: f64,
}

/// What askers have left.
#[derive(Debug)]
pub struct Limits {
    rate: Rate,
    left: Mutex<HashMap<String, (f64, Instant)>>,
}

impl Limits {
    /// The same rate for each asker.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self { rate, left: Mutex::default() }
    }

    /// Takes one of what an asker has left, or says in how many seconds there will be one.
    ///
    /// # Errors
    /// The seconds.
    pub fn take(&self, asker: &str, now: Instant) -> Result<(), u64> {
        let Rate { burst, per_second } = self.rate;
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.len() >= REMEMBERED && !left.contains_key(asker) {
            forget_half(&mut left);
        }
        let (tokens, since) = left.entry(asker.to_owned()).or_insert((burst, now));
        let gained = now.saturating_duration_since(*since).as_secs_f64() * per_second;
        (*tokens, *since) = ((*tokens + gained).min(burst), now);
        if *tokens >= 1.0 {
            *tokens -= 1.0;
            return Ok(());
        }
        Err(((1.0 - *tokens) / per_second).ceil().max(1.0) as u64)
    }
}

fn forget_half(left: &mut HashMap<String, (f64, Instant)>) {
    let mut times: Vec<Instant> = left.values().map(|(_, since)| *since).collect();
    times.sort_unstable();
    if let Some(middle) = times.get(times.len() / 2).copied() {
        left.retain(|_, (_, since)| *since > middle);
    }
}

/// The address that asks. What a proxy says of it counts where the proxy is one of these, and only the last hop that is none of
/// them: what stands before it, the client wrote.
#[must_use]
pub fn asker(peer: IpAddr, forwarded: &[&str], proxies: &[IpAddr]) -> IpAddr {
    if !proxies.contains(&peer.to_canonical()) {
        return peer.to_canonical();
    }
    let hops = forwarded.iter().rev().flat_map(|field| field.rsplit(','));
    for hop in hops {
        match hop.trim().parse::<IpAddr>() {
            Ok(address) if proxies.contains(&address.to_canonical()) => {}
            Ok(address) => return address.to_canonical(),
            // A hop without an address ends what can be believed.
            Err(_) => break,
        }
    }
    peer.to_canonical()
}

/// The network of an address: one line of a provider. IPv6 customers have at least a /64, and a /56 as often.
#[must_use]
pub fn network(address: IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => Ipv4Addr::to_string(&v4),
        IpAddr::V6(v6) => format!("{}/56", Ipv6Addr::from_bits(v6.to_bits() >> 72 << 72)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_is_let_through_and_then_the_rate() {
        let limits = Limits::new(Rate { burst: 3.0, per_second: 0.5 });
        let start = Instant::now();
        assert!((0..3).all(|_| limits.take("a", start).is_ok()));
        assert_eq!(limits.take("a", start), Err(2));
        assert_eq!(limits.take("b", start), Ok(()), "another one");
        assert_eq!(limits.take("a", start + Duration::from_secs(2)), Ok(()));
        for asker in 0..3 * REMEMBERED {
            let _ = limits.take(&asker.to_string(), start);
        }
        assert!(limits.left.lock().unwrap().len() <= REMEMBERED);
    }

    #[test]
    fn only_a_known_proxy_is_believed_and_only_its_last_hop() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let proxies = [ip("10.0.0.1"), ip("10.0.0.2")];
        for (peer, forwarded, expected) in [
            ("192.0.2.1", vec!["203.0.113.9"], "192.0.2.1"),
            ("10.0.0.1", vec!["198.51.100.7, 203.0.113.9"], "203.0.113.9"),
            ("10.0.0.1", vec!["198.51.100.7", "203.0.113.9, 10.0.0.2"], "203.0.113.9"),
            ("::ffff:10.0.0.1", vec!["203.0.113.9"], "203.0.113.9"),
            ("10.0.0.1", vec!["203.0.113.9, nonsense"], "10.0.0.1"),
            ("10.0.0.1", vec![], "10.0.0.1"),
        ] {
            assert_eq!(asker(ip(peer), &forwarded, &proxies), ip(expected), "{peer} {forwarded:?}");
        }
        assert_eq!(network(ip("2001:db8:1:2345::1")), "2001:db8:1:2300::/56");
        assert_eq!(network(ip("192.0.2.1")), "192.0.2.1");
    }
}
