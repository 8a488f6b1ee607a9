//! The questions that pages ask, each a command with its options.

use crate::form::{Field, Form, Kind, Word};
use crate::page::Tab;

const fn line(name: &'static str, option: &'static str, label: &'static str, hint: &'static str) -> Field {
    Field { name, label, hint, first: "", kind: Kind::Line, word: Word::Option(option), needed: false }
}

const fn needed(field: Field) -> Field {
    Field { needed: true, ..field }
}

const fn first(field: Field, text: &'static str) -> Field {
    Field { first: text, ..field }
}

const fn lines(field: Field) -> Field {
    Field { kind: Kind::Lines, ..field }
}

const fn tick(name: &'static str, option: &'static str, label: &'static str, hint: &'static str) -> Field {
    Field { kind: Kind::Tick, word: Word::Flag(option), ..line(name, option, label, hint) }
}

const QUERY_HINT: &str =
    "all, last, an id, model=…, unit=…, suite=…, baseline:NAME or published:NAME; one query a line";

const fn records(label: &'static str) -> Field {
    Field { name: "of", label, hint: QUERY_HINT, first: "all", kind: Kind::Lines, word: Word::Query, needed: true }
}

const LOAD: Field =
    line("load", "--load", "Load that decides", "like random read 4 KiB; by default the one that most records have");

pub(crate) const RANK: Form = Form {
    path: "/rank",
    title: "Rank",
    lead: "Models by their units, with ties, outliers and what cannot be decided.",
    command: &["rank"],
    fields: &[
        records("Records"),
        LOAD,
        line("metric", "--metric", "Figure", "like iops, rate or p99"),
        line("level", "--level", "Confidence", "like 95%"),
        tick("all", "--all", "Everything in full", ""),
    ],
};

pub(crate) const COMPARE: Form = Form {
    path: "/compare",
    title: "Compare",
    lead: "Two to six records, units or models: same, different, or cannot tell, and by how much. The first is the reference.",
    command: &["compare"],
    fields: &[
        Field {
            name: "of",
            label: "Groups",
            hint: "one group a line, like unit=1, model=SanDisk*, last~1 or published:NAME; a single line is split as chosen below",
            first: "last~1\nlast",
            kind: Kind::Lines,
            word: Word::Query,
            needed: true,
        },
        Field {
            kind: Kind::Choice(&[
                ("", "by the lines above"),
                ("model", "by model"),
                ("unit", "by unit"),
                ("record", "by record"),
            ]),
            ..line("by", "--by", "Groups are made", "")
        },
        LOAD,
        line("metric", "--metric", "Figure", "like iops, rate or p99"),
        tick("runs", "--runs", "Single runs", "compares these runs, and not the media behind them"),
    ],
};

pub(crate) const GATE: Form = Form {
    path: "/baselines/gate",
    title: "Check the limits",
    lead: "Whether records keep limits against a baseline, as in a nightly job.",
    command: &["compare"],
    fields: &[
        Field { first: "baseline:main\nlast", ..needed(COMPARE.fields[0]) },
        needed(first(
            lines(line(
                "limit",
                "--fail-if",
                "Limits",
                "one a line, like: slower than 5%, or p99 higher than 10% for read",
            )),
            "slower than 5%",
        )),
        tick("runs", "--runs", "Single runs", "compares these runs, and not the media behind them"),
    ],
};

pub(crate) const NAS: Form = Form {
    path: "/advise/nas",
    title: "Local flash or NAS?",
    lead: "Whether each node gets a medium of its own, or all share one central volume.",
    command: &["advise", "nas"],
    fields: &[
        records("Records of local media"),
        first(needed(line("nodes", "--nodes", "Nodes that share the volume", "like 28")), "28"),
        first(
            needed(line("link", "--link", "Link of the volume", "a line rate like 1Gbit, or a payload like 125MB/s")),
            "1Gbit",
        ),
        line("node-link", "--node-link", "Link of each node", "like 100Mbit; by default it is no limit"),
        lines(line("nas", "--nas", "Records of the central volume", "measured by one client, or by nodes at once")),
        line("active", "--active", "Share of nodes that are active at once", "like 25%; 100 % by default"),
        line("iops", "--nas-iops", "Random operations a second of the volume", "like 130 of a hard disk"),
        LOAD,
        tick("all", "--all", "Every load", ""),
    ],
};

pub(crate) const CACHE: Form = Form {
    path: "/advise/cache",
    title: "Does a stick help as cache?",
    lead: "Whether a stick helps as read cache (L2ARC) or log device (SLOG) of a disk.",
    command: &["advise", "cache"],
    fields: &[
        records("Records of the stick"),
        needed(lines(line("before", "--before", "Records of the disk that is cached", QUERY_HINT))),
        Field {
            kind: Kind::Choice(&[("l2arc", "read cache (L2ARC)"), ("slog", "log of synchronous writes (SLOG)")]),
            ..line("as", "--as", "Use", "")
        },
        first(line("hit", "--hit", "Share of reads that hit the cache", "like 50%, of those that miss RAM"), "50%"),
        line("size", "--size", "Size of the cache", "like 15GB; the capacity of the stick by default"),
        line("feed", "--feed", "Rate of writes to the cache", "like 1.6MB/s; 8MiB/s by default"),
    ],
};

pub(crate) const BUY: Form = Form {
    path: "/advise/buy",
    title: "Which model to buy?",
    lead: "Models by price, performance and power, for all nodes.",
    command: &["advise", "buy"],
    fields: &[
        records("Records of the candidates"),
        first(needed(line("nodes", "--nodes", "Nodes, one medium each", "like 28")), "28"),
        lines(line(
            "price",
            "--price",
            "Prices",
            "one a line, like SanDisk Ultra A1=25USD; by default the label price",
        )),
        line("cost", "--max-cost", "Most that all may cost", "like 700USD"),
        line("power", "--power-price", "Price of a kilowatt-hour", "like 0.30USD"),
        LOAD,
    ],
};

pub(crate) const CLASS: Form = Form {
    path: "/advise/class",
    title: "Does it deserve its class?",
    lead: "Which speed classes a unit and its model meet: A1, A2, C, U and V.",
    command: &["advise", "class"],
    fields: &[
        records("Records of the units"),
        lines(line("class", "--class", "Only these classes", "one a line, like A1")),
    ],
};

pub(crate) const RACE: Form = Form {
    path: "/plan/race",
    title: "What to measure next?",
    lead: "Which models are out of the race, and which units to measure next.",
    command: &["plan", "race"],
    fields: &[records("Records"), LOAD, line("left", "--left", "Measurements left", "like 20")],
};

pub(crate) const SWAP: Form = Form {
    path: "/plan/swap",
    title: "Card or slot?",
    lead: "Whether a slow unit or its slot is to blame, by swapping it with another.",
    command: &["plan", "swap"],
    fields: &[
        records("Records"),
        needed(line(
            "suspect",
            "--suspect",
            "Suspect unit and its slot",
            "MODEL=UNIT@SLOT, like SanDisk Ultra A1=7@node07",
        )),
        needed(line("other", "--other", "Another unit and its slot", "MODEL=UNIT@SLOT, if possible of the same model")),
        LOAD,
    ],
};

/// A plan from the page: what it asks for is made, and not only answered.
pub(crate) const NEW_PLAN: Form = Form {
    path: "/plan/new",
    title: "Make a plan",
    lead: "Which unit is measured in which slot in which round, so that units, slots and days can be told apart.",
    command: &["plan", "new"],
    fields: &[
        needed(line("units", "--units", "Units of each model", "like SanDisk Ultra A1=1,2,3;Samsung EVO Plus=1,2")),
        first(needed(line("slots", "--slots", "Slots", "their number, or their names like a,b,c")), "4"),
        first(line("rounds", "--rounds", "Rounds", "how often each unit is measured, each time in a new slot"), "3"),
        first(line("suite", "--suite", "Suite", "a built-in one"), "quick"),
        tick("stay", "--no-swap", "Each unit stays in its slot", ""),
        line("handling", "--handling", "Time to change a unit", "like 1m or 90s"),
        line(
            "variation",
            "--variation",
            "Variation between units of a model",
            "like 10%, for what the plan would tell apart",
        ),
    ],
};

/// All of them, with the place of their pages in the navigation.
pub(crate) const ALL: [(Tab, &Form); 9] = [
    (Tab::Rank, &RANK),
    (Tab::Compare, &COMPARE),
    (Tab::Baselines, &GATE),
    (Tab::Advise, &NAS),
    (Tab::Advise, &CACHE),
    (Tab::Advise, &BUY),
    (Tab::Advise, &CLASS),
    (Tab::Plan, &RACE),
    (Tab::Plan, &SWAP),
];

/// The commands of all questions, each with the options that its form can fill in: the program's own tests hold them against
/// what it understands.
#[must_use]
pub fn commands() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let option = |field: &Field| match field.word {
        Word::Option(name) | Word::Flag(name) => Some(name),
        Word::Query => None,
    };
    let all = ALL.iter().map(|(_, form)| *form).chain([&NEW_PLAN]);
    all.map(|form| (form.command.to_vec(), form.fields.iter().filter_map(option).collect())).collect()
}
