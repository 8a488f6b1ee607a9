#!/bin/sh
# What compiles for macOS goes on to do so: a check without a linker. Nothing is run.
#   tests/macos.sh [CRATE…]   the program with all that it needs where none is named
# SQLite is C: what needs it is checked with zig, which has the headers of macOS and is brought by packaging/tools.sh.
set -eu
cd "$(dirname "$0")/.."
. packaging/tools.sh
triple=aarch64-apple-darwin

if ! has_std $triple; then
    echo "SKIP: check for macOS: needs rustup target add $triple"
    exit 0
fi
[ $# -gt 0 ] || set -- assay-core assay-stats assay-engine assay-device assay-verify assay-store assay-programs \
    assay-runner assay
if prepare $triple; then
    zig=yes
else
    zig=no
fi
checked=
for crate in "$@"; do
    if [ $zig = yes ]; then
        flags='' cross $triple check --quiet -p "$crate"
    else
        case $crate in
            assay-core | assay-stats | assay-engine | assay-device | assay-verify)
                cargo check --locked --quiet --target $triple -p "$crate"
                ;;
            *)
                echo "SKIP: check of $crate for macOS: $missing"
                continue
                ;;
        esac
    fi
    checked="$checked $crate"
done
[ -z "$checked" ] || echo "check for macOS ok:$checked"
