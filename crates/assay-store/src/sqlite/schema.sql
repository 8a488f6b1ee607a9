-- The tables of store version 1.
CREATE TABLE record (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    created    TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    title      TEXT NOT NULL,
    kind       TEXT NOT NULL,
    product    TEXT,
    unit       TEXT,
    host       TEXT,
    slot       TEXT,
    suite      TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    verdict    TEXT NOT NULL
) STRICT;
CREATE INDEX record_by_time ON record (created_us, number);

CREATE TABLE document (
    record INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
    json   TEXT NOT NULL
) STRICT;

-- Parts of a run under way that grow: see parts.rs.
CREATE TABLE part (
    number INTEGER PRIMARY KEY,
    series TEXT NOT NULL,
    json   TEXT NOT NULL
) STRICT;

-- What is read of a record instead of its document: see observation.rs.
CREATE TABLE observation (
    record    INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
    head      TEXT NOT NULL,
    repeats   TEXT NOT NULL,
    latencies TEXT NOT NULL
) STRICT;

CREATE TABLE label (
    record INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (record, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_by_value ON label (key, value COLLATE NOCASE);

CREATE TABLE run (
    record        INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
    pid           INTEGER NOT NULL,
    start_time    INTEGER NOT NULL,
    boot_id       TEXT NOT NULL,
    host          TEXT NOT NULL,
    pid_namespace TEXT NOT NULL,
    scratch       BLOB
) STRICT;

CREATE TABLE secret (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
