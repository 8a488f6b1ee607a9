//! Common words that identify nothing by themselves.

use super::path;

/// Whether a name of a host, user or directory is also a word in the sentences of assay. Replacing it there would hide
/// nothing and garble the sentences.
pub(super) fn is_plain(identity: &str) -> bool {
    let identity = identity.to_ascii_lowercase();
    path::WORDS.contains(&identity.as_str()) || WORDS.split_ascii_whitespace().any(|word| word == identity)
}

/// Words of findings and verdicts, systems and makers, in alphabetical order.
const WORDS: &str = "\
    alpine another answer answers arch area armbian assay backup before bench block blocks board boot buffer build bytes \
    cache cached card cards check checks clock cluster command counts current damaged data debian depth device devices \
    direct directory disk disks drive driver drives dropped durable encryption engine engines error errors export failed \
    fake fedora file files filesystem find first fixed flash found free full genuine genuinely good guest held here high \
    hold holds home host hosts image import index instrument interrupted invalid jobs journal kali kept kernel kind \
    kingston last latency later layer layout leave left length level limit limits linked linux list load loads local \
    lost machine main media medium member memory meter minutes missing mode model most mount mounted move name names \
    network nobody node nodes noise none nothing number numbers offset once only open operations original other others \
    owner page pages part partition parts past path plain plan plug point pool port power probe process processor \
    program programs proof public queue quick random raspbian rate read reader reads real reason record records repeat \
    repeats report rest result results root round route same sample samsung sandisk save scratch second seconds sector \
    sectors sensor server service share shared show single size slot slots slow soak some space spare speed stage start \
    stick storage store suite suspect swap sync system systems table tables task temp temperature test tested tests text \
    there this thread threads time times tool total true truth type ubuntu unit units unknown used user users valid \
    value verify version volume volumes wait wall when which whole window with within without word words work workload \
    works write writer writes written zero zone \
    ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_order_and_none_is_a_name() {
        let words: Vec<&str> = WORDS.split_ascii_whitespace().collect();
        assert!(words.is_sorted() && words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase())));
        assert!(is_plain("check") && is_plain("Card") && is_plain("data"));
        for name in ["alice", "node7", "DEADBEEF", "checker", "data7", "sn0353443"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
