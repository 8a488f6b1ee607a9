//! `assay serve`: the store in a browser. Media, records and answers are pages, questions are forms, and a medium is measured or
//! checked from the page, by the same program that the command line starts.
//!
//! Nothing is computed here: what a page says comes from [`Program`], which answers the words of the command line.

mod access;
mod app;
mod browse;
mod connections;
mod fleets;
mod form;
mod jobs;
mod live;
mod measure;
mod page;
mod plans;
mod program;
mod questions;
mod routes;
mod server;
mod watch;

pub use access::{Access, Secret, TOKEN_LEAST};
pub use connections::{Answering, Place as ConnectionPlace, Places};
pub use page::STYLE;
pub use program::{Answer, FleetRunLine, KeptPlan, MOST_COMPARED, NewPlan, Place, Program, Refusal, SuiteLine};
pub use questions::commands;
pub use server::{Listen, Peer, ServeError, Server, Tls, TlsError, answer_all};
