//! What all pages share: the program behind them, who may ask, and what they began.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::access::Access;
use crate::jobs::Jobs;
use crate::program::Program;

/// What all pages share.
pub(crate) struct App {
    pub(crate) program: Box<dyn Program>,
    pub(crate) access: Access,
    pub(crate) jobs: Jobs,
    /// Pages that are made at once.
    pub(crate) turns: Arc<Semaphore>,
    /// Whether the user chose a token, which a page asks for.
    pub(crate) asks_for_token: bool,
}
