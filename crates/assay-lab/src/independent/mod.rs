//! An independent model of storage media, and attacks on a program that probes them.
//!
//! It is a second opinion. It was written from `README.md` and `docs/verify.md` alone, without a look at assay-verify or
//! at the lab's other media, and uses neither: where it disagrees with the program, one of the two has misread the
//! documents. A change here needs a reason in the documents, and never one in the program.
//!
//! A [`Medium`](medium::Medium) is a device with a [`Card`](card::Card) in it: a [cache](caches) in front of
//! [faults] in front of an [address map](maps), or a [pool](pools), over a memory that held what its
//! [owner](content) had. Everything follows from seeds, time is virtual, and nothing costs memory but what is written.
//!
//! A [`Spec`](spec::Spec) is a medium on paper, drawn by seed, and knows the [truth](truths). The [judge] compares what
//! a program said and did with it: the verdict, the size, and above all the owner's bytes. A [campaign] runs a
//! [program](campaign::Program) on media, killed, interrupted and deceived; a [report] counts.
//!
//! ```
//! use assay_lab::independent::{maps::Map, numbers::SECTOR, spec::Spec};
//!
//! let mut medium = Spec::plain(256, Map::Wrap { period: 100 }, 1).build();
//! medium.write(103 * SECTOR, &[7; 512])?;
//! let mut read = [0; 512];
//! medium.read(3 * SECTOR, &mut read)?;
//! assert_eq!(read, [7; 512]);
//! # Ok::<(), assay_lab::independent::medium::Error>(())
//! ```
//!
//! The choices that were made where the documents are silent are listed at the top of [truths], [judge] and [campaign].

pub mod caches;
pub mod campaign;
pub mod card;
pub mod content;
pub mod error;
pub mod faults;
pub mod judge;
pub mod maps;
pub mod medium;
pub mod numbers;
pub mod pools;
pub mod report;
pub mod spec;
pub mod truths;
