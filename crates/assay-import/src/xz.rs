//! What an xz file asks for, looked at before anything of it is unpacked.
//!
//! The decoder makes the dictionary that the header of a block asks for, up to 4 GiB for a file of some bytes, and takes no
//! limit. So all headers are looked at first. Blocks need not tell their length, but the chunks of LZMA2 tell theirs: they
//! are passed over without being decoded (<https://tukaani.org/xz/xz-file-format.txt>, and for the chunks
//! `lzma2_decoder.c` of xz, which is in the public domain).

/// Largest dictionary that is made, in bytes: that of `xz -9`, and the most that is unpacked.
pub(crate) const LARGEST_DICTIONARY: u64 = 64 << 20;

const MAGIC: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
/// The filter that holds the dictionary, always the last of a block.
const LZMA2: u64 = 0x21;
/// Bytes of the footer of a stream.
const FOOTER: usize = 12;

/// Refuses a file with a block whose dictionary is too large, or one whose blocks cannot be followed: the decoder could not
/// read it either.
///
/// # Errors
/// Why, in words for people.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let mut rest = Rest { bytes, at: 0 };
    loop {
        stream(&mut rest)?;
        // Streams are padded with zeros.
        while rest.bytes.get(rest.at) == Some(&0) {
            rest.at += 1;
        }
        if rest.at == bytes.len() {
            return Ok(());
        }
    }
}

fn stream(rest: &mut Rest<'_>) -> Result<(), String> {
    if rest.take(MAGIC.len())? != MAGIC {
        return Err(damaged());
    }
    let check = match rest.take(6)?.get(1) {
        Some(0) => 0,
        Some(1) => 4,
        Some(4) => 8,
        Some(10) => 32,
        _ => return Err(damaged()),
    };
    let mut blocks = 0_u64;
    loop {
        let header = usize::from(rest.byte()?);
        if header == 0 {
            return index(rest, blocks);
        }
        // The size counts from its own byte on.
        dictionary(rest.take((header + 1) * 4 - 1)?)?;
        let data = rest.at;
        chunks(rest)?;
        rest.pad(data)?;
        rest.take(check)?;
        blocks += 1;
    }
}

/// The filters of a block, by its header without the byte of its size.
fn dictionary(header: &[u8]) -> Result<(), String> {
    let mut rest = Rest { bytes: header, at: 0 };
    let flags = rest.byte()?;
    for told in [0x40, 0x80] {
        if flags & told != 0 {
            rest.number()?;
        }
    }
    let mut last = None;
    for _ in 0..=(flags & 3) {
        if last.is_some_and(|(id, _)| id == LZMA2) {
            return Err(damaged());
        }
        let (id, length) = (rest.number()?, rest.number()?);
        last = Some((id, rest.take(usize::try_from(length).map_err(|_| damaged())?)?));
    }
    let Some((LZMA2, &[size])) = last else { return Err(damaged()) };
    // 2^12, 3 × 2^11, 2^13, 3 × 2^12 …, and 4 GiB less one byte.
    let bytes = match size {
        40 => u64::from(u32::MAX),
        0..40 => u64::from(2 | size & 1) << (size / 2 + 11),
        _ => return Err(damaged()),
    };
    if bytes > LARGEST_DICTIONARY {
        let (asked, most) = (assay_core::units::Bytes(bytes), assay_core::units::Bytes(LARGEST_DICTIONARY));
        return Err(format!("it asks for a dictionary of {asked}, and at most {most} is given"));
    }
    Ok(())
}

/// Passes over the chunks of a block.
fn chunks(rest: &mut Rest<'_>) -> Result<(), String> {
    loop {
        let control = rest.byte()?;
        let length = match control {
            0 => return Ok(()),
            1 | 2 => rest.short()? + 1,
            0x80.. => {
                rest.short()?;
                let packed = rest.short()? + 1;
                // With properties of its own in front.
                packed + usize::from(control >= 0xc0)
            }
            _ => return Err(damaged()),
        };
        rest.take(length)?;
    }
}

/// Passes over the index of a stream with so many blocks, whose first byte was read, and its footer.
fn index(rest: &mut Rest<'_>, blocks: u64) -> Result<(), String> {
    let begun = rest.at - 1;
    if rest.number()? != blocks {
        return Err(damaged());
    }
    for _ in 0..blocks {
        rest.number()?;
        rest.number()?;
    }
    rest.pad(begun)?;
    rest.take(4 + FOOTER)?;
    Ok(())
}

fn damaged() -> String {
    "it is damaged or cut off".to_owned()
}

/// What was not looked at yet.
struct Rest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(length).ok_or_else(damaged)?;
        let taken = self.bytes.get(self.at..end).ok_or_else(damaged)?;
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    fn short(&mut self) -> Result<usize, String> {
        let two = self.take(2)?;
        Ok(usize::from(two[0]) << 8 | usize::from(two[1]))
    }

    /// A number of up to 63 bits, seven in each byte.
    fn number(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    /// Passes over what fills up to four bytes, counted from `begun`.
    fn pad(&mut self, begun: usize) -> Result<(), String> {
        self.take((self.at - begun).next_multiple_of(4) - (self.at - begun)).map(drop)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Read;

    use super::*;

    /// A stream with one block of these bytes as they are, which asks for a dictionary by its code.
    pub(crate) fn stream_of(content: &[u8], size: u8) -> Vec<u8> {
        let mut bytes = [MAGIC, &[0, 0, 0xff, 0x12, 0xd9, 0x41]].concat();
        let header = [2, 0, 0x21, 1, size, 0, 0, 0];
        bytes.extend(header);
        bytes.extend(crc32(&header).to_le_bytes());
        let data = bytes.len();
        for (at, chunk) in content.chunks(1 << 16).enumerate() {
            bytes.push(if at == 0 { 1 } else { 2 });
            bytes.extend(u16::try_from(chunk.len() - 1).unwrap().to_be_bytes());
            bytes.extend(chunk);
        }
        bytes.push(0);
        let unpadded = 12 + bytes.len() - data;
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let mut index = vec![0, 1];
        for mut number in [unpadded, content.len()] {
            while number > 0x7f {
                index.push((number & 0x7f) as u8 | 0x80);
                number >>= 7;
            }
            index.push(number as u8);
        }
        index.resize(index.len().next_multiple_of(4), 0);
        bytes.extend(&index);
        bytes.extend(crc32(&index).to_le_bytes());
        let backward = u32::try_from(index.len() / 4).unwrap().to_le_bytes();
        let footer = [&backward[..], &[0, 0]].concat();
        bytes.extend(crc32(&footer).to_le_bytes());
        bytes.extend(footer);
        bytes.extend(b"YZ");
        bytes
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum()
    }

    fn unpacked(bytes: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        lzma_rust2::XzReader::new(bytes, true).read_to_end(&mut all).unwrap();
        all
    }

    #[test]
    fn dictionaries_up_to_that_of_the_highest_level_are_made() {
        for (code, fine) in [(0, true), (18, true), (28, true), (29, false), (37, false), (40, false), (41, false)] {
            let bytes = stream_of(b"text", code);
            assert_eq!(check(&bytes).is_ok(), fine, "{code}: {:?}", check(&bytes));
            if fine {
                assert_eq!(unpacked(&bytes), b"text", "what is made here is xz");
            }
        }
        let said = check(&stream_of(b"text", 40)).unwrap_err();
        assert_eq!(said, "it asks for a dictionary of 4.00 GiB, and at most 64 MiB is given");
    }

    #[test]
    fn every_block_of_every_stream_is_looked_at() {
        let long: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
        let fine = [stream_of(&long, 18), vec![0; 8], stream_of(b"b", 20)].concat();
        assert_eq!((check(&fine), unpacked(&fine).len()), (Ok(()), long.len() + 1));
        let second = [stream_of(&long, 18), vec![0; 4], stream_of(b"b", 40)].concat();
        assert!(check(&second).unwrap_err().contains("4.00 GiB"));
        // Cut anywhere it is refused, and never panics.
        for end in (0..fine.len() - 1).step_by(7) {
            let _ = check(&fine[..end]);
        }
        assert!(check(&fine[..300]).unwrap_err().contains("cut off"));
    }

    #[test]
    fn what_the_program_packs_passes() {
        let text: Vec<u8> = (0..300_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        let Ok(mut child) = std::process::Command::new("xz")
            .args(["-6", "--block-size=100000", "-c"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
        else {
            println!("SKIP: what_the_program_packs_passes: there is no xz");
            return;
        };
        let mut input = child.stdin.take().unwrap();
        let copy = text.clone();
        let writer = std::thread::spawn(move || std::io::Write::write_all(&mut input, &copy));
        let packed = child.wait_with_output().unwrap().stdout;
        writer.join().unwrap().unwrap();
        assert_eq!(check(&packed), Ok(()));
        assert_eq!(unpacked(&packed), text);
    }
}
