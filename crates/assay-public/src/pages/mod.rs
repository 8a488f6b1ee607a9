//! Pages for people. What they say of rankings, comparisons and records is made by the code that makes the command's answers;
//! they rest on a snapshot, which each of them cites.

mod answers;
mod frame;
mod media;
mod pictures;
mod records;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

pub(crate) use answers::{compare, rank};
pub(crate) use frame::{Missing, asset, missing};
pub(crate) use media::{host, hosts, model, models, prepare, unit};
pub(crate) use pictures::{badge, ranking as ranking_picture};
pub(crate) use records::{about, data, data_file, log, record};

use crate::answers::Failure;
use crate::app::App;

type Shared = State<Arc<App>>;
type Answer = Result<Response, Missing>;
/// A part of the address; where it cannot be read, a page says so.
type Of<T> = Result<T, Failure>;
