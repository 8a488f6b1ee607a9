//! Short names that replace identities.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The kind of an identity. It is part of the short name and of the hashed text, so that a host and a serial number
/// with equal text get different names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One piece: a serial number, a CID, the name of an iSCSI target.
    Unit,
    /// A machine: its name or address.
    Host,
    /// A component of a path: a user, a label, a directory.
    Path,
    /// Anything else that is unique: UUID, WWN, MAC address.
    Id,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Host => "host",
            Self::Path => "path",
            Self::Id => "id",
        }
    }
}

/// What makes short names.
pub(super) enum Key {
    /// A secret, by which only its owner can test a guess.
    Secret([u8; 32]),
    /// Leaves short names as they are, and changes everything that would have to be replaced by one: for documents of
    /// others, which were redacted elsewhere.
    Kept,
}

impl Key {
    /// `unit-3fa9c1d2`: the kind and 32 bits of the keyed BLAKE3 hash of the identity. Only with the key can a guess be
    /// tested.
    pub(super) fn name(&self, kind: Kind, identity: &str) -> String {
        let word = kind.word();
        let Self::Secret(key) = self else {
            let bare = identity.trim_start_matches('/');
            return if is_short_name(bare) { bare.to_owned() } else { format!("{word}-") };
        };
        let hex = blake3::keyed_hash(key, format!("{word}\0{identity}").as_bytes()).to_hex();
        format!("{word}-{}", hex.get(..SHORT_DIGITS).unwrap_or_default())
    }
}

/// Hexadecimal digits of a short name.
const SHORT_DIGITS: usize = 8;

/// Whether a text is a short name, with any key.
pub(super) fn is_short_name(text: &str) -> bool {
    let kinds = [Kind::Unit, Kind::Host, Kind::Path, Kind::Id];
    text.split_once('-').is_some_and(|(word, digits)| {
        kinds.iter().any(|kind| kind.word() == word)
            && digits.len() == SHORT_DIGITS
            && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

// What may become of a field.

/// What becomes of a field. One that has another shape than its rule is left out.
#[derive(Debug)]
pub(crate) enum Rule {
    /// A number, a flag or one of the words that this format defines: stays.
    Keep,
    /// A number or flag, or text that assay or its user wrote: stays but for identities that other fields of
    /// the record hold.
    Known,
    /// A time or a version that assay wrote: stays if it has that form, whatever a unit or a host is called; otherwise as
    /// [`Rule::Known`].
    Stamp,
    /// What the user says of the record: as [`Rule::Known`], and identities of other records, and values whose name says
    /// that they are identities, are replaced whole.
    Labels,
    /// Text from elsewhere: everything in it that looks like an identity is replaced too.
    Text,
    /// An identity: replaced whole.
    Name(Kind),
    /// A path: components that may identify a person are replaced.
    Path,
    /// The title or name of a source, which is as [`Rule::Text`], or the path of one.
    Source,
    /// An option of mount(8).
    MountOption,
    /// Never shared, such as free text.
    Never,
    /// Fields with a rule each; others are left out.
    Fields(&'static [(&'static str, Rule)]),
    /// The same, and of other names readings alone: numbers with their units, as of attributes that makers name.
    Readings(&'static [(&'static str, Rule)]),
    /// A list or a map whose values have one rule; keys of a map are as [`Rule::Known`].
    Each(&'static Rule),
}

// Names, numbers and addresses that are unique, recognised by their form.

/// Whether nothing in `text` has the form of an address or a number that is unique.
fn finds_nothing(text: &str) -> bool {
    let mut before = None;
    text.char_indices().all(|(at, c)| {
        let found = text.get(at..).and_then(|rest| unique(rest, before));
        before = Some(c);
        found.is_none()
    })
}

/// Names, numbers and addresses that are unique by how they are given out.
pub(super) fn unique(rest: &str, before: Option<char>) -> Option<(usize, Kind)> {
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let some = |kind: Kind| move |length: usize| (length, kind);
    registered(rest)
        .or_else(|| uuid(rest))
        .or_else(|| interface(rest))
        .or_else(|| hex_pairs(rest))
        .map(some(Kind::Id))
        .or_else(|| ip_address(rest).map(some(Kind::Host)))
        .or_else(|| hexadecimal(rest).map(some(Kind::Id)))
}

/// Length of the run of characters at the start that satisfy `of`.
pub(super) fn run_length(rest: &str, of: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !of(c)).unwrap_or(rest.len())
}

/// Whether a word ends after `length` bytes.
pub(super) fn ends_word(rest: &str, length: usize) -> bool {
    !rest.get(length..).and_then(|after| after.chars().next()).is_some_and(|c| c.is_alphanumeric() || c == '_')
}

pub(super) fn starts_with_any<'a>(rest: &str, prefixes: &[&'a str]) -> Option<&'a str> {
    prefixes.iter().copied().find(|p| rest.get(..p.len()).is_some_and(|start| start.eq_ignore_ascii_case(p)))
}

/// Names of iSCSI, NVMe and SCSI: iqn, eui, naa (RFC 7143, 4.2.7), nqn (NVMe base specification), and the forms
/// of udev (60-persistent-storage.rules).
fn registered(rest: &str) -> Option<usize> {
    let prefix = starts_with_any(rest, &["iqn.", "nqn.", "eui.", "naa.", "t10.", "nvme.", "wwn-"])?;
    let name = rest.get(..run_length(rest, |c| c.is_ascii_alphanumeric() || ".:-_%".contains(c)))?;
    let name = name.trim_end_matches(['.', ':', '-']);
    (name.len() >= prefix.len() + 4).then_some(name.len())
}

/// RFC 9562, and the eight digits of a FAT volume, which have to contain a letter, so that a range of numbers does not
/// match.
fn uuid(rest: &str) -> Option<usize> {
    let fat = |text: &str| text.bytes().any(|b| b.is_ascii_uppercase()) && text == text.to_uppercase();
    digit_groups(rest, &[8, 4, 4, 4, 12])
        .or_else(|| digit_groups(rest, &[4, 4]).filter(|length| rest.get(..*length).is_some_and(fat)))
}

/// Length of groups of hexadecimal digits of these lengths with hyphens between.
fn digit_groups(rest: &str, lengths: &[usize]) -> Option<usize> {
    let mut at = 0;
    for length in lengths {
        if at > 0 {
            rest.get(at..)?.starts_with('-').then_some(())?;
            at += 1;
        }
        rest.get(at..at + length).filter(|group| group.bytes().all(|b| b.is_ascii_hexdigit()))?;
        at += length;
    }
    ends_word(rest, at).then_some(at)
}

/// Network interfaces named after their address (systemd.net-naming-scheme(7)).
fn interface(rest: &str) -> Option<usize> {
    starts_with_any(rest, &["enx", "wlx", "wwx"])?;
    let length = 3 + run_length(rest.get(3..)?, |c| c.is_ascii_hexdigit());
    (length == 15 && ends_word(rest, length)).then_some(length)
}

/// Six pairs of hexadecimal digits or more: MAC, EUI-64; also in three groups of four.
fn hex_pairs(rest: &str) -> Option<usize> {
    let group = |size: usize, separator: u8, least: usize| {
        let (mut at, mut groups) = (0, 0);
        while rest.get(at..at + size).is_some_and(|g| g.bytes().all(|b| b.is_ascii_hexdigit())) {
            at += size;
            groups += 1;
            if rest.as_bytes().get(at) != Some(&separator) {
                break;
            }
            at += 1;
        }
        (groups >= least && ends_word(rest, at)).then_some(at)
    };
    group(2, b':', 6).or_else(|| group(2, b'-', 6)).or_else(|| group(4, b'.', 3))
}

/// An address that is not of this machine alone.
fn ip_address(rest: &str) -> Option<usize> {
    let four = rest.get(..run_length(rest, |c| c.is_ascii_digit() || c == '.'))?.trim_end_matches('.');
    if let Ok(address) = four.parse::<Ipv4Addr>() {
        let own = address.is_loopback() || address.is_unspecified();
        return (!own && ends_word(rest, four.len())).then_some(four.len());
    }
    let whole = rest.get(..run_length(rest, |c| c.is_ascii_hexdigit() || c == ':' || c == '.'))?;
    [whole, whole.trim_end_matches(['.', ':'])].into_iter().find_map(|text| {
        let address: Ipv6Addr = text.parse().ok()?;
        (!address.is_loopback() && !address.is_unspecified() && ends_word(rest, text.len())).then_some(text.len())
    })
}

/// Long hexadecimal numbers: CIDs, hashes, serial numbers. Decimal numbers stay: sizes and places are that.
fn hexadecimal(rest: &str) -> Option<usize> {
    let (prefix, least) = if starts_with_any(rest, &["0x"]).is_some() { (2, 8) } else { (0, 12) };
    let digits = rest.get(prefix..)?;
    let length = run_length(digits, |c| c.is_ascii_hexdigit());
    let mixed = digits.get(..length)?.bytes().any(|b| b.is_ascii_digit())
        && (prefix > 0 || digits.get(..length)?.bytes().any(|b| b.is_ascii_alphabetic()));
    (length >= least && mixed && ends_word(digits, length)).then_some(prefix + length)
}

// Redacts paths: components that readers of a report need are kept, and components that may identify a person are
// replaced.

/// Directories of the file system hierarchy and words for what a mount point is for. They stay wherever
/// they stand before the first component that is replaced, also with a number: `card3`, `disk-2`.
pub(super) const PATH_WORDS: [&str; 67] = [
    "assay", "backup", "bench", "boot", "cache", "card", "cards", "data", "dev", "disk", "disks", "drive", "emmc",
    "etc", "export", "exports", "flash", "fs", "hdd", "home", "journals", "lib", "local", "log", "logs", "media",
    "memory", "microsd", "mnt", "mount", "nas", "net", "nfs", "node", "nodes", "nvme", "opt", "output", "outputs",
    "proc", "records", "reports", "results", "root", "run", "scratch", "sd", "sdcard", "share", "shares", "shm",
    "slot", "smb", "spool", "srv", "ssd", "stick", "storage", "sys", "test", "tests", "tmp", "usb", "user", "usr",
    "var", "volume",
];

/// Directories whose entries are named after people or by them. The entries are replaced even if they are common words.
const HOMES: [&str; 5] = ["/home", "/Users", "/root", "/run/user", "/run/media"];

/// Kernel interfaces: names that the kernel gives, not people.
const KERNEL: [&str; 2] = ["/sys", "/proc"];

/// Whether text of either kind is a path rather than a title.
pub(super) fn is_path(text: &str) -> bool {
    text.contains(['/', '\\'])
}

/// What lies before the path of a remote volume, and the path: `nas.lan:/export`, `//nas/share`,
/// `alice@nas:cards`, `[fd00::1]:/export`.
pub(super) fn remote(text: &str) -> Option<(&str, &str, &str)> {
    for mark in ["//", "\\\\"] {
        if let Some(rest) = text.strip_prefix(mark) {
            let end = rest.find(['/', '\\']).unwrap_or(rest.len());
            let (server, path) = rest.split_at(end);
            return (!server.is_empty()).then_some((mark, server, path));
        }
    }
    let end = if text.starts_with('[') { text.find("]:")? + 1 } else { text.find(':')? };
    let (server, path) = (text.get(..end)?, text.get(end + 1..)?);
    (!server.is_empty() && !server.contains('/')).then_some(("", server, path))
}

/// The path with short names in place of components that may identify a person. From the first such component on all
/// are replaced, except names that assay itself gives.
pub(super) fn redacted_path(text: &str, key: &Key) -> String {
    if let Some((mark, server, path)) = remote(text) {
        let colon = if mark.is_empty() { ":" } else { "" };
        return format!("{mark}{}{colon}{}", remote_server(server, key), path_components(path, key));
    }
    path_components(text, key)
}

/// `user@host` or a host alone.
pub(super) fn remote_server(text: &str, key: &Key) -> String {
    match text.rsplit_once('@') {
        Some((user, host)) => format!("{}@{}", key.name(Kind::Path, user), key.name(Kind::Host, host)),
        None => key.name(Kind::Host, text),
    }
}

/// The components for a search in other text: the first that is replaced, which names a user or a volume more
/// often than not, and the volume below a user's directory of volumes.
pub(super) fn path_names(text: &str) -> Vec<&str> {
    names_in(text).into_iter().map(|(name, _)| name).collect()
}

/// Those of them that stand where no user is named: a folder of results, or a volume.
pub(super) fn path_names_of_things(text: &str) -> Vec<&str> {
    if remote(text).is_some() || text.starts_with('~') {
        return Vec::new();
    }
    names_in(text).into_iter().filter(|(_, of_user)| !of_user).map(|(name, _)| name).collect()
}

/// The names, and whether each may name a user.
fn names_in(text: &str) -> Vec<(&str, bool)> {
    let path = remote(text).map_or(text, |(_, _, path)| path);
    let mut walk = Walk::default();
    let mut names: Vec<(&str, bool)> = Vec::new();
    for component in path.split(['/', '\\']) {
        let is_name = !walk.replaced || walk.volume;
        let of_user = !walk.replaced && (HOMES.contains(&walk.before.as_str()) || walk.before == "/media");
        if !walk.keeps(component) && is_name {
            names.push((component, of_user));
        }
    }
    names
}

fn path_components(path: &str, key: &Key) -> String {
    let mut walk = Walk::default();
    let mut out = String::with_capacity(path.len());
    for (at, component) in path.split(['/', '\\']).enumerate() {
        if at > 0 {
            out.push('/');
        }
        let keep = walk.keeps(component);
        out.push_str(&if keep { component.to_owned() } else { key.name(Kind::Path, component) });
    }
    out
}

/// How far into a path.
#[derive(Default)]
struct Walk {
    /// What stands before, as long as nothing was replaced.
    before: String,
    /// Something was replaced.
    replaced: bool,
    /// The one before names a user below a directory of volumes: this one names a volume.
    volume: bool,
}

impl Walk {
    /// Whether the next component stays.
    fn keeps(&mut self, component: &str) -> bool {
        if component.is_empty() || component == "." {
            return true;
        }
        if component == ".." {
            // The following components may be anywhere.
            self.before = "..".to_owned();
            return true;
        }
        let before = std::mem::take(&mut self.before);
        let kernel = KERNEL
            .iter()
            .any(|root| before.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
        let stays = if self.replaced {
            is_own(component)
        } else if HOMES.contains(&before.as_str()) {
            false
        } else if before == "/dev" {
            is_device(component) || ["disk", "mapper", "shm"].contains(&component)
        } else if before == "/dev/disk" {
            component.starts_with("by-")
        } else if kernel {
            is_kernel_name(component)
        } else {
            is_word(component) || is_own(component)
        };
        self.volume = !stays && !self.replaced && ["/media", "/run/media"].contains(&before.as_str());
        self.replaced |= !stays;
        self.before = format!("{before}/{component}");
        stays
    }
}

fn is_word(component: &str) -> bool {
    let bare = component.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = component.len() - bare.len();
    let bare = if digits > 0 { bare.strip_suffix(['-', '_']).unwrap_or(bare) } else { bare };
    digits <= 3 && PATH_WORDS.contains(&bare.to_ascii_lowercase().as_str())
}

/// What assay calls its own directories and files.
fn is_own(component: &str) -> bool {
    let id = |id: &str| id == "verify" || (id.len() == 10 && id.bytes().all(|b| b.is_ascii_alphanumeric()));
    let numbered = |name: &str| name.strip_suffix(".h2w").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    component.strip_prefix(".assay-").is_some_and(id)
        || numbered(component)
        || ["data", "lock", "state.json", "assay.sqlite"].contains(&component)
}

/// Names of block devices that drivers give (kernel Documentation/admin-guide/devices.txt): letters for disks
/// of SCSI, ATA, virtio, Xen and DASD, numbers for all others.
fn is_device(name: &str) -> bool {
    let lettered = ["sd", "hd", "vd", "xvd", "dasd"].iter().any(|driver| {
        let Some(rest) = name.strip_prefix(driver) else { return false };
        let part = rest.trim_start_matches(|c: char| c.is_ascii_lowercase());
        let letters = rest.len() - part.len();
        rest == "X" || ((1..=3).contains(&letters) && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit()))
    });
    let numbered = [
        "mmcblk", "nvme", "loop", "zram", "ram", "nbd", "md", "dm-", "sr", "fd", "ublkb", "rbd", "bcache", "pmem",
        "mtdblock",
    ]
    .iter()
    .any(|driver| {
        let Some(rest) = name.strip_prefix(driver) else { return false };
        // `nvme0n1p2`, `mmcblk0boot1`, `nvme0c1n1`
        let rest = rest.replace("boot", "p").replace("rpmb", "0");
        rest.len() <= 10
            && rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.bytes().all(|b| b.is_ascii_digit() || b"npc".contains(&b))
    });
    lettered || numbered
}

/// A name below `/sys` or `/proc` that holds no address: network interfaces are named after theirs
/// (systemd.net-naming-scheme(7), `enx001122334455`). `root` and `cwd` of a process lead elsewhere (proc(5)).
fn is_kernel_name(component: &str) -> bool {
    finds_nothing(component) && !["root", "cwd"].contains(&component)
}
