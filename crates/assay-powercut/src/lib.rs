//! Power cuts: a load of writes whose intents and acknowledgements are kept elsewhere, and the judgement of what the medium
//! holds after the power was cut. `docs/powercut.md` has the formats.

mod entry;
mod layout;
mod ledger;
mod load;
mod look;
mod place;
mod remote;
mod report;
mod round;
mod sector;
mod state;
mod verdict;

pub use entry::{Checked, Entry};
pub use layout::{BLOCK, Batch, Draw, GROUP, Layout, Piece, SECTORS};
pub use ledger::{FileKeep, Keep, Ledger, LedgerError, Replayed, replay};
pub use load::{Leftover, Load, Stop, Writer, fill};
pub use look::{Seen, look, unit_on};
pub use place::{FilePlace, Place};
pub use remote::{Keeper, RemoteKeep};
pub use report::{Answer, Cannot, CutKind, CutReport, Example, FileSystem, NotShown, PowerCuts, Unacknowledged};
pub use round::{Begin, Ended, LoadEnd, Mode, Round, Target};
pub use sector::{Damage, Sector, sector};
pub use state::{Acknowledged, Held, Pending, State};
pub use verdict::{Circumstances, judge};
