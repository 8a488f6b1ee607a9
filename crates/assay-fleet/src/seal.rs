//! The seal of what one side sends after both have shown the key: ChaCha20-Poly1305 (RFC 8439) under a key of the
//! connection and of its direction, with the number of the frame as nonce.

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit};

use crate::key::{Greeting, NodeKey, Purpose};

/// Bytes that the seal adds to a frame.
pub(crate) const TAG: usize = 16;

/// Seals or opens the frames of one direction, in their order.
pub(crate) struct Seal {
    cipher: ChaCha20Poly1305,
    /// Frames by now: none is opened in another's place.
    count: u64,
}

/// A frame is not the next that the holder of the key sent this way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotSealed;

impl Seal {
    /// The seal of the direction that `purpose` names.
    pub(crate) fn new(key: &NodeKey, purpose: Purpose, greeting: &Greeting<'_>) -> Self {
        let key: [u8; 32] = key.says(purpose, greeting).into();
        Self { cipher: ChaCha20Poly1305::new(&key.into()), count: 0 }
    }

    /// Seals `frame` in place, and adds the tag. `header` is sent in the clear, and is sealed with it.
    pub(crate) fn close(&mut self, header: &[u8], frame: &mut Vec<u8>) -> Result<(), NotSealed> {
        let nonce = self.next().ok_or(NotSealed)?;
        let tag = self.cipher.encrypt_inout_detached(&nonce.into(), header, frame.as_mut_slice().into());
        frame.extend_from_slice(&tag.map_err(|_| NotSealed)?);
        Ok(())
    }

    /// Opens `frame` in place, and takes the tag off. Where it fails nothing that follows can be opened.
    pub(crate) fn open(&mut self, header: &[u8], frame: &mut Vec<u8>) -> Result<(), NotSealed> {
        let nonce = self.next().ok_or(NotSealed)?;
        let opened = frame.len().checked_sub(TAG).and_then(|length| {
            let tag: [u8; TAG] = frame.split_off(length).try_into().ok()?;
            let opened =
                self.cipher.decrypt_inout_detached(&nonce.into(), header, frame.as_mut_slice().into(), &tag.into());
            opened.ok()
        });
        if opened.is_none() {
            self.count = u64::MAX;
        }
        opened.ok_or(NotSealed)
    }

    /// Four zeros and the number of the frame, from 0, its least byte first; none after the last.
    fn next(&mut self) -> Option<[u8; 12]> {
        let number = self.count;
        self.count = number.checked_add(1)?;
        let mut nonce = [0u8; 12];
        nonce[4..].copy_from_slice(&number.to_le_bytes());
        Some(nonce)
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RunKey;

    const GREETING: Greeting<'_> = Greeting { protocol: 3, version: "1.0", run: "r", node: "n1", nonces: ["ab", "cd"] };

    fn pair() -> (Seal, Seal) {
        let key = RunKey::new().unwrap().of_node("n1");
        let seal = || Seal::new(&key, Purpose::ToNode, &GREETING);
        (seal(), seal())
    }

    fn closed(seal: &mut Seal, text: &[u8]) -> Vec<u8> {
        let mut frame = text.to_vec();
        seal.close(b"h", &mut frame).unwrap();
        frame
    }

    #[test]
    fn frames_open_in_their_order_and_hide_what_they_hold() {
        let (mut here, mut there) = pair();
        for text in [&b"first"[..], b"", b"the third"] {
            let mut frame = closed(&mut here, text);
            assert!(text.is_empty() || !frame.windows(text.len()).any(|part| part == text));
            there.open(b"h", &mut frame).unwrap();
            assert_eq!(frame, text);
        }
        assert_ne!(closed(&mut here, b"same"), closed(&mut here, b"same"));
    }

    /// Each bit of the frame, its header, a frame twice, one left out, one of the other direction.
    #[test]
    fn what_was_changed_does_not_open_and_nothing_after_it() {
        let (mut here, _) = pair();
        let good = closed(&mut here, b"text");
        let refused = |change: &dyn Fn(&mut Vec<u8>), header: &[u8]| {
            let (mut here, mut there) = pair();
            let mut frame = closed(&mut here, b"text");
            change(&mut frame);
            assert_eq!(there.open(header, &mut frame), Err(NotSealed));
            assert_eq!(there.open(b"h", &mut closed(&mut here, b"next")), Err(NotSealed), "after it");
        };
        for bit in 0..good.len() * 8 {
            refused(&|frame| frame[bit / 8] ^= 1 << (bit % 8), b"h");
        }
        for length in 0..good.len() {
            refused(&|frame| frame.truncate(length), b"h");
        }
        refused(&|frame| frame.push(0), b"h");
        refused(&|_| {}, b"g");
        let (mut here, mut there) = pair();
        let first = closed(&mut here, b"a");
        there.open(b"h", &mut first.clone()).unwrap();
        assert_eq!(there.open(b"h", &mut first.clone()), Err(NotSealed), "twice");
        let (mut here, mut there) = pair();
        let _left_out = closed(&mut here, b"a");
        assert_eq!(there.open(b"h", &mut closed(&mut here, b"b")), Err(NotSealed));
        let key = RunKey::new().unwrap().of_node("n1");
        let mut back = Seal::new(&key, Purpose::ToCoordinator, &GREETING);
        let mut frame = closed(&mut Seal::new(&key, Purpose::ToNode, &GREETING), b"a");
        assert_eq!(back.open(b"h", &mut frame), Err(NotSealed), "the other way");
    }

    #[test]
    fn no_number_is_used_twice() {
        let (mut here, _) = pair();
        here.count = u64::MAX - 1;
        here.close(b"h", &mut Vec::new()).unwrap();
        assert_eq!(here.close(b"h", &mut Vec::new()), Err(NotSealed));
    }
}
