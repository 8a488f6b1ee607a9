//! The network as a bus: the interface that reaches a server, and its speed.

use std::net::{IpAddr, Ipv4Addr};

use assay_core::medium::Bus;
use assay_core::text::harmless;

use super::ceilings::{self, Lane};
use crate::files;
use crate::sysroot::Sysroot;

/// The bus towards `server`. `None` if the server is this machine.
pub(crate) fn bus_towards(sysroot: &Sysroot, server: Option<IpAddr>, driver: &str) -> Option<Bus> {
    if server.is_some_and(|server| server.is_loopback()) {
        return None;
    }
    let driver = Some(driver.to_owned());
    let Some((name, how)) = interface(sysroot, server) else {
        let source = "no network interface could be told from the routes".to_owned();
        return Some(Lane::unknown("network").into_bus("network", driver, source));
    };
    let shown = format!("/sys/class/net/{}/speed", harmless(&name));
    let speed = files::text(&sysroot.path("/sys/class/net").join(&name).join("speed"));
    // -1 and an error mean unknown (kernel Documentation/ABI/testing/sysfs-class-net).
    let bus = match speed.and_then(|text| text.parse::<f64>().ok()).filter(|mbit| *mbit > 0.0) {
        Some(mbit) => ceilings::ethernet(mbit).into_bus("network", driver, format!("{shown}, {how}")),
        None => Lane::unknown("network").into_bus("network", driver, format!("{shown} tells no rate; {how}")),
    };
    Some(bus)
}

fn interface(sysroot: &Sysroot, server: Option<IpAddr>) -> Option<(String, String)> {
    if let Some(IpAddr::V4(address)) = server
        && let Some(name) = routed(sysroot, address)
    {
        return Some((name, format!("the route to {address}")));
    }
    if let Some(name) = routed(sysroot, Ipv4Addr::UNSPECIFIED) {
        return Some((name, "guessed from the default route".to_owned()));
    }
    let class = sysroot.path("/sys/class/net");
    let up = |name: &String| {
        name != "lo"
            && class.join(name).join("device").exists()
            && files::text(&class.join(name).join("operstate")).as_deref() == Some("up")
    };
    let mut names = files::entries(&class).into_iter().filter(up);
    match (names.next(), names.next()) {
        (Some(name), None) => Some((name, "guessed: the only interface that is up".to_owned())),
        _ => None,
    }
}

/// The interface of the longest matching line of `/proc/net/route`. Destination and mask are hexadecimal numbers in the
/// machine's byte order (net/ipv4/fib_trie.c).
fn routed(sysroot: &Sysroot, address: Ipv4Addr) -> Option<String> {
    let text = files::text(&sysroot.path("/proc/net/route"))?;
    let line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let hex = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
        let (destination, mask, name) = (hex(1)?, hex(7)?, *fields.first()?);
        let wanted = u32::from_ne_bytes(address.octets());
        (name != "lo" && wanted & mask == destination).then(|| (mask.count_ones(), name.to_owned()))
    };
    text.lines().skip(1).filter_map(line).max_by_key(|(length, _)| *length).map(|(_, name)| name)
}
