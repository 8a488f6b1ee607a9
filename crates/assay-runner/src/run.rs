//! One run, from its start to the finished record.

use assay_core::record::Record;
use assay_engine::Control;

use crate::emit::Observer;
use crate::error::RunError;
use crate::prepare::Run;
use crate::session::Session;

impl Run {
    /// Runs to the end, or until `control` stops it, and returns the finished record. The test
    /// file is gone when this returns.
    ///
    /// # Errors
    /// [`RunError`] where the test area cannot be made; from then on everything is an outcome.
    pub fn execute(self, control: &Control, observer: &mut dyn Observer) -> Result<Record, RunError> {
        let mut session = Session::begin(self, control, observer)?;
        if session.lay_out() && session.first_reads() {
            session.measure();
            session.run_programs();
        }
        Ok(session.finish())
    }
}
