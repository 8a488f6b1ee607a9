//! The last words of a program.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The number of bytes that are kept.
const MOST: usize = 16 << 10;
/// How often it is looked whether more may come.
const LOOK: Duration = Duration::from_millis(5);

/// The last output of a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    /// Nothing more will come.
    ended: bool,
}

impl Tail {
    /// Keeps the last of what comes.
    pub(crate) fn follow(&self, mut from: impl Read + Send + 'static) -> std::io::Result<()> {
        let kept = Arc::clone(&self.0);
        let work = move || {
            let mut bytes = [0u8; 4096];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                let kept = &mut kept.lock().unwrap_or_else(PoisonError::into_inner).bytes;
                kept.extend_from_slice(&bytes[..count]);
                let beyond = kept.len().saturating_sub(MOST);
                kept.drain(..beyond);
            }
            kept.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        };
        std::thread::Builder::new().spawn(work).map(drop)
    }

    /// As text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner).bytes).into_owned()
    }

    /// The same of a program that has ended: its last words may still be on their way, for this long at most, as a child of it
    /// may keep its output open.
    pub(crate) fn last(&self, within: Duration) -> String {
        let end = Instant::now() + within;
        while !self.0.lock().unwrap_or_else(PoisonError::into_inner).ended && Instant::now() < end {
            std::thread::sleep(LOOK);
        }
        self.text()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Gives each part when it is let go.
    struct Slow(std::sync::mpsc::Receiver<()>, VecDeque<&'static [u8]>);

    impl Read for Slow {
        fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
            let _ = self.0.recv();
            let part = self.1.pop_front().unwrap_or_default();
            bytes[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    /// A program may have ended before its words are here.
    #[test]
    fn words_that_are_on_their_way_are_waited_for() {
        let (let_go, gate) = std::sync::mpsc::channel();
        let tail = Tail::default();
        tail.follow(Slow(gate, [&b"Exec format "[..], &b"error\n"[..]].into())).unwrap();
        assert_eq!(tail.last(Duration::ZERO), "");
        let waits = std::thread::spawn({
            let tail = tail.clone();
            move || tail.last(Duration::from_secs(600))
        });
        drop(let_go);
        assert_eq!(waits.join().unwrap(), "Exec format error\n");
    }
}
