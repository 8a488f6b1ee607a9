//! The way to a medium, by which two readings are compared.

use assay_core::retention::SameWay;
use serde::{Deserialize, Serialize};

/// The way to a medium.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Way {
    /// Name of the host.
    #[serde(default)]
    pub host: Option<String>,
    /// The reader that it is in.
    pub reader: Option<String>,
    /// Kind and mode of the bus.
    #[serde(default)]
    pub bus: Option<String>,
}

impl Way {
    /// Whether this way is that one.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> SameWay {
        let same = |one: &Option<String>, other: &Option<String>| Some(one.as_ref()? == other.as_ref()?);
        SameWay {
            host: same(&self.host, &other.host),
            reader: same(&self.reader, &other.reader),
            bus: same(&self.bus, &other.bus),
        }
    }
}
