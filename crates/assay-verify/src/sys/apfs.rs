//! Names of devices of macOS.

/// The container of an APFS volume by the name of its device: the volumes in it share one room, whatever their numbers.
/// `/dev/disk3` of `/dev/disk3s5`, and of the snapshot `/dev/disk3s1s1`. `None` of any other name.
pub(super) fn container(device: &str) -> Option<&str> {
    const DISK: &str = "/dev/disk";
    let digits = device.strip_prefix(DISK)?.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, part) = device.split_at_checked(DISK.len() + digits)?;
    (digits > 0 && part.starts_with('s')).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_of_one_container_have_one_name() {
        for volume in ["/dev/disk3s5", "/dev/disk3s1s1", "/dev/disk3s1"] {
            assert_eq!(container(volume), Some("/dev/disk3"), "{volume}");
        }
        assert_eq!(container("/dev/disk12s2"), Some("/dev/disk12"));
        for other in ["/dev/disk3", "/dev/disks1", "map auto_home", "//user@server/share", ""] {
            assert_eq!(container(other), None, "{other}");
        }
    }
}
