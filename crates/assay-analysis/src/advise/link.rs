//! The wire to a volume or a node.

use assay_stats::decide::{Refusal, positive};
use serde::Serialize;

/// Payload of a full Ethernet frame over its length on the wire with preamble and gap: TCP over
/// IPv4 with time stamps, 1448 of 1538 bytes (IEEE 802.3; RFC 9293 and RFC 7323).
pub(super) const ETHERNET: f64 = 1448.0 / 1538.0;

/// The known rate of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "known_by", content = "bytes_per_second")]
pub enum Link {
    /// Its line rate in bytes per second; TCP over Ethernet leaves 94.1 % of it.
    Line(f64),
    /// Its payload in bytes per second.
    Payload(f64),
}

impl Link {
    /// Bytes of payload per second.
    #[must_use]
    pub fn payload(self) -> f64 {
        match self {
            Self::Line(rate) => rate * ETHERNET,
            Self::Payload(rate) => rate,
        }
    }

    /// The same, where the rate is above zero and finite.
    pub(super) fn known_payload(self) -> Result<f64, Refusal> {
        match self {
            Self::Line(rate) => positive("the line rate", rate)?,
            Self::Payload(rate) => positive("the payload rate", rate)?,
        };
        Ok(self.payload())
    }
}
