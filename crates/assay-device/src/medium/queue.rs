//! Whether an SD card's command queue is in use, and where not, which part lacks it.
//!
//! Mainline does not queue on SD cards. Raspberry Pi's kernel does since March 2024, on controllers with a queue of their own
//! (raspberrypi/linux pull request 6046); since January 2025 `supports-cqe` of the controller in the device tree is a number: 0
//! is off, 1 is cards on a list, 2 is all cards but those on a second list (pull request 6591). In mainline it has no value.

use std::path::Path;

use assay_core::medium::CommandQueue;

use super::mmc::{Card, host_device};
use crate::files::Sysroot;
use crate::{files, klog};

pub(super) fn of_card(sysroot: &Sysroot, card: &Card, is_a2: bool) -> CommandQueue {
    let shown = files::text(&card.dir.join("cmdq_en"));
    if shown.as_deref() == Some("1") {
        return CommandQueue::On;
    }
    if !is_a2 {
        return CommandQueue::CardHasNone;
    }
    let Some(host) = host_device(&card.dir).filter(|dir| dir.exists()) else { return CommandQueue::Unknown };
    let said_on = || shown.is_none() && log_says_on(sysroot, card);
    match supports(&host.join("of_node")) {
        Supports::No => CommandQueue::HostHasNone,
        Supports::Setting(0) => CommandQueue::SwitchedOff,
        _ if said_on() => CommandQueue::On,
        Supports::Setting(1) => CommandQueue::CardNotListed,
        Supports::Setting(_) => CommandQueue::Unknown,
        // Without a device tree, as in PCs, it is mainline or a kernel near to it.
        Supports::Upstream | Supports::NoTree => CommandQueue::KernelHasNone,
    }
}

/// What the device tree says of the controller.
enum Supports {
    /// It has no queue, or is not used with it.
    No,
    /// It has one; the property has no value.
    Upstream,
    /// The setting of Raspberry Pi's kernel.
    Setting(u32),
    /// There is no device tree.
    NoTree,
}

fn supports(node: &Path) -> Supports {
    if !node.is_dir() {
        return Supports::NoTree;
    }
    let path = node.join("supports-cqe");
    // A cell of a device tree has its highest byte first.
    match path.exists().then(|| files::bytes(&path).unwrap_or_default()) {
        None => Supports::No,
        Some(value) => match value.first_chunk::<4>() {
            Some(cell) => Supports::Setting(u32::from_be_bytes(*cell)),
            None => Supports::Upstream,
        },
    }
}

/// Whether the driver says so after the last card was taken out: `mmc0: Command Queue Engine enabled, 31 tags`, `mmc0: card
/// aaaa removed`.
fn log_says_on(sysroot: &Sysroot, card: &Card) -> bool {
    let on = format!("{}: Command Queue Engine enabled", card.host);
    let begin = format!("{}: card ", card.host);
    let is_either = |line: &str| line.contains(&on) || line.contains(&begin) && line.trim_end().ends_with(" removed");
    klog::last_line(sysroot, is_either).is_some_and(|line| line.contains(&on))
}

#[cfg(not(windows))]
#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::medium::MediumKind;

    /// A card below a controller, with this property and these lines in the log.
    fn queue(property: Option<&[u8]>, tree: bool, cmdq: Option<&str>, log: &str, is_a2: bool) -> CommandQueue {
        let root = tempfile::tempdir().unwrap();
        let host = root.path().join("sys/devices/platform/soc/1000fff000.mmc");
        let dir = host.join("mmc_host/mmc0/mmc0:aaaa");
        std::fs::create_dir_all(&dir).unwrap();
        if tree {
            std::fs::create_dir_all(host.join("of_node")).unwrap();
        }
        if let Some(bytes) = property {
            std::fs::write(host.join("of_node/supports-cqe"), bytes).unwrap();
        }
        if let Some(text) = cmdq {
            std::fs::write(dir.join("cmdq_en"), text).unwrap();
        }
        let logs = root.path().join("var/log");
        std::fs::create_dir_all(&logs).unwrap();
        std::fs::write(logs.join("kern.log"), log).unwrap();
        let card = Card { dir, host: "mmc0".to_owned(), address: "aaaa".to_owned(), kind: MediumKind::Sd };
        of_card(&Sysroot::at(root.path()), &card, is_a2)
    }

    #[test]
    fn each_part_that_lacks_a_queue_is_named() {
        let on = "mmc0: Command Queue Engine enabled, 31 tags\n";
        let removed = format!("{on}mmc0: card 59b4 removed\n");
        for (property, tree, cmdq, log, wanted) in [
            (None, true, None, "", CommandQueue::HostHasNone),
            (Some(&[][..]), true, None, "", CommandQueue::KernelHasNone),
            (Some(&[0, 0, 0, 0]), true, None, "", CommandQueue::SwitchedOff),
            (Some(&[0, 0, 0, 1]), true, None, "", CommandQueue::CardNotListed),
            (Some(&[0, 0, 0, 2]), true, None, "", CommandQueue::Unknown),
            (Some(&[0, 0, 0, 1]), true, None, on, CommandQueue::On),
            (Some(&[0, 0, 0, 1]), true, Some("1\n"), "", CommandQueue::On),
            (Some(&[0, 0, 0, 1]), true, Some("0\n"), on, CommandQueue::CardNotListed),
            (Some(&[0, 0, 0, 0]), true, None, on, CommandQueue::SwitchedOff),
            (Some(&[0, 0, 0, 1]), true, None, &removed, CommandQueue::CardNotListed),
            (Some(&[0, 0, 0, 1]), true, None, "mmc1: Command Queue Engine enabled\n", CommandQueue::CardNotListed),
            (None, false, None, "", CommandQueue::KernelHasNone),
        ] {
            let found = queue(property, tree, cmdq, log, true);
            assert_eq!(found, wanted, "{property:?} {tree} {cmdq:?} {log:?}");
        }
        assert_eq!(queue(Some(&[0, 0, 0, 1]), true, None, "", false), CommandQueue::CardHasNone);
    }
}
