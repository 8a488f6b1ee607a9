//! Rankings of published figures and of records made up for the purpose.

mod campaign;
mod misfortune;
mod pibenchmarks;
mod records;
mod seeds;
