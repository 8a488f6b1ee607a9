//! An independent model of storage media, and attacks on a program that probes them.
//!
//! It is a second opinion. It was written from `README.md` and `docs/verify.md` alone, without knowledge of
//! assay-verify or of the lab's other media, and uses neither. Where it disagrees with the program, one of the two has
//! misread the documents. A change here needs a reason in the documents, and never one in the program.
//!
//! A [`Medium`](medium::Medium) is a device with a [`Card`](card::Card) in it: a [cache](caches) in front of [faults]
//! in front of an [address map](maps) or a [pool](pools), over a memory with the [owner's content](content). Everything
//! follows from seeds, time is virtual, and only written data take memory.
//!
//! A [`Spec`](spec::Spec) is the description of a medium, drawn by seed, and knows the [truth](truths). The [judge]
//! compares it with the answers and actions of a program: the verdict, the size, and above all the owner's bytes. A
//! [campaign] runs a [program](campaign::Program) on media, kills it, interrupts it and deceives it; a [report] counts.
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
//! Choices where the documents are silent are listed at the top of [truths], [judge] and [campaign].

pub mod caches;
pub mod campaign;
pub mod card;
pub mod faults;
pub mod judge;
pub mod maps;
pub mod medium;
pub mod numbers;
pub mod report;
pub mod spec;
pub mod truths;
