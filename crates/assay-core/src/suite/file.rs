//! A suite as it is written in TOML, before it is checked.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::groups::{Extent, LayoutRule};
use super::workload::Analysis;
use crate::arrivals::Process;
use crate::original::Original;
use crate::program::ProgramFile;
use crate::units::{Bytes, exact_bytes};
use crate::workload::{Op, Pattern, Sync};

/// Most workloads that a `[[workload]]` makes.
const MOST_VARIANTS: usize = 256;

/// A suite as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SuiteFile {
    pub(super) name: Spanned<String>,
    pub(super) version: u32,
    pub(super) purpose: String,
    pub(super) budget: Spanned<String>,
    pub(super) max_write: Bytes,
    pub(super) repeats: Spanned<u32>,
    pub(super) enough: Option<Spanned<String>>,
    pub(super) span: Spanned<Extent>,
    #[serde(default)]
    pub(super) layout: LayoutRule,
    pub(super) workload: Vec<Spanned<WorkloadFile>>,
    #[serde(default)]
    pub(super) program: Vec<Spanned<ProgramFile>>,
}

/// A `[[workload]]`. Lists in it make several workloads.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadFile {
    pub(super) name: Spanned<String>,
    pub(super) op: Many<Op>,
    pub(super) read_percent: Option<Spanned<u8>>,
    pub(super) pattern: Pattern,
    pub(super) block: Option<Spanned<Many<Bytes>>>,
    pub(super) blocks: Option<Spanned<String>>,
    #[serde(default = "one_of_many")]
    pub(super) queue_depth: Spanned<Many<u32>>,
    #[serde(default = "one")]
    pub(super) jobs: Spanned<u32>,
    #[serde(default)]
    pub(super) sync: Sync,
    #[serde(default = "yes")]
    pub(super) direct: bool,
    pub(super) rate: Option<Spanned<String>>,
    pub(super) arrivals: Option<Spanned<Process>>,
    pub(super) distribution: Option<Spanned<String>>,
    pub(super) think: Option<Spanned<String>>,
    pub(super) think_after: Option<Spanned<u32>>,
    pub(super) cpus: Option<Spanned<String>>,
    pub(super) poll: Option<Spanned<bool>>,
    pub(super) group: Option<Spanned<String>>,
    pub(super) duration: Option<Spanned<String>>,
    pub(super) span: Option<Spanned<Extent>>,
    pub(super) offset: Option<Spanned<Extent>>,
    pub(super) align: Option<Spanned<Bytes>>,
    pub(super) stride: Option<Spanned<String>>,
    pub(super) files: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) shared: bool,
    #[serde(default)]
    pub(super) apart: bool,
    pub(super) write_block: Option<Spanned<Bytes>>,
    pub(super) write_blocks: Option<Spanned<String>>,
    pub(super) sync_every: Option<Spanned<u32>>,
    pub(super) duplicate_percent: Option<Spanned<u8>>,
    pub(super) zero_percent: Option<Spanned<u8>>,
    pub(super) flow: Option<Spanned<u32>>,
    pub(super) flow_pause: Option<Spanned<String>>,
    pub(super) priority: Option<Spanned<String>>,
    pub(super) priority_shares: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) analysis: Analysis,
    pub(super) original: Option<Spanned<Original>>,
}

fn one() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}

fn yes() -> bool {
    true
}

fn one_of_many() -> Spanned<Many<u32>> {
    Spanned::new(0..0, Many(vec![1]))
}

/// One value, or a list of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Many<T>(Vec<T>);

impl<T: Copy> Many<T> {
    /// The value of a workload whose lists were split into single values.
    pub(super) fn one(&self) -> T {
        self.0[0]
    }

    /// A single one of these, with whether it is one of several.
    fn each(&self) -> impl Iterator<Item = (T, bool)> {
        self.0.iter().map(|value| (*value, self.0.len() > 1))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMore<T> {
            type Value = Many<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or a list of values")
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Many<T>, E> {
                T::deserialize(value.into_deserializer()).map(|one| Many(vec![one]))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Many<T>, E> {
                T::deserialize(value.into_deserializer()).map(|one| Many(vec![one]))
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Many<T>, E> {
                T::deserialize(StrDeserializer::new(value)).map(|one| Many(vec![one]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Many<T>, A::Error> {
                let all = Vec::deserialize(SeqAccessDeserializer::new(list))?;
                match all.len() {
                    1..=MOST_VARIANTS => Ok(Many(all)),
                    _ => Err(serde::de::Error::custom(format!("a list has 1 to {MOST_VARIANTS} values"))),
                }
            }
        }
        deserializer.deserialize_any(OneOrMore(PhantomData))
    }
}

impl WorkloadFile {
    /// The workloads that its lists of operations, blocks and queue depths make: each with each, and named by what tells
    /// them apart. A mix alone has a share of reads, and what writes has syncs.
    ///
    /// # Errors
    /// What is wrong, where there are too many.
    pub(super) fn variants(self) -> Result<Vec<Self>, String> {
        let blocks = match &self.block {
            None => vec![None],
            Some(block) => block.get_ref().each().map(Some).collect(),
        };
        let count = self.op.0.len().saturating_mul(blocks.len()).saturating_mul(self.queue_depth.get_ref().0.len());
        if count > MOST_VARIANTS {
            return Err(format!("its lists make {count} workloads, more than {MOST_VARIANTS}"));
        }
        let mut variants = Vec::with_capacity(count);
        for (op, of_ops) in self.op.each() {
            for block in &blocks {
                for (depth, of_depths) in self.queue_depth.get_ref().each() {
                    variants.push(self.variant((op, of_ops), *block, (depth, of_depths)));
                }
            }
        }
        Ok(variants)
    }

    fn variant(&self, op: (Op, bool), block: Option<(Bytes, bool)>, depth: (u32, bool)) -> Self {
        let mut one = self.clone();
        let mut name = self.name.get_ref().clone();
        if op.1 {
            name += match op.0 {
                Op::Read => "-read",
                Op::Write => "-write",
                Op::Mixed => "-mixed",
            };
            one.read_percent = self.read_percent.clone().filter(|_| op.0 == Op::Mixed);
            if op.0 == Op::Read {
                (one.sync, one.sync_every) = (Sync::End, None);
            }
        }
        if let Some((bytes, true)) = block {
            name += &format!("-{}", exact_bytes(bytes.0));
        }
        if depth.1 {
            name += &format!("-q{}", depth.0);
        }
        one.name = Spanned::new(self.name.span(), name);
        one.op = Many(vec![op.0]);
        one.block = self.block.as_ref().zip(block).map(|(at, (bytes, _))| Spanned::new(at.span(), Many(vec![bytes])));
        one.queue_depth = Spanned::new(self.queue_depth.span(), Many(vec![depth.0]));
        one
    }
}
