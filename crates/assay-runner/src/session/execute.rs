//! One run, from its start to the finished record.

use assay_core::record::Record;
use assay_engine::Control;

use crate::emit::Observer;
use crate::error::RunError;
use crate::prepare::Run;
use crate::session::Session;
use crate::together::Rendezvous;

impl Run {
    /// Runs to the end, or until `control` stops it, and returns the finished record. The test
    /// file is gone when this returns. Repeats begin when `rendezvous` says so, where there is one.
    ///
    /// # Errors
    /// [`RunError`] where the test area cannot be made; from then on everything is an outcome.
    pub fn execute<'o>(
        self,
        control: &Control,
        observer: &'o mut dyn Observer,
        rendezvous: Option<&'o mut dyn Rendezvous>,
    ) -> Result<Record, RunError> {
        let mut session = Session::begin(self, control, observer, rendezvous)?;
        if session.lay_out() && session.first_reads() {
            session.measure();
            session.run_programs();
        }
        Ok(session.finish())
    }
}
