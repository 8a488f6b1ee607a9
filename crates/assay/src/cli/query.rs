//! What is said of queries in the help of every command that takes one.

/// A query for records of any place, after what the records are for.
macro_rules! query_help {
    ($records:literal) => {
        concat!(
            $records,
            ": last, an id, all, model=…, unit=…, slot=…, suite=…, kind=…, KEY=VALUE of a label, baseline:NAME, \
             published:NAME, or a file; several in quotes have all to match, 'published: model=SanDisk* unit=1,2'"
        )
    };
}

/// A query for records of the store.
macro_rules! stored_query_help {
    ($records:literal) => {
        concat!(
            $records,
            ": last, an id, all, model=…, unit=…, slot=…, suite=…, kind=…, KEY=VALUE of a label",
            stored_query_end!()
        )
    };
}

macro_rules! stored_query_end {
    () => {
        ", or baseline:NAME; several in quotes have all to match, 'suite=quick model=SanDisk* unit=1,2'"
    };
}
