//! Identities that fields of a record hold, to be replaced wherever else in it they stand.

use serde_json::Value;

use super::identity;
use super::identity::{Key, Kind, Rule, run_length};

/// Shorter ones are not searched for within other text, where they would match by chance; and of this length
/// only those with a digit.
const SHORTEST: usize = 3;
/// From this length on an identity is replaced within longer words too: `SN035344…`.
const LONG: usize = 8;

/// Identities with the short names that replace them.
pub(super) struct Known {
    /// The longest first, so that a serial number that contains another one is replaced as a whole.
    searched: Vec<(String, String)>,
    /// Identities that are also words of sentences. They are replaced in other text only.
    plain: Vec<(String, String)>,
    /// Replaced only where they are all there is.
    short: Vec<(String, String)>,
    /// Words for tools, suites and loads, by which a host or user is called. They are replaced in labels only.
    vocabulary: Vec<(String, String)>,
    /// Short names of folders and volumes whose name is a part of the model, as `Ultra` of `SanDisk Ultra`. The label `model` keeps
    /// that name.
    of_model: Vec<String>,
}

impl Known {
    /// Identities in the fields that name a unit, a host or a path.
    pub(super) fn from_record(record: &Value, rule: &Rule, key: &Key) -> Self {
        let mut all = Vec::new();
        gather(record, rule, key, &mut all);
        let told = told_by_labels(record);
        all.retain(|(identity, name)| {
            !told.iter().any(|told| told == identity) || *name != key.name(Kind::Path, identity)
        });
        all.retain(|(identity, _)| !identity.is_empty());
        all.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        let (vocabulary, all): (Vec<_>, Vec<_>) = all.into_iter().partition(|(identity, _)| is_vocabulary(identity));
        let (searched, short): (Vec<_>, Vec<_>) = all.into_iter().partition(|(identity, _)| {
            let length = identity.chars().count();
            length > SHORTEST || (length == SHORTEST && identity.bytes().any(|b| b.is_ascii_digit()))
        });
        let (plain, searched) = searched.into_iter().partition(|(identity, _)| is_plain(identity));
        let of_model = called_like_the_model(record).into_iter().map(|name| key.name(Kind::Path, name)).collect();
        Self { searched, plain, short, vocabulary, of_model }
    }

    /// The identities to replace in the label `model`: all but words of the model that a folder or volume has, too.
    pub(super) fn in_model(&self) -> Self {
        let others = |all: &[(String, String)]| {
            all.iter().filter(|(_, name)| !self.of_model.contains(name)).cloned().collect::<Vec<_>>()
        };
        Self {
            searched: others(&self.searched),
            plain: others(&self.plain),
            short: others(&self.short),
            vocabulary: others(&self.vocabulary),
            of_model: Vec::new(),
        }
    }

    /// The identity at the start of the rest of a sentence: its length in bytes and its short name. `inside` says that
    /// a word continues here.
    pub(super) fn at(&self, text: &str, inside: bool) -> Option<(usize, &str)> {
        Self::begins(&self.searched, text, inside)
    }

    fn begins<'a>(all: &'a [(String, String)], text: &str, inside: bool) -> Option<(usize, &'a str)> {
        all.iter().find_map(|(identity, name)| {
            let found = text.get(..identity.len())?;
            let after = text.get(identity.len()..)?.chars().next();
            let whole = !inside && !after.is_some_and(char::is_alphanumeric);
            let matches = found.eq_ignore_ascii_case(identity) && (whole || identity.len() >= LONG);
            matches.then_some((identity.len(), name.as_str()))
        })
    }

    /// The short name for a text that is an identity and nothing else.
    pub(super) fn whole(&self, text: &str) -> Option<&str> {
        let mut known = self.searched.iter().chain(&self.plain).chain(&self.short);
        known.find(|(identity, _)| identity.eq_ignore_ascii_case(text)).map(|(_, name)| name.as_str())
    }

    /// Replaces identities in a `text`. Nothing else is replaced.
    pub(super) fn replaced(&self, text: &str) -> String {
        self.replaced_with(text, &[])
    }

    /// The same in a label, which assay did not write.
    pub(super) fn replaced_in_label(&self, text: &str) -> String {
        let word = self.vocabulary.iter().find(|(identity, _)| identity.eq_ignore_ascii_case(text));
        word.map_or_else(|| self.replaced_with(text, &self.vocabulary), |(_, name)| name.clone())
    }

    fn replaced_with(&self, text: &str, more: &[(String, String)]) -> String {
        if let Some(name) = self.whole(text) {
            return name.to_owned();
        }
        replaced(text, |rest, inside| {
            let all = [&self.searched, &self.plain, more];
            let found = all.into_iter().find_map(|some| Self::begins(some, rest, inside));
            found.map(|(length, name)| (length, name.to_owned()))
        })
    }
}

/// Labels for what was measured and where, which no person is called by.
const THINGS: [&str; 6] = ["kind", "model", "round", "run", "slot", "unit"];

/// Components of the relative path that a record was imported from, which labels hold as they are, as `assay import --path`
/// takes them from there: a model that a directory is called by is no person. Names that an absolute path holds too are not
/// among them.
fn told_by_labels(record: &Value) -> Vec<&str> {
    let text = |value: &'_ Value| value.as_str().map(str::to_owned);
    let file = record["source"]["file"].as_str().unwrap_or_default();
    if file.starts_with(['/', '\\', '~']) || identity::remote(file).is_some() {
        return Vec::new();
    }
    let others: Vec<String> =
        [&record["medium"]["path"], &record["medium"]["mount_point"]].into_iter().filter_map(text).collect();
    let is_label = |component: &&str| {
        let labels = record["labels"].as_object().into_iter().flatten();
        let mut labels = labels.filter(|(key, _)| THINGS.contains(&key.as_str()));
        labels.any(|(_, value)| value.as_str() == Some(component))
    };
    let elsewhere = |component: &&str| others.iter().any(|path| identity::path_names(path).contains(component));
    let components = file.split(['/', '\\']).filter(|component| !component.is_empty());
    components.filter(is_label).filter(|component| !elsewhere(component)).collect()
}

/// Names of folders and volumes that the label `model` contains as whole words. Names at places of a path that name users are not
/// among them.
fn called_like_the_model(record: &Value) -> Vec<&str> {
    let Some(model) = record["labels"]["model"].as_str() else { return Vec::new() };
    let model = model.to_lowercase();
    let paths = [&record["source"]["file"], &record["medium"]["path"], &record["medium"]["mount_point"]];
    let paths: Vec<&str> = paths.into_iter().filter_map(Value::as_str).collect();
    let users: Vec<&str> = paths
        .iter()
        .flat_map(|path| {
            identity::path_names(path).into_iter().filter(|name| !identity::path_names_of_things(path).contains(name))
        })
        .collect();
    let is_part = |name: &str| {
        let name = name.to_lowercase();
        let ends = |at: Option<char>| !at.is_some_and(char::is_alphanumeric);
        model
            .match_indices(&name)
            .any(|(at, found)| ends(model[..at].chars().next_back()) && ends(model[at + found.len()..].chars().next()))
    };
    let things = paths.iter().flat_map(|path| identity::path_names_of_things(path));
    things.filter(|name| !users.contains(name) && is_part(name)).collect()
}

/// Replaces each part of `text` that `find` recognises at the start of the remaining text. The second argument of
/// `find` says whether a word continues there. `find` returns the length in bytes and the replacement.
pub(super) fn replaced(text: &str, mut find: impl FnMut(&str, bool) -> Option<(usize, String)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut inside = false;
    while let Some(c) = rest.chars().next() {
        let found = find(rest, inside).filter(|(length, _)| *length > 0 && rest.is_char_boundary(*length));
        let length = match found {
            Some((length, name)) => {
                out.push_str(&name);
                length
            }
            None => {
                out.push(c);
                c.len_utf8()
            }
        };
        let (taken, after) = rest.split_at(length);
        inside = taken.chars().next_back().is_some_and(char::is_alphanumeric);
        rest = after;
    }
    out
}

fn gather(value: &Value, rule: &Rule, key: &Key, all: &mut Vec<(String, String)>) {
    match (rule, value) {
        (Rule::Fields(rules), Value::Object(fields)) => {
            for (name, rule) in *rules {
                if let Some(value) = fields.get(*name) {
                    gather(value, rule, key, all);
                }
            }
        }
        (Rule::Each(rule), Value::Array(items)) => items.iter().for_each(|item| gather(item, rule, key, all)),
        (Rule::Each(rule), Value::Object(fields)) => fields.values().for_each(|item| gather(item, rule, key, all)),
        (Rule::Name(kind), Value::String(text)) => {
            all.extend(known_forms(*kind, text).map(|form| (form.to_owned(), key.name(*kind, text))));
            if *kind == Kind::Unit {
                // The disks of an array.
                all.extend(text.split(" + ").map(|one| (one.to_owned(), key.name(*kind, one))));
            }
        }
        (Rule::Path, Value::String(text)) => gather_path(text, key, all),
        (Rule::Source, Value::String(text)) if identity::is_path(text) => gather_path(text, key, all),
        (Rule::MountOption, Value::String(text)) => {
            let user = text.split_once('=').filter(|(name, _)| ["username", "user", "domain"].contains(name));
            all.extend(user.map(|(_, user)| (user.to_owned(), key.name(Kind::Path, user))));
        }
        _ => {}
    }
}

/// The path as a whole, since in other text one with blanks is not told from what follows it; its host and
/// user; and the components that name a user or a volume, but for words that name a tool.
fn gather_path(text: &str, key: &Key, all: &mut Vec<(String, String)>) {
    let whole = identity::redacted_path(text, key);
    if whole != *text && text.len() >= LONG {
        all.push((text.to_owned(), whole));
    }
    if let Some((_, server, _)) = identity::remote(text) {
        let (user, host) = server.rsplit_once('@').map_or((None, server), |(user, host)| (Some(user), host));
        all.extend(user.map(|user| (user.to_owned(), key.name(Kind::Path, user))));
        all.extend(known_forms(Kind::Host, host).map(|form| (form.to_owned(), key.name(Kind::Host, host))));
    }
    let names = identity::path_names(text).into_iter().filter(|name| !is_vocabulary(name));
    all.extend(names.map(|name| (name.to_owned(), key.name(Kind::Path, name))));
}

/// The forms of an identity in other text: unchanged; for a host also without its domain; for an SD card or eMMC also
/// the serial number within its CID (kernel drivers/mmc/core/sd.c and mmc.c: bits 24 to 55, or 16 to 47).
pub(super) fn known_forms(kind: Kind, identity: &str) -> impl Iterator<Item = &str> {
    let is_cid = kind == Kind::Unit && identity.len() == 32 && identity.bytes().all(|b| b.is_ascii_hexdigit());
    let serials = [18..26, 20..28].map(|range| identity.get(range).filter(|_| is_cid));
    let host = identity.split_once('.').filter(|_| kind == Kind::Host && identity.parse::<std::net::IpAddr>().is_err());
    std::iter::once(identity).chain(serials.into_iter().flatten()).chain(host.map(|(first, _)| first))
}

// Common words that identify nothing by themselves.

/// Whether a name of a host, user or directory is also a word in the sentences of assay. Replacing it there would hide
/// nothing and garble the sentences.
pub(super) fn is_plain(identity: &str) -> bool {
    let identity = identity.to_ascii_lowercase();
    identity::PATH_WORDS.contains(&identity.as_str())
        || PLAIN_WORDS.split_ascii_whitespace().any(|word| word == identity)
}

/// Words of findings and verdicts, systems and makers, in alphabetical order.
const PLAIN_WORDS: &str = "\
    alpine another answer answers arch area armbian assay backup before bench block blocks board boot buffer build bytes \
    cache cached card cards check checks clock cluster command counts current damaged data debian depth device devices \
    direct directory disk disks drive driver drives dropped durable encryption engine engines error errors export failed \
    fake fedora file files filesystem find first fixed flash found free full genuine genuinely good guest held here high \
    hold holds home host hosts image import index instrument interrupted invalid jobs journal kali kept kernel kind \
    kingston last latency later layer layout leave left length level limit limits linked linux list load loads local \
    lost machine main media medium member memory meter minutes missing mode model most mount mounted move name names \
    network nobody node nodes noise none nothing number numbers offset once only open operations original other others \
    owner page pages part partition parts past path plain plan plug point pool port power probe process processor \
    program programs proof public queue quick random raspbian rate read reader reads real reason record records repeat \
    repeats report rest result results root round route same sample samsung sandisk save scratch second seconds sector \
    sectors sensor server service share shared show single size slot slots slow soak some space spare speed stage start \
    stick storage store suite suspect swap sync system systems table tables task temp temperature test tested tests text \
    there this thread threads time times tool total true truth type ubuntu unit units unknown used user users valid \
    value verify version volume volumes wait wall when which whole window with within without word words work workload \
    works write writer writes written zero zone \
    ";

// Words that stand in fields of a record for what it is about, and not for whose it is.

/// Whether it is made of words for tools, engines, suites and loads, and of sizes: `fio`, `AS SSD`, `seq-read-1m-q8`. A
/// directory that is called so would hide with which tool a record was measured.
pub(super) fn is_vocabulary(identity: &str) -> bool {
    let identity = identity.to_ascii_lowercase();
    let mut words =
        identity.split(['-', '_', ' ', '+', '.']).filter(|part| !part.is_empty() && !is_size(part)).peekable();
    words.peek().is_some() && words.all(|word| VOCABULARY.split_ascii_whitespace().any(|known| known == word))
}

/// `8`, `1m`, `q32`, `j4`.
fn is_size(part: &str) -> bool {
    let number = part.strip_prefix(['q', 'j']).unwrap_or(part).trim_end_matches(['k', 'm', 'g']);
    (1..=4).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit()) && part.len() <= 5
}

/// In alphabetical order.
const VOCABULARY: &str = "\
    aio amorphousdiskmark append as assay atto bench beside blocks bonnie boot class compress contention cpu \
    crystaldiskmark crystaldiskmark3 crystaldiskmark5 crystaldiskmark8 curve database dd direct disk diskmark diskspd \
    elbencho ezfio f3 f3probe f3read f3write fdatasync fio fsync full gzip h2testw hd hdparm hpi hpl iocp ioping iops \
    ior iozone json kdiskmark libaio linpack linux load logs markdown mdtest memory mixed null nvme only \
    openbenchmarking packages parquet phoronix pibenchmarks postmark programs prometheus quick rand random read reads sd \
    seq sequential services smart smartctl smoke soak sqlite ssd start stress suite sweep sync sysbench t test text trim \
    tune unpack update uring winsat write writes xml \
    ";

// Options of mount(8), as the kernel lists them.

/// Options whose values are addresses (nfs(5), mount.cifs(8)).
const ADDRESSES: [&str; 5] = ["addr", "clientaddr", "mountaddr", "ip", "srcaddr"];

/// Options whose values are words or numbers of a file system's own, and change results (ext4(5), xfs(5),
/// btrfs(5), f2fs of the kernel's documentation, nfs(5), mount.cifs(8), vfat of mount(8)).
const PLAIN: [&str; 61] = [
    "acregmax",
    "acregmin",
    "acdirmax",
    "acdirmin",
    "actimeo",
    "active_logs",
    "alloc_mode",
    "allocsize",
    "background_gc",
    "barrier",
    "cache",
    "checkpoint",
    "codepage",
    "commit",
    "compress",
    "compress-force",
    "compress_algorithm",
    "data",
    "dax",
    "delalloc",
    "discard_unit",
    "dmask",
    "errors",
    "extent_cache",
    "fmask",
    "fsync_mode",
    "gid",
    "inode_readahead_blks",
    "inode64",
    "iocharset",
    "local_lock",
    "logbsize",
    "logbufs",
    "lookupcache",
    "mode",
    "mountproto",
    "mountvers",
    "namlen",
    "nconnect",
    "nr_inodes",
    "port",
    "prjquota",
    "proto",
    "quota",
    "retrans",
    "rsize",
    "sec",
    "shortname",
    "size",
    "soft",
    "space_cache",
    "stripe",
    "subvolid",
    "sunit",
    "swidth",
    "timeo",
    "uid",
    "vers",
    "wsize",
    "atime_quantum",
    "min_batch_time",
];

/// The redacted option: a flag and a plain value are kept, an address gets a short name, and of any other option only
/// the name is kept. `None` where even the name is not plain.
pub(super) fn redacted_options(option: &str, known: &Known, key: &Key) -> Option<String> {
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let plain = |text: &str, longest: usize| {
        text.len() <= longest && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:,".contains(&b))
    };
    if name.is_empty() || !plain(name, 32) {
        return None;
    }
    let name = known.replaced(name);
    Some(match value {
        None => name,
        Some(address) if ADDRESSES.contains(&name.as_str()) => format!("{name}={}", key.name(Kind::Host, address)),
        Some(value) if PLAIN.contains(&name.as_str()) && plain(value, 40) => {
            format!("{name}={}", known.replaced(value))
        }
        Some(_) => format!("{name}=…"),
    })
}

// What the names of labels and of readings say of their values.

/// Words in the name of a label whose value is an identity.
const NAMING: [(&str, Kind); 18] = [
    ("serial", Kind::Unit),
    ("serialnumber", Kind::Unit),
    ("serialno", Kind::Unit),
    ("sn", Kind::Unit),
    ("cid", Kind::Unit),
    ("wwn", Kind::Id),
    ("wwid", Kind::Id),
    ("uuid", Kind::Id),
    ("partuuid", Kind::Id),
    ("guid", Kind::Id),
    ("nguid", Kind::Id),
    ("eui", Kind::Id),
    ("eui64", Kind::Id),
    ("mac", Kind::Id),
    ("iqn", Kind::Id),
    ("nqn", Kind::Id),
    ("ip", Kind::Host),
    ("hostname", Kind::Host),
];

/// What kind of identity a label of this name has: `serial`, `disk-sn`, `card_cid2`.
pub(super) fn named_identity(name: &str) -> Option<Kind> {
    let name = name.to_ascii_lowercase();
    let kind = |word: &str| NAMING.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind);
    let bare = |word: &str| kind(word).or_else(|| kind(word.trim_end_matches(|c: char| c.is_ascii_digit())));
    name.split(|c: char| !c.is_ascii_alphanumeric()).find_map(bare)
}

// Readings of health.

/// `Reallocated_Sector_Ct`, `power_on_hours`; not `serial`.
pub(super) fn is_reading_name(name: &str) -> bool {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    plain && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= 64 && named_identity(name).is_none()
}

/// Words in a reading beside numbers, in small letters.
const READING_WORDS: [&str; 10] =
    ["true", "false", "min", "max", "avg", "average", "lifetime", "celsius", "hours", "c"];

/// `true`, `-12`, `34 (Min/Max 19/54)`, `54118h+30m+12.1s`, `0x04`: numbers of at most 20 digits, and words that mean something.
pub(super) fn is_reading(text: &str) -> bool {
    let part = |part: &str| {
        let digits = run_length(part, |c| c.is_ascii_digit());
        let unit = part.len() - digits;
        let letters = part.bytes().skip(digits).all(|b| b.is_ascii_alphabetic());
        let known = || part.is_empty() || READING_WORDS.contains(&part.to_ascii_lowercase().as_str());
        let word = letters && if digits == 0 { known() } else { unit <= 2 };
        let hexadecimal =
            part.strip_prefix("0x").is_some_and(|hex| hex.len() <= 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
        digits <= 20 && (word || hexadecimal)
    };
    let begins = ["true", "false"].contains(&text) || text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    begins && text.len() <= 64 && text.split(|c: char| c.is_whitespace() || "()/+,.:-%".contains(c)).all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_is_in_order_and_holds_no_name() {
        assert!(VOCABULARY.split_ascii_whitespace().is_sorted());
        for word in ["fio", "FIO", "AS SSD", "bonnie++", "seq-read-1m-q8", "rand_read_4k", "uring", "crystaldiskmark8"]
        {
            assert!(is_vocabulary(word), "{word}");
        }
        for name in ["alice", "node7", "2024", "q32", "", "fio-alice", "f3x", "12345678", "1m"] {
            assert!(!is_vocabulary(name), "{name}");
        }
    }

    #[test]
    fn words_are_in_order_and_none_is_a_name() {
        let words: Vec<&str> = PLAIN_WORDS.split_ascii_whitespace().collect();
        assert!(words.is_sorted() && words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase())));
        assert!(is_plain("check") && is_plain("Card") && is_plain("data"));
        for name in ["alice", "node7", "DEADBEEF", "checker", "data7", "sn0353443"] {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn a_reading_is_a_number_and_no_name() {
        for reading in ["0", "-12", "true", "54118h+30m+12.1s", "34 (Min/Max 19/54)", "0x04", "100%", "1,234,567"] {
            assert!(is_reading(reading), "{reading}");
        }
        for name in ["S649NX0R", "15411140A3C2", "alice", "0xdeadbeef00", "7 alice", "", "12 of nas.example"] {
            assert!(!is_reading(name), "{name}");
        }
        assert!(is_reading_name("Reallocated_Sector_Ct") && is_reading_name("Ave_Block-Erase_Count"));
        assert!(!is_reading_name("serial_number") && !is_reading_name("disk sn") && !is_reading_name("wwn"));
    }
}
