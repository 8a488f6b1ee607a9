//! Caches that hide losses: they answer reads of what was written last, held by the memory or not.
//!
//! Both kinds are seen in the field (f3's issue 50): a few KiB for random writes beside a few MiB
//! for sequential ones.

use std::collections::HashMap;

use crate::probe::{BLOCK, Device, Fault};

const PAGE: usize = BLOCK as usize;

/// The pages written last, written through.
#[derive(Debug, Clone)]
struct Recent {
    most: usize,
    clock: u64,
    pages: HashMap<u64, (u64, Box<[u8]>)>,
    by_age: std::collections::BTreeMap<u64, u64>,
}

impl Recent {
    fn new(bytes: u64) -> Self {
        Self {
            most: (bytes / BLOCK) as usize,
            clock: 0,
            pages: HashMap::new(),
            by_age: std::collections::BTreeMap::new(),
        }
    }

    fn forget(&mut self, page: u64) {
        if let Some((age, _)) = self.pages.remove(&page) {
            self.by_age.remove(&age);
        }
    }

    fn remember(&mut self, page: u64, content: &[u8]) {
        if self.most == 0 {
            return;
        }
        self.forget(page);
        self.clock += 1;
        self.pages.insert(page, (self.clock, content.into()));
        self.by_age.insert(self.clock, page);
        while self.pages.len() > self.most {
            let Some((_, oldest)) = self.by_age.pop_first() else { break };
            self.pages.remove(&oldest);
        }
    }

    /// Lays what is remembered of a read over what the memory answered.
    fn answer(&self, offset: u64, buffer: &mut [u8]) {
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            let inside = (at % BLOCK) as usize;
            let length = (PAGE - inside).min(buffer.len() - done);
            if let Some((_, content)) = self.pages.get(&(at / BLOCK)) {
                buffer[done..done + length].copy_from_slice(&content[inside..inside + length]);
            }
            done += length;
        }
    }

    /// Takes in a write; a page that is written in part is forgotten.
    fn take(&mut self, offset: u64, data: &[u8], wanted: bool) {
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let inside = (at % BLOCK) as usize;
            let length = (PAGE - inside).min(data.len() - done);
            if wanted && length == PAGE {
                self.remember(at / BLOCK, &data[done..done + length]);
            } else {
                self.forget(at / BLOCK);
            }
            done += length;
        }
    }
}

/// Whether writes follow one another.
#[derive(Debug, Clone, Copy)]
struct Follows {
    next: u64,
}

impl Follows {
    /// A write that begins where the last one ended is sequential, and so is a long one.
    fn is_sequential(&mut self, offset: u64, length: usize) -> bool {
        let sequential = offset == self.next || length > 8 * PAGE;
        self.next = offset + length as u64;
        sequential
    }
}

macro_rules! cache {
    ($(#[$doc:meta])* $name:ident, $wants:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name<D> {
            inner: D,
            recent: Recent,
            follows: Follows,
        }

        impl<D: Device> $name<D> {
            /// A cache of `bytes` over `inner`.
            pub fn new(inner: D, bytes: u64) -> Self {
                Self { inner, recent: Recent::new(bytes), follows: Follows { next: u64::MAX } }
            }

            /// The device under it.
            pub fn inner(&self) -> &D {
                &self.inner
            }
        }

        impl<D: Device> Device for $name<D> {
            fn bytes(&self) -> u64 {
                self.inner.bytes()
            }

            fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
                self.inner.read_at(offset, buffer)?;
                self.recent.answer(offset, buffer);
                Ok(())
            }

            fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
                self.inner.write_at(offset, data)?;
                let wants: fn(bool) -> bool = $wants;
                let wanted = wants(self.follows.is_sequential(offset, data.len()));
                self.recent.take(offset, data, wanted);
                Ok(())
            }

            fn sync(&mut self) -> Result<(), Fault> {
                // It keeps answering after a flush: that is what makes it lie.
                self.inner.sync()
            }

            fn present(&mut self) -> bool {
                self.inner.present()
            }
        }
    };
}

cache!(
    /// Keeps what was written here and there.
    CacheOfRandom,
    |sequential| !sequential
);
cache!(
    /// Keeps what was written in sequence.
    CacheOfSequence,
    |sequential| sequential
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Fake, Geometry, Memory};

    fn limbo() -> Fake<Memory> {
        Fake::new(Memory::new(1 << 20, 1), Geometry::limbo(1 << 26, 1 << 20), 0).unwrap()
    }

    fn holds(device: &mut impl Device, offset: u64) -> bool {
        let mut page = [0; PAGE];
        device.read_at(offset, &mut page).unwrap();
        page == [9; PAGE]
    }

    #[test]
    fn a_random_cache_hides_the_last_losses_and_no_more() {
        let mut device = CacheOfRandom::new(limbo(), 2 * BLOCK);
        for offset in [10 << 20, 30 << 20, 20 << 20] {
            device.write_at(offset, &[9; PAGE]).unwrap();
        }
        device.sync().unwrap();
        assert!(!holds(&mut device, 10 << 20));
        assert!(holds(&mut device, 30 << 20) && holds(&mut device, 20 << 20));
        // What is written in sequence does not drive them out.
        device.write_at(40 << 20, &[9; 64 * PAGE]).unwrap();
        assert!(holds(&mut device, 30 << 20) && !holds(&mut device, 40 << 20));
    }

    #[test]
    fn a_sequential_cache_hides_the_end_of_a_run() {
        let mut device = CacheOfSequence::new(limbo(), 2 * BLOCK);
        device.write_at(10 << 20, &[9; 64 * PAGE]).unwrap();
        assert!(!holds(&mut device, 10 << 20));
        assert!(holds(&mut device, (10 << 20) + 63 * BLOCK));
        device.write_at(30 << 20, &[9; PAGE]).unwrap();
        assert!(!holds(&mut device, 30 << 20));
    }
}
