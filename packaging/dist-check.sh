#!/bin/sh
# Builds the distribution in this directory and in a copy of it elsewhere, and fails where a byte differs.
#   packaging/dist-check.sh [TARGET…]      x86_64 where none is named
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- x86_64
other=$(mktemp -d "${TMPDIR:-/tmp}/assay-dist-check.XXXXXX")
trap 'rm -rf "$other"' EXIT
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
unset CARGO_TARGET_DIR
# The same commit, and what is changed and not committed.
git clone --quiet . "$other"
git ls-files --cached --others --exclude-standard -z | tar --create --null --files-from=- |
    tar --extract --directory "$other"
sh packaging/dist.sh "$@"
(cd "$other" && sh packaging/dist.sh "$@")
if ! diff target/dist/SHA256SUMS "$other/target/dist/SHA256SUMS"; then
    echo "dist-check: $*: another directory gave other bytes" >&2
    exit 1
fi
echo "dist-check: $*: the same bytes from two directories"
