#!/bin/sh
# Tests on Windows, by wine: what compiles for x86_64-pc-windows-gnu, linked by mingw.
#   tests/windows.sh [CRATE…]   those below where none is named
#   tests/windows.sh --native   on Windows itself, by the compiler of that machine
# A missing tool is a counted skip, as in other tests. wine shows that the calls are right, but not their speed: it opens files past
# no cache, and does the operations of a completion port one after the other.
set -eu
cd "$(dirname "$0")/.."
. packaging/tools.sh
triple=x86_64-pc-windows-gnu

skip() { # reason
    echo "SKIP: tests on windows: $1"
    exit 0
}

# Where the integration tests of a crate ask Linux, those for Windows stand in a file of their own, if there are any.
targets() { # crate
    if [ -f "crates/$1/tests/windows.rs" ]; then
        echo --lib --test windows
    elif [ "$1" = assay-store ]; then
        echo --lib
    fi
}
all="assay-core assay-engine assay-verify assay-device assay-programs assay-runner assay-store"
if [ "${1:-}" = --native ]; then
    for crate in $all; do
        # shellcheck disable=SC2046 # several words
        RUST_TEST_THREADS=1 cargo test --locked -p "$crate" $(targets "$crate") --no-fail-fast
    done
    cargo build --locked -p assay
    mkdir -p target/native
    target/debug/assay run target/native --suite smoke
    exit
fi
command -v x86_64-w64-mingw32-gcc > /dev/null 2>&1 || skip "needs gcc-mingw-w64-x86-64"
wine=$(command -v wine64 || command -v wine) || skip "needs wine and wine64"
has_std $triple || skip "needs rustup target add $triple"
[ $# -gt 0 ] || set -- $all assay

mkdir -p target
# A home of its own, and no window.
WINEPREFIX=${WINEPREFIX:-$(pwd)/target/wine} && export WINEPREFIX
WINEDEBUG=${WINEDEBUG:--all} && export WINEDEBUG
unset DISPLAY
# Rust asks bcryptprimitives.dll for random numbers, which wine has since its version 9 only.
library=target/wine-library
mkdir -p $library
cat > $library/random.c << 'END'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return RtlGenRandom(data, (ULONG)length); }
END
x86_64-w64-mingw32-gcc -shared -o $library/bcryptprimitives.dll $library/random.c -ladvapi32
WINEPATH=$("$wine" winepath -w "$(pwd)/$library" 2> /dev/null | tr -d '\r') && export WINEPATH
# One server for all test programs: it ends some seconds after the last, and who begins just then finds it gone.
server=$(command -v wineserver || echo /usr/lib/wine/wineserver)
[ ! -x "$server" ] || { "$server" --persistent=600 && trap '"$server" --kill || true' EXIT; }
# One at a time. Left out are some of the loop, which is the same everywhere: they time sleeps, which are late by wine on a
# busy machine. They are told as skipped, and counted.
RUST_TEST_THREADS=${RUST_TEST_THREADS:-1} && export RUST_TEST_THREADS
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="$wine"
log=target/foreign-windows.log
failed=0
: > $log
for crate in "$@"; do
    if [ "$crate" = assay ]; then
        WINE=$wine sh tests/windows-program.sh >> $log 2>&1 || failed=1
        WINE=$wine sh tests/windows-console.sh >> $log 2>&1 || failed=1
        # Lints of all that the program is made of.
        cargo clippy --locked --quiet --target $triple -p assay -- -D warnings >> $log 2>&1 || failed=1
        continue
    fi
    # shellcheck disable=SC2046 # several words
    cargo test --locked --quiet --target $triple -p "$crate" $(targets "$crate") --no-fail-fast -- --skip closed::tests:: --show-output >> $log 2>&1 ||
        failed=1
done
[ "$failed" = 0 ] || cat $log
tr -d '\r' < $log | grep '^SKIP:' | sort -u || true
tr -d '\r' < $log | awk '/^test result.* filtered out/ {n+=$12}
    END {if (n) printf "SKIP: closed::tests: %d tests time sleeps, which are late by wine on a busy machine\n", n}'
tr -d '\r' < $log | awk -v failed=$failed '/^test result/ {p+=$4; f+=$6; i+=$8+$12} /^SKIP:/ {s++}
    END {printf "tests on windows %s: %d passed, %d failed, %d skipped\n", failed ? "failed" : "passed", p-s, f, i+s}'
[ "$failed" = 0 ] && grep -q '^test result: ok\. [1-9]' $log
