//! iSCSI volumes (kernel drivers/scsi/scsi_transport_iscsi.c: classes iscsi_session and
//! iscsi_connection).

use std::net::IpAddr;

use assay_core::medium::{Medium, MediumKind};

use super::facts::clean;
use super::{inquiry, network};
use crate::block::Node;
use crate::files;
use crate::sysroot::Sysroot;

pub(crate) fn describe(sysroot: &Sysroot, disk: &Node, session: &str) -> Medium {
    let class = sysroot.path("/sys/class/iscsi_session").join(session);
    let mut facts = inquiry::named(disk, MediumKind::Iscsi);
    // All targets report the same product; target name and logical unit identify the unit.
    let lun =
        disk.component(|part| part.split(':').count() == 4).and_then(|part| Some(part.rsplit_once(':')?.1.to_owned()));
    if let Some(target) = files::text(&class.join("targetname")).and_then(|text| clean(&text)) {
        facts.unit = Some(match lun {
            Some(lun) => format!("{target} LUN {lun}"),
            None => target,
        });
    }
    facts.bus = network::bus_towards(sysroot, portal(sysroot, session), "iscsi");
    facts
}

/// The address of the target: `connection1:0` belongs to `session1`.
fn portal(sysroot: &Sysroot, session: &str) -> Option<IpAddr> {
    let number = session.trim_start_matches("session");
    let class = sysroot.path("/sys/class/iscsi_connection");
    let connection = files::entries(&class)
        .into_iter()
        .find(|name| name.strip_prefix("connection").and_then(|rest| rest.split(':').next()) == Some(number))?;
    ["persistent_address", "address"]
        .iter()
        .find_map(|file| files::text(&class.join(&connection).join(file))?.trim_matches(['[', ']']).parse().ok())
}
