//! What died: the medium, or something between it and this program. Without evidence for the medium, the end is censored.

use assay_core::endurance::{CensorReason, DeathCause, LifeEnd};

use crate::medium::Trouble;

/// What was seen of a medium that is looked at for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sight {
    /// Nothing was looked at.
    #[default]
    None,
    /// It works.
    Works,
    /// It does not.
    Fails,
}

/// Another medium that should work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Control {
    /// Whether it does, after the trouble began.
    pub sight: Sight,
    /// Whether it is in the same reader. One that shares only a hub or a host says nothing of the reader.
    pub same_reader: bool,
    /// Whether it was written, too.
    pub written: bool,
}

/// A cause that the kernel log names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelSign {
    /// A controller or hub of the host gave up, or had too much current drawn from it.
    Bus,
    /// The reader was reset or disconnected.
    Reader,
    /// The medium reported an error.
    Medium,
}

impl KernelSign {
    /// What a line of the kernel log says; `None` if nothing that helps.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        let line = line.to_lowercase();
        let any = |words: &[&str]| words.iter().any(|word| line.contains(word));
        // drivers/usb/host/xhci-ring.c, drivers/usb/core/hub.c, drivers/mmc/core, drivers/scsi/scsi_logging.c.
        if any(&["host controller not responding", "hc died", "over-current", "host system error"]) {
            return Some(Self::Bus);
        }
        if any(&["medium error", "unrecovered read error", "write error", "write protected", "card stuck"]) {
            return Some(Self::Medium);
        }
        any(&["usb disconnect", "reset high-speed", "reset superspeed", "reset full-speed", "device not accepting"])
            .then_some(Self::Reader)
    }
}

/// What is known of a trouble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// What the medium does.
    pub trouble: Trouble,
    /// Another medium.
    pub control: Control,
    /// The medium itself in another reader.
    pub elsewhere: Sight,
    /// Whether the trouble came back after the medium was attached anew.
    pub attached_anew: bool,
    /// Other media of this program that got into trouble within ten seconds.
    pub together: u32,
    /// Whether the stated time of waiting is over.
    pub waited: bool,
    /// What the kernel said.
    pub kernel: Vec<KernelSign>,
}

impl Evidence {
    /// A trouble without further evidence.
    #[must_use]
    pub fn of(trouble: Trouble) -> Self {
        Self {
            trouble,
            control: Control::default(),
            elsewhere: Sight::None,
            attached_anew: false,
            together: 0,
            waited: false,
            kernel: Vec::new(),
        }
    }
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// It may come back; this is what the user can do meanwhile.
    Wait(Advice),
    /// It is over.
    Ended(LifeEnd),
}

/// What separates the causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Several media vanished together: look at what they share.
    LookAtBus,
    /// The control medium fails too: put both into another reader.
    ChangeReader,
    /// The medium works elsewhere: resume it there.
    ResumeElsewhere,
    /// Unplug it, plug it in; or put it into another reader; or put a medium that works into this reader.
    Separate,
}

/// Judges; see `docs/endurance.md` for the table.
#[must_use]
pub fn judge(evidence: &Evidence) -> Ruling {
    let ended = |end| Ruling::Ended(end);
    let censored = |reason| ended(LifeEnd::Censored { reason });
    let until = |advice, reason| if evidence.waited { censored(reason) } else { Ruling::Wait(advice) };
    if evidence.trouble == Trouble::LogBehind {
        return censored(CensorReason::Host);
    }
    if evidence.trouble == Trouble::Exchanged {
        return until(Advice::Separate, CensorReason::Exchanged);
    }
    if evidence.together > 0 {
        return until(Advice::LookAtBus, CensorReason::Bus);
    }
    if evidence.control.same_reader && evidence.control.sight == Sight::Fails {
        return until(Advice::ChangeReader, CensorReason::Reader);
    }
    if evidence.elsewhere == Sight::Works {
        return until(Advice::ResumeElsewhere, CensorReason::Reader);
    }
    let cause = evidence.trouble.cause();
    let reader_reads = evidence.control.same_reader && evidence.control.sight == Sight::Works;
    let separated = match evidence.trouble {
        // The medium is read through the same reader: what is left is a reader that writes nothing.
        Trouble::RefusesWrites | Trouble::DropsWrites => {
            evidence.attached_anew || (reader_reads && evidence.control.written)
        }
        _ => reader_reads,
    };
    if evidence.elsewhere == Sight::Fails || separated {
        // A bad contact comes back when the medium is pushed in.
        return if evidence.waited { ended(LifeEnd::Died { cause }) } else { Ruling::Wait(Advice::Separate) };
    }
    let bus = evidence.kernel.contains(&KernelSign::Bus) || evidence.control.sight == Sight::Fails;
    until(Advice::Separate, if bus { CensorReason::Bus } else { CensorReason::Unknown })
}

impl Trouble {
    /// How a medium died that does this.
    #[must_use]
    pub fn cause(self) -> DeathCause {
        match self {
            Self::Gone => DeathCause::Vanished,
            Self::Hung => DeathCause::Hung,
            Self::OnlyErrors => DeathCause::Errors,
            Self::LostAll => DeathCause::SilentLoss,
            Self::RefusesWrites | Self::DropsWrites => DeathCause::ReadOnly,
            Self::Exchanged | Self::LogBehind => DeathCause::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(trouble: Trouble) -> Evidence {
        Evidence { waited: true, ..Evidence::of(trouble) }
    }

    const DIED: [(Trouble, DeathCause); 6] = [
        (Trouble::Gone, DeathCause::Vanished),
        (Trouble::Hung, DeathCause::Hung),
        (Trouble::OnlyErrors, DeathCause::Errors),
        (Trouble::LostAll, DeathCause::SilentLoss),
        (Trouble::RefusesWrites, DeathCause::ReadOnly),
        (Trouble::DropsWrites, DeathCause::ReadOnly),
    ];

    #[test]
    fn nothing_is_a_death_that_nothing_separates() {
        for (trouble, _) in DIED {
            let unknown = Ruling::Ended(LifeEnd::Censored { reason: CensorReason::Unknown });
            assert_eq!(judge(&waited(trouble)), unknown);
            assert_eq!(judge(&Evidence::of(trouble)), Ruling::Wait(Advice::Separate));
            // A control on the same hub says nothing of the reader.
            let control = Control { sight: Sight::Works, same_reader: false, written: true };
            assert_eq!(judge(&Evidence { control, ..waited(trouble) }), unknown);
        }
    }

    #[test]
    fn a_control_or_another_reader_makes_it_a_death_after_waiting() {
        for (trouble, cause) in DIED {
            let dead = Ruling::Ended(LifeEnd::Died { cause });
            let control = Control { sight: Sight::Works, same_reader: true, written: true };
            assert_eq!(judge(&Evidence { control, ..waited(trouble) }), dead);
            assert_eq!(judge(&Evidence { elsewhere: Sight::Fails, ..waited(trouble) }), dead);
            let early = Evidence { control, ..Evidence::of(trouble) };
            assert_eq!(judge(&early), Ruling::Wait(Advice::Separate));
        }
    }

    #[test]
    fn a_control_that_was_only_read_does_not_prove_that_the_reader_writes() {
        let control = Control { sight: Sight::Works, same_reader: true, written: false };
        for trouble in [Trouble::RefusesWrites, Trouble::DropsWrites] {
            let unknown = Ruling::Ended(LifeEnd::Censored { reason: CensorReason::Unknown });
            assert_eq!(judge(&Evidence { control, ..waited(trouble) }), unknown);
            let anew = Evidence { control, attached_anew: true, ..waited(trouble) };
            assert_eq!(judge(&anew), Ruling::Ended(LifeEnd::Died { cause: DeathCause::ReadOnly }));
        }
    }

    #[test]
    fn what_the_medium_shares_with_others_is_never_its_death() {
        for (trouble, _) in DIED {
            let fails = Control { sight: Sight::Fails, same_reader: true, written: false };
            let works = Control { sight: Sight::Works, same_reader: true, written: true };
            let cases = [
                (Evidence { control: fails, ..waited(trouble) }, CensorReason::Reader),
                (Evidence { control: fails, attached_anew: true, ..waited(trouble) }, CensorReason::Reader),
                (Evidence { elsewhere: Sight::Works, control: works, ..waited(trouble) }, CensorReason::Reader),
                (Evidence { together: 1, control: works, ..waited(trouble) }, CensorReason::Bus),
                (Evidence { kernel: vec![KernelSign::Bus], ..waited(trouble) }, CensorReason::Bus),
            ];
            for (evidence, reason) in cases {
                assert_eq!(judge(&evidence), Ruling::Ended(LifeEnd::Censored { reason }), "{evidence:?}");
            }
        }
        let exchanged = Ruling::Ended(LifeEnd::Censored { reason: CensorReason::Exchanged });
        assert_eq!(judge(&waited(Trouble::Exchanged)), exchanged);
        let works = Control { sight: Sight::Works, same_reader: true, written: true };
        let anew = Evidence { control: works, attached_anew: true, ..waited(Trouble::LogBehind) };
        assert_eq!(judge(&anew), Ruling::Ended(LifeEnd::Censored { reason: CensorReason::Host }));
    }

    #[test]
    fn lines_of_the_kernel_log_are_told_apart() {
        let cases = [
            ("xhci_hcd 0000:00:14.0: xHCI host controller not responding, assume dead", Some(KernelSign::Bus)),
            ("usb 1-1: USB disconnect, device number 5", Some(KernelSign::Reader)),
            ("usb 1-1-port2: over-current change #1", Some(KernelSign::Bus)),
            ("sd 6:0:0:0: [sdb] tag#0 Sense Key : Medium Error [current]", Some(KernelSign::Medium)),
            ("EXT4-fs (sdb1): mounted filesystem", None),
        ];
        for (line, sign) in cases {
            assert_eq!(KernelSign::of(line), sign, "{line}");
        }
    }
}
