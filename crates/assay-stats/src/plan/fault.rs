//! Why there is no plan or answer.

use std::fmt;

use crate::decide::Refusal;

/// Why a plan cannot be made.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// A value, or a number of values, that is not valid.
    Input(Refusal),
    /// More rounds than slots: a unit would be in a slot twice.
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
    /// Units and slots fall into unconnected parts, so that their effects cannot be separated.
    NotConnected,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(refusal) => refusal.fmt(f),
            Self::MoreRoundsThanSlots { rounds, slots } => write!(
                f,
                "{rounds} rounds need as many slots for each unit to meet a new one, there are {slots}: ask for fewer \
                 rounds or let cards stay in their slots"
            ),
            Self::WrongSlot { unit } => write!(f, "unit {unit} is planned for a wrong slot"),
            Self::DoubleBooking { round, wave, slot } => {
                write!(f, "slot {slot} is planned twice in round {round}, wave {wave}")
            }
            Self::NotConnected => write!(
                f,
                "units and slots cannot be separated: groups of units share no slot; use more units or more rounds"
            ),
        }
    }
}

impl std::error::Error for Fault {}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Input(refusal)
    }
}
