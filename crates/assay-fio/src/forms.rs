//! Values of options that have a form of their own.

use assay_core::blocks::{BlockShare, Blocks};
use assay_core::distribution::Distribution;
use assay_core::text::quoted;
use assay_core::workload::{Op, Pattern};

use crate::given::Given;
use crate::values::size;

/// What `rw` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) op: Op,
    pub(crate) pattern: Pattern,
    /// Bytes that a stream leaves out after each operation; negative where it goes back.
    pub(crate) skip: i64,
}

/// The kind of load: `randread`, or `write:112k` for a stream with gaps.
pub(crate) fn load(option: Given<'_, '_>) -> Result<Load, String> {
    let text = option.text()?;
    let (kind, more) = text.split_once(':').unwrap_or((text, ""));
    let (op, pattern) = match kind {
        "read" => (Op::Read, Pattern::Sequential),
        "write" => (Op::Write, Pattern::Sequential),
        "randread" => (Op::Read, Pattern::Random),
        "randwrite" => (Op::Write, Pattern::Random),
        "rw" | "readwrite" => (Op::Mixed, Pattern::Sequential),
        "randrw" => (Op::Mixed, Pattern::Random),
        _ => {
            return Err(format!(
                "rw {} does not map; use read, write, rw, randread, randwrite or randrw",
                quoted(text)
            ));
        }
    };
    let (sign, bytes) = more.strip_prefix('-').map_or((1, more), |rest| (-1, rest));
    let skip = match (pattern, more) {
        (_, "") => 0,
        (Pattern::Sequential, _) => {
            let bytes = size(bytes, option.base).map_err(|message| option.named(message))?;
            sign * i64::try_from(bytes).map_err(|_| option.named(format!("{} is too large", quoted(text))))?
        }
        // This number of operations in a row begins at a random place.
        (Pattern::Random, "1") => 0,
        (Pattern::Random, _) => {
            return Err(format!("rw {}: runs of random places do not map; use bssplit or rw={kind}", quoted(text)));
        }
    };
    Ok(Load { op, pattern, skip })
}

/// Sizes with their shares, or a single size.
pub(crate) fn split(option: Given<'_, '_>, text: &str) -> Result<Blocks, String> {
    let named = |message: String| if message.starts_with(option.key) { message } else { option.named(message) };
    let blocks = Blocks::read(text, |bytes| option.block(bytes)).map_err(named)?;
    if !blocks.is_empty() {
        return Ok(blocks);
    }
    // All operations have one size; the other sizes have a share of 0.
    let entries = text.split(':').map(|entry| entry.split_once('/').unwrap_or((entry, "")));
    let share = |percent: &str| percent.trim().parse::<f64>().unwrap_or(50.0);
    let all = entries.max_by(|(_, one), (_, other)| share(one).total_cmp(&share(other)));
    Blocks::one(option.block(all.map_or("", |(size, _)| size.trim()))?).map_err(named)
}

/// Sizes between two, each as frequent as any other; with the smaller one.
pub(crate) fn range(option: Given<'_, '_>, text: &str) -> Result<(u64, Blocks), String> {
    let wrong = || format!("bsrange {} must be two sizes, like 4k-64k", quoted(text));
    let (least, most) = text.split_once('-').ok_or_else(wrong)?;
    let (least, most) = (option.block(least)?, option.block(most)?);
    if least > most || !most.is_multiple_of(least) || most / least > 64 {
        return Err(format!(
            "bsrange {} must end at a multiple of where it begins, at most 64 times; use bssplit",
            quoted(text)
        ));
    }
    let sizes = most / least;
    let shares = (1..=sizes).map(|n| BlockShare { block_bytes: n * least, percent: 100.0 / sizes as f64 });
    Ok((least, Blocks::new(shares).map_err(|message| option.named(message))?))
}

/// Whether a stream has zones; those of zoned devices are another thing.
pub(crate) fn zones(option: Given<'_, '_>) -> Result<bool, String> {
    match option.text()? {
        "none" => Ok(false),
        "strided" => Ok(true),
        other => {
            let other = quoted(other);
            Err(format!("option `zonemode` does not map with {other}; use strided, or run the file with fio"))
        }
    }
}

pub(crate) fn distribution(text: &str) -> Result<Distribution, String> {
    let wrong = || {
        format!(
            "random_distribution {} does not map; use random, zipf:THETA, pareto:H, normal:PERCENT or zoned:OPERATIONS/AREA:…",
            quoted(text)
        )
    };
    // Other zones for writes (`zoned:…,…`) and a centre (`zipf:1.1:0.3`) are none of assay's.
    Distribution::from_fio(text).map_err(|_| wrong())
}

/// Paths, as fio takes them: `:` divides several unless a backslash stands before it, `$` begins a variable, `-` is
/// standard input.
pub(crate) fn paths(option: Given<'_, '_>) -> Result<Vec<String>, String> {
    let text = option.text()?;
    if text == "-" {
        return Err(option.named("standard input does not map; name a file or a device".to_owned()));
    }
    let mut all = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(escaped @ (':' | '\\')) => all.last_mut().into_iter().for_each(|path| path.push(escaped)),
                _ => return Err(option.named(format!("{} is not a plain path; write it out", quoted(text)))),
            },
            ':' => all.push(String::new()),
            '$' => return Err(option.named(format!("{} is not a plain path; write it out", quoted(text)))),
            letter => all.last_mut().into_iter().for_each(|path| path.push(letter)),
        }
    }
    if all.iter().any(String::is_empty) {
        return Err(option.named(format!("{} names a place without a name", quoted(text))));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(key: &'static str, text: &'static str) -> Given<'static, 'static> {
        Given { key, value: Some(text), line: 1, base: 1024 }
    }

    #[test]
    fn a_colon_divides_paths_unless_it_is_escaped() {
        let of = |text| paths(given("filename", text));
        assert_eq!(of("/dev/a:/dev/b").unwrap(), ["/dev/a", "/dev/b"]);
        assert_eq!(of("/dev/bsg/0\\:0\\:0\\:0").unwrap(), ["/dev/bsg/0:0:0:0"]);
        for text in ["-", "a:", "$x", "a\\n", "a\\"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_stream_may_leave_bytes_out_or_go_back() {
        let of = |text| load(given("rw", text)).map(|load| load.skip);
        assert_eq!((of("write:112k"), of("read:-8k"), of("rw")), (Ok(112 << 10), Ok(-8192), Ok(0)));
        assert!(of("randread:8").is_err() && of("read:x").is_err() && of("erase").is_err());
    }
}
