#!/bin/sh
# What compiles for macOS goes on to do so: a check without a linker. Nothing is run.
#   tests/macos.sh [CRATE…]   those below where none is named
set -eu
cd "$(dirname "$0")/.."
. packaging/tools.sh
triple=aarch64-apple-darwin

if ! has_std $triple; then
    echo "SKIP: check for macOS: needs rustup target add $triple"
    exit 0
fi
[ $# -gt 0 ] || set -- assay-core assay-stats assay-engine assay-device
for crate in "$@"; do
    cargo check --locked --quiet --target $triple -p "$crate"
done
echo "check for macOS ok: $*"
