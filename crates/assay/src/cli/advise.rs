//! Arguments of `assay advise`.

use assay_analysis::advise::{BuyQuestion, CacheQuestion, CacheUse, HitSource, Link, NasQuestion, Price, Question};
use assay_core::units::Bytes;
use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::FileArgs;
use super::values::{
    class, count, link, model_price, not_negative, positive, price, rate, seconds, share, size, what_if,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay advise nas model='SanDisk Ultra A1' --nodes 28 --link 1Gbit
  assay advise cache model=Stick --before model=Disk --hit 50% --feed 1.6MB/s
  assay advise buy all --nodes 28 --max-cost 700USD
  assay advise class last --class A1

`published:` names figures that ship with the program.

Exit codes:
  0  answered, cannot tell included
  1  no: a harmful cache, a refused log device, a class that is not met
  2  bad input";
const NAS_EXAMPLES: &str = "\
Examples:
  assay advise nas all --nodes 28 --link 1Gbit
  assay advise nas model=Card --nodes 28 --link 1Gbit --nas model=Volume
  assay advise nas last --nodes 28 --link 125MB/s --active 25% --nas-iops 130
  assay advise nas published:sandisk-ultra-a1 --nodes 28 --link 1Gbit
  assay advise nas model=Card --nodes 28 --link 1Gbit --what-if bus=45MB/s";
const CACHE_EXAMPLES: &str = "\
Examples:
  assay advise cache model=Stick --before model=Disk --hit 50%
  assay advise cache model=Stick --before model=Disk \\
      --working-set 100GiB --ram 8GiB --size 15GB --zipf 0.9 --feed 1.6MB/s
  assay advise cache model=Stick --before model=Disk --as slog
  assay advise cache published:imation-swivel-usb-16gb \\
      --before published:sata-hdd-500gb --hit 50% --size 15GB";
const BUY_EXAMPLES: &str = "\
Examples:
  assay advise buy all --nodes 28
  assay advise buy all --nodes 28 --max-cost 700USD --load 'random write 4 KiB'
  assay advise buy all --nodes 28 --power-price 0.30USD --hours 26280
  assay advise buy published:sandisk-ultra-a1 published:samsung-evo-plus-64gb \\
      --nodes 28 --price 'SanDisk Ultra A1=25USD' \\
      --price 'Samsung EVO Plus 64GB=22USD'";
const CLASS_EXAMPLES: &str = "\
Examples:
  assay advise class last
  assay advise class model='SanDisk Ultra A1' --class A1
  assay advise class published:sandisk-ultra-a1 --json";

#[derive(Debug, Args)]
pub(crate) struct AdviseArgs {
    /// What to decide.
    #[command(subcommand)]
    pub(crate) command: AdviseCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdviseCommand {
    /// Decide between a medium in each node and a share of one central volume
    #[command(after_help = NAS_EXAMPLES)]
    Nas(NasArgs),
    /// Decide whether a stick helps as read cache (L2ARC) or log (SLOG) of a disk
    #[command(after_help = CACHE_EXAMPLES)]
    Cache(CacheArgs),
    /// Decide which model to buy, by price, performance and power
    #[command(after_help = BUY_EXAMPLES)]
    Buy(BuyArgs),
    /// Show which speed classes (A1, A2, C, U, V) a unit and its model meet
    #[command(after_help = CLASS_EXAMPLES)]
    Class(ClassArgs),
}

#[derive(Debug, Args)]
pub(crate) struct NasArgs {
    #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other,
          help = query_help!("Records of local media"))]
    pub(crate) queries: Vec<String>,

    /// Nodes that share the central volume
    #[arg(long, value_name = "N", value_parser = count(1..=1_000_000))]
    pub(crate) nodes: u32,

    /// Link of the volume: a line rate like 1Gbit, or a payload like 125MB/s
    #[arg(long, value_name = "RATE", value_parser = link)]
    pub(crate) link: Link,

    /// Link of each node
    #[arg(long, value_name = "RATE", value_parser = link)]
    pub(crate) node_link: Option<Link>,

    #[arg(long = "nas", value_name = "QUERY", value_hint = ValueHint::Other,
          help = query_help!("Records of the central volume, measured by one client, or by nodes at once (fleet=RUN)"))]
    pub(crate) volume: Vec<String>,

    /// Share of the nodes that are active at the same time
    #[arg(long, value_name = "SHARE", default_value = "100%", value_parser = share(0.0001..=1.0))]
    pub(crate) active: f64,

    /// Random operations per second of the volume, like 130 of a hard disk
    #[arg(long, value_name = "IOPS", value_parser = positive)]
    pub(crate) nas_iops: Option<f64>,

    /// Latency of the volume for one request, like 1ms
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) answer: Option<f64>,

    /// How much faster local media have to be
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = share(0.0..=100.0))]
    pub(crate) faster_by: f64,

    /// Only this load, like 'random read 4 KiB' or a workload's name
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Show everything in full: every load, not only the one that decides
    #[arg(long)]
    pub(crate) all: bool,

    /// Estimate bus-limited loads of the local media for a faster bus, like bus=45MB/s
    #[arg(long, value_name = "bus=RATE", value_parser = what_if)]
    pub(crate) what_if: Option<f64>,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other,
          help = query_help!("Records of the stick"))]
    pub(crate) queries: Vec<String>,

    #[arg(long, value_name = "QUERY", required = true, value_hint = ValueHint::Other,
          help = query_help!("Records of the disk that is cached"))]
    pub(crate) before: Vec<String>,

    /// Intended use
    #[arg(long = "as", value_name = "USE", value_enum, default_value_t = UseArg::L2arc)]
    pub(crate) use_as: UseArg,

    /// Of the reads that miss RAM, the share that hits the cache
    #[arg(long, value_name = "SHARE", value_parser = share(0.0..=1.0), conflicts_with = "working_set")]
    pub(crate) hit: Option<f64>,

    /// Size of what is read again and again, instead of --hit; needs --ram
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "ram")]
    pub(crate) working_set: Option<f64>,

    /// Size of the cache in RAM (ARC)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) ram: Option<f64>,

    /// Size of the cache on the stick; its capacity by default
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) size: Option<f64>,

    /// Exponent of the Zipf distribution of reads over blocks; uniform by default
    #[arg(long, value_name = "S", value_parser = not_negative, requires = "working_set")]
    pub(crate) zipf: Option<f64>,

    /// Maximum rate of writes to the cache (l2arc_write_max)
    #[arg(long, value_name = "RATE", default_value = "8MiB/s", value_parser = rate)]
    pub(crate) feed: f64,

    /// Block size of the reads; by default 4 KiB where both have it
    #[arg(long, value_name = "SIZE")]
    pub(crate) block: Option<Bytes>,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UseArg {
    /// Read cache
    L2arc,
    /// Log of synchronous writes
    Slog,
}

#[derive(Debug, Args)]
pub(crate) struct BuyArgs {
    #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other,
          help = query_help!("Records of the candidates, with labels price and power"))]
    pub(crate) queries: Vec<String>,

    /// Nodes, one medium each
    #[arg(long, value_name = "N", value_parser = count(1..=1_000_000))]
    pub(crate) nodes: u32,

    /// Load that decides; random read 4 KiB by default
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Maximum cost of all, like 700USD
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub(crate) max_cost: Option<Price>,

    /// Price of a model, instead of its label price; repeat for more
    #[arg(long = "price", value_name = "MODEL=PRICE", value_parser = model_price)]
    pub(crate) prices: Vec<(String, Price)>,

    /// Price of a kilowatt-hour, like 0.30USD
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub(crate) power_price: Option<Price>,

    /// Hours of operation, for the cost of power
    #[arg(long, value_name = "HOURS", default_value = "8760", value_parser = not_negative)]
    pub(crate) hours: f64,

    /// Spares as a share of the nodes; by default the share of units that failed
    #[arg(long, value_name = "SHARE", value_parser = share(0.0..=1.0))]
    pub(crate) spares: Option<f64>,

    /// What 1 % more speed of all nodes is worth, like 3USD; by default 1 % of the price of the cheapest model
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub(crate) worth: Option<Price>,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ClassArgs {
    #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other,
          help = query_help!("Records of the units"))]
    pub(crate) queries: Vec<String>,

    /// Only this class, like A1; repeat for more
    #[arg(long = "class", value_name = "CLASS", value_parser = class)]
    pub(crate) classes: Vec<&'static str>,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl AdviseArgs {
    /// What is asked.
    pub(crate) fn question(&self) -> Question {
        match &self.command {
            AdviseCommand::Nas(a) => Question::Nas(NasQuestion {
                nodes: a.nodes,
                link: a.link,
                node_link: a.node_link,
                active_share: a.active,
                volume_iops: a.nas_iops,
                answer_seconds: a.answer,
                margin: a.faster_by,
                all: a.all,
                load: a.load.clone(),
                what_if_bus: a.what_if,
            }),
            AdviseCommand::Cache(a) => Question::Cache(CacheQuestion {
                use_as: if a.use_as == UseArg::Slog { CacheUse::Slog } else { CacheUse::L2arc },
                hits: match (a.hit, a.working_set) {
                    (Some(share), _) => HitSource::Share(share),
                    (None, Some(bytes)) => HitSource::WorkingSet { bytes, zipf: a.zipf },
                    (None, None) => HitSource::Unknown,
                },
                ram_bytes: a.ram,
                size_bytes: a.size,
                feed_bytes_per_second: a.feed,
                block_bytes: a.block.map(|b| b.0),
            }),
            AdviseCommand::Buy(a) => Question::Buy(BuyQuestion {
                nodes: a.nodes,
                load: a.load.clone(),
                budget: a.max_cost.clone(),
                prices: a.prices.clone(),
                kilowatt_hour: a.power_price.clone(),
                hours: a.hours,
                spare_share: a.spares,
                worth_of_percent: a.worth.clone(),
            }),
            AdviseCommand::Class(a) => Question::Class(a.classes.clone()),
        }
    }

    /// Records it is about: local media, the stick, the candidates, the units.
    pub(crate) fn queries(&self) -> &[String] {
        match &self.command {
            AdviseCommand::Nas(a) => &a.queries,
            AdviseCommand::Cache(a) => &a.queries,
            AdviseCommand::Buy(a) => &a.queries,
            AdviseCommand::Class(a) => &a.queries,
        }
    }

    /// Records of the other side: the central volume, the disk behind the cache.
    pub(crate) fn other_queries(&self) -> &[String] {
        match &self.command {
            AdviseCommand::Nas(a) => &a.volume,
            AdviseCommand::Cache(a) => &a.before,
            AdviseCommand::Buy(_) | AdviseCommand::Class(_) => &[],
        }
    }

    /// Where the answer goes.
    pub(crate) fn file(&self) -> &FileArgs {
        match &self.command {
            AdviseCommand::Nas(a) => &a.file,
            AdviseCommand::Cache(a) => &a.file,
            AdviseCommand::Buy(a) => &a.file,
            AdviseCommand::Class(a) => &a.file,
        }
    }

    /// Whether one JSON document is wanted.
    pub(crate) fn json(&self) -> bool {
        match &self.command {
            AdviseCommand::Nas(a) => a.json,
            AdviseCommand::Cache(a) => a.json,
            AdviseCommand::Buy(a) => a.json,
            AdviseCommand::Class(a) => a.json,
        }
    }
}
