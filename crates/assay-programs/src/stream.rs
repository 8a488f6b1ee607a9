//! What `dd if=/dev/zero of=FILE bs=… count=… conv=fsync` does: zeros are written through the page cache, one block a
//! call, and the time ends with the sync (coreutils manual, `dd invocation`).

use std::io::Write;

use crate::names::STREAM;
use crate::trouble::Trouble;
use crate::work::{Done, Figure, Work};
use assay_device::owned::Caching;

pub(crate) fn run(block: u64, count: u32, work: &Work) -> Result<Done, Trouble> {
    let place = work.place()?;
    let zeros = vec![0_u8; usize::try_from(block).unwrap_or(usize::MAX)];
    let start = work.mark();
    let mut file = place.create_file(STREAM, Caching::Cached)?;
    let mut blocks = 0_u32;
    while blocks < count && !work.step()? {
        file.write_all(&zeros).map_err(Trouble::io("writing a stream"))?;
        blocks += 1;
    }
    file.sync_all().map_err(Trouble::io("syncing a stream"))?;
    let timed = work.since(&start);
    drop(file);
    place.remove(STREAM)?;
    if blocks == 0 {
        return Err(Trouble::slow());
    }
    let written_bytes = u64::from(blocks) * block;
    let figure = Figure::rate(written_bytes as f64 / 1e6, timed, "MB/s");
    Ok(Done { figures: vec![figure], threads: 1, written_bytes, ..Done::default() })
}
