//! fio 2 and 3: its text, JSON and JSON+, terse versions 3 to 5, and several of them in one output.
//!
//! Fields and units: fio's manual, chapters "Interpreting the output" and "Terse output",
//! <https://fio.readthedocs.io/en/latest/fio_doc.html>, and outputs made with 3.33.
//!
//! A section is what one call of fio printed. Where it printed a result in several forms the one with most in it
//! counts. The sum of a group, which is printed last, is read where nothing else of it is there. `--status-interval` prints what was done since the start, again and again: the last of it counts.

mod command;
mod job;
mod load;
mod machine;
mod printed;
mod run;
mod status;
mod text;

use crate::report::{Format, Section};
use crate::text::Text;

/// fio.
pub(crate) struct Fio;

impl Format for Fio {
    fn name(&self) -> &'static str {
        printed::NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &[
            "fio-",
            "groupid",
            "ioengine",
            "iodepth",
            "clat",
            "msec",
            "\"fio version\"",
            "iops=",
            "bw=",
            "run status group",
        ]
    }

    fn needs(&self) -> &'static str {
        "a line `read: IOPS=…, BW=…`, the first line of a result (`groupid=`), its JSON or terse form"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        run::begins(text, at) || status::begins_status(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        run::read(text, at)
    }
}
