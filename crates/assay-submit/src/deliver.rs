//! One step of an entry: to the site, or back from it.

use jiff::Timestamp;

use crate::client::{Client, ClientError};
use crate::outbox::{Entry, Outbox, OutboxError, Status};
use crate::site::Publication;

/// What a step did.
#[derive(Debug)]
pub struct Step {
    /// The entry as it is kept now.
    pub entry: Entry,
    /// Why the site did not do what was asked; None if it did.
    pub error: Option<ClientError>,
}

impl Outbox {
    /// Sends the document of a waiting entry. The receipt is kept before this returns. An entry that does not wait stays
    /// as it is.
    ///
    /// # Errors
    /// [`OutboxError`] if the result cannot be kept; the entry still waits then, and sending again is harmless.
    pub fn deliver(&self, client: &Client, mut entry: Entry) -> Result<Step, OutboxError> {
        let Status::Waiting { document, attempts } = entry.status else {
            return Ok(Step { entry, error: None });
        };
        let answer = client.deliver(&entry.record, &document, entry.unlisted);
        let error = match answer {
            Ok(delivered) => {
                let (receipt, withdrawal_key) = (delivered.receipt, delivered.withdrawal_key);
                entry.status = Status::Received { receipt, withdrawal_key };
                None
            }
            Err(ClientError::Refused { site, refusal }) => {
                entry.status = Status::Refused { refusal: (*refusal).clone() };
                Some(ClientError::Refused { site, refusal })
            }
            Err(error) => {
                entry.status = Status::Waiting { document, attempts: attempts.saturating_add(1) };
                Some(error)
            }
        };
        self.put(&entry)?;
        Ok(Step { entry, error })
    }

    /// Asks for the receipt of an entry that has arrived.
    ///
    /// # Errors
    /// [`OutboxError`] if the receipt cannot be kept.
    pub fn look(&self, client: &Client, mut entry: Entry) -> Result<Step, OutboxError> {
        let Status::Received { receipt, .. } = &mut entry.status else {
            return Ok(Step { entry, error: None });
        };
        match client.receipt(&entry.record) {
            Ok(now) if now.state == Publication::Withdrawn => entry.status = withdrawn(),
            Ok(now) => *receipt = now,
            Err(error) => return Ok(Step { entry, error: Some(error) }),
        }
        self.put(&entry)?;
        Ok(Step { entry, error: None })
    }

    /// Takes a record back. One that was never sent only leaves the outbox.
    ///
    /// # Errors
    /// [`OutboxError`] if that cannot be kept.
    pub fn withdraw(&self, client: &Client, mut entry: Entry) -> Result<Step, OutboxError> {
        let key = match &entry.status {
            Status::Received { withdrawal_key, .. } => withdrawal_key.as_deref(),
            // An attempt may have arrived although its answer did not.
            Status::Waiting { attempts, .. } if *attempts > 0 => None,
            Status::Waiting { .. } => {
                entry.status = withdrawn();
                self.put(&entry)?;
                return Ok(Step { entry, error: None });
            }
            Status::Refused { .. } | Status::Withdrawn { .. } => return Ok(Step { entry, error: None }),
        };
        let never_arrived = |error: &ClientError| match error {
            ClientError::Refused { refusal, .. } => refusal.status == 404,
            _ => false,
        };
        match client.withdraw(&entry.record, key) {
            Err(error) if !never_arrived(&error) => return Ok(Step { entry, error: Some(error) }),
            _ => entry.status = withdrawn(),
        }
        self.put(&entry)?;
        Ok(Step { entry, error: None })
    }
}

fn withdrawn() -> Status {
    Status::Withdrawn { at: Timestamp::now().to_string() }
}
