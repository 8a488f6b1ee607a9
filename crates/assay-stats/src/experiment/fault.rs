//! Why there is no plan or answer.

use std::fmt;

/// What is wrong with what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// A quantity that has to be above zero and finite is not.
    NotPositive {
        /// Which one.
        what: &'static str,
        /// What it was.
        value: f64,
    },
    /// Fewer than it takes.
    TooFew {
        /// Of what.
        what: &'static str,
        /// How many it takes.
        least: usize,
        /// How many there are.
        given: usize,
    },
    /// More rounds than slots: a unit would meet a slot twice.
    MoreRoundsThanSlots {
        /// Rounds asked for.
        rounds: usize,
        /// Slots there are.
        slots: usize,
    },
    /// A unit meets a slot twice, or not the slot it stays in.
    WrongSlot {
        /// Its index.
        unit: usize,
    },
    /// Two units are in one slot at the same time.
    DoubleBooking {
        /// Round, counted from 0.
        round: usize,
        /// Wave, counted from 0.
        wave: usize,
        /// Slot.
        slot: usize,
    },
    /// Units and slots fall into parts that share nothing, so that they cannot be told apart.
    NotConnected,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPositive { what, value } => write!(f, "{what} has to be above zero, not {value}"),
            Self::TooFew { what, least, given } => write!(f, "it takes at least {least} {what}, not {given}"),
            Self::MoreRoundsThanSlots { rounds, slots } => write!(
                f,
                "{rounds} rounds need as many slots for each unit to meet a new one, there are {slots}: ask for fewer \
                 rounds or let cards stay"
            ),
            Self::WrongSlot { unit } => write!(f, "unit {unit} is planned for a wrong slot"),
            Self::DoubleBooking { round, wave, slot } => {
                write!(f, "slot {slot} is planned twice in round {round}, wave {wave}")
            }
            Self::NotConnected => write!(
                f,
                "units and slots cannot be told apart: groups of units share no slot; use more units or more rounds"
            ),
        }
    }
}

impl std::error::Error for Fault {}

pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, Fault> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(Fault::NotPositive { what, value }) }
}

pub(crate) fn at_least(what: &'static str, least: usize, given: usize) -> Result<(), Fault> {
    if given >= least { Ok(()) } else { Err(Fault::TooFew { what, least, given }) }
}
