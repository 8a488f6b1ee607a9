#!/bin/sh
# What comes into assay from elsewhere, by deny.toml, where cargo-deny is installed (cargo install cargo-deny).
# Advisories are looked at where their database is present (cargo deny fetch); nothing is fetched here.
set -eu
if ! cargo deny --version > /dev/null 2>&1; then
    echo "SKIP: supply chain: needs cargo-deny"
    exit 0
fi
cargo deny --locked check bans licenses sources
if ls -d "${CARGO_HOME:-$HOME/.cargo}"/advisory-dbs/*/.git > /dev/null 2>&1; then
    cargo deny --locked --offline check advisories
else
    echo "SKIP: advisories: needs their database (cargo deny fetch)"
fi
