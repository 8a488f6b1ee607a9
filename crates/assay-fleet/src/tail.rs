//! The last words of a program.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of bytes that are kept.
const MOST: usize = 16 << 10;

/// The last output of a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    /// Keeps the last of what comes.
    pub(crate) fn follow(&self, mut from: impl Read + Send + 'static) -> std::io::Result<()> {
        let kept = Arc::clone(&self.0);
        let work = move || {
            let mut bytes = [0u8; 4096];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&bytes[..count]);
                let beyond = kept.len().saturating_sub(MOST);
                kept.drain(..beyond);
            }
        };
        std::thread::Builder::new().spawn(work).map(drop)
    }

    /// As text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}
