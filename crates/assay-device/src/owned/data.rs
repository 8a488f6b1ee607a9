//! Copies of sparse files: a few bytes in an archive can make a file of any size.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::system;

/// Bytes that are copied at once.
const PIECE: u64 = 4 << 20;

/// Copies the data of a file to a new one with the same holes. Before each piece, `may` is asked whether that many more
/// bytes may be written. Returns the number of bytes written.
///
/// # Errors
/// Those of `may`, and the system's.
pub fn copy_data<E: From<io::Error>>(
    from: &File,
    to: &File,
    may: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<u64, E> {
    let (mut source, mut target) = (from, to);
    let bytes = from.metadata()?.len();
    let (mut at, mut written) = (0, 0);
    while let Some((begin, end)) = system::next_data(from, at, bytes)? {
        source.seek(SeekFrom::Start(begin))?;
        target.seek(SeekFrom::Start(begin))?;
        at = begin;
        while at < end {
            let piece = PIECE.min(end - at);
            may(piece)?;
            let copied = io::copy(&mut Read::take(source, piece), &mut target)?;
            written += copied;
            if copied < piece {
                // It was truncated meanwhile.
                to.set_len(at + copied)?;
                target.flush()?;
                return Ok(written);
            }
            at += piece;
        }
    }
    to.set_len(bytes)?;
    Ok(written)
}

#[cfg(all(test, not(windows)))]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn holes_stay_holes_and_what_may_not_be_written_is_not() {
        let (from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        from.set_len(50 << 30).unwrap();
        from.write_all_at(b"begin", 0).unwrap();
        from.write_all_at(b"end", (40 << 30) + 7).unwrap();
        let mut asked = 0;
        let written = copy_data::<io::Error>(&from, &to, &mut |bytes| {
            asked += bytes;
            Ok(())
        })
        .unwrap();
        assert!(written == asked && written < 1 << 20, "{written} of {asked}");
        assert_eq!(to.metadata().unwrap().len(), 50 << 30);
        let mut text = [0; 3];
        to.read_exact_at(&mut text, (40 << 30) + 7).unwrap();
        assert_eq!(&text, b"end");
        let full: io::Result<u64> =
            copy_data(&from, &tempfile::tempfile().unwrap(), &mut |_| Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn all_of_a_file_without_holes_is_copied() {
        let (mut from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let text: Vec<u8> = (0..9_000_001_u32).map(|n| (n / 7) as u8).collect();
        from.write_all(&text).unwrap();
        assert_eq!(copy_data::<io::Error>(&from, &to, &mut |_| Ok(())).unwrap(), text.len() as u64);
        let mut back = vec![0; text.len()];
        to.read_exact_at(&mut back, 0).unwrap();
        assert!(back == text);
        assert_eq!(copy_data::<io::Error>(&tempfile::tempfile().unwrap(), &to, &mut |_| Ok(())).unwrap(), 0);
    }
}
