//! Records on their way to a public instance of assay.
//!
//! A record is sent with consent, document by document, and what was sent is kept until the site has given a receipt for it:
//! [`Outbox`] holds both. [`Client`] speaks to a [`Site`] by the API of docs/public.md.

mod accounts;
mod client;
mod deliver;
mod figures;
mod outbox;
mod site;

pub use accounts::{Account, Accounts};
pub use client::{Client, ClientError, Delivered, Profile};
pub use deliver::Step;
pub use figures::{Figures, FiguresError, Scope, figures};
pub use outbox::{Entry, Outbox, OutboxError, Status};
pub use site::{Publication, Reason, Receipt, Refusal, Site, SiteError};
