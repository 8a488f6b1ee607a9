#!/bin/sh
# Tests on other processors, by qemu's emulators of user mode: records, engine, devices, checks and imports.
#   tests/foreign.sh [TARGET…]   aarch64 armv7 riscv64 i686 s390x; all of them where none is named
#   tests/foreign.sh --quick     what `make test` does: records and engine on aarch64, where all that it needs is here
# s390x puts the greatest byte first; nothing is published for it. What is missing is told as of other tests.
set -eu
cd "$(dirname "$0")/.."
. packaging/tools.sh
crates="-p assay-core -p assay-engine -p assay-device -p assay-verify -p assay-import"
failed=0
# Programs are looked for where they are built.
CARGO_TARGET_DIR=$(pwd)/target && export CARGO_TARGET_DIR

skip() { # target, reason
    echo "SKIP: tests on $1: $2"
}

# Runs tests of crates and tells how many passed; of those that failed, what they said.
tests() { # target, command…
    target=$1
    shift
    log=target/foreign-$target.log
    if "$@" --no-fail-fast -- --show-output > "$log" 2>&1; then
        result=passed
    else
        result=failed
        failed=$((failed + 1))
        cat "$log"
    fi
    grep '^SKIP:' "$log" | sort -u || true
    awk -v target="$target" -v result="$result" '/^test result/ {p+=$4; f+=$6; i+=$8} /^SKIP:/ {s++}
        END {printf "tests on %s %s: %d passed, %d failed, %d skipped\n", target, result, p-s, f, i+s}' "$log"
}

# The runner of a triple, as cargo reads it from the environment.
use_runner() { # triple, emulator
    [ -z "$2" ] || export "CARGO_TARGET_$(echo "$1" | tr 'a-z-' 'A-Z_')_RUNNER=$2"
}

# Nothing is installed and no C compiled: the compiler's own linker is enough. `make test` counts what is printed.
quick() {
    triple=aarch64-unknown-linux-musl
    library=$(rustc --print sysroot)/lib/rustlib/$triple/lib
    [ -d "$library" ] || { skip aarch64 "needs rustup target add $triple"; return; }
    emulator=$(emulator $triple) || { skip aarch64 "needs qemu-user-static"; return; }
    use_runner $triple "$emulator"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
    cargo test --locked --quiet --no-fail-fast --target $triple -p assay-core -p assay-engine -- --show-output
}

# The greatest byte first, with the C library and the linker of Debian.
big_endian() {
    triple=s390x-unknown-linux-gnu
    emulator=$(emulator $triple) || { skip s390x "needs qemu-user-static"; return; }
    has_std $triple || { skip s390x "needs rustup target add $triple"; return; }
    command -v s390x-linux-gnu-gcc > /dev/null 2>&1 && [ -e /usr/s390x-linux-gnu/lib/crt1.o ] ||
        { skip s390x "needs gcc-s390x-linux-gnu and libc6-dev-s390x-cross"; return; }
    use_runner $triple "$emulator -L /usr/s390x-linux-gnu"
    export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc
    tests s390x cargo test --locked --quiet --target $triple $crates
}

# All tests of the crates, then the program as a whole beside that of this machine.
full() { # target
    case $1 in
        aarch64 | i686) triple=$1-unknown-linux-musl ;;
        armv7) triple=armv7-unknown-linux-musleabihf ;;
        riscv64) triple=riscv64gc-unknown-linux-musl ;;
        s390x) big_endian; return ;;
        *) skip "$1" "no such target"; return ;;
    esac
    emulator=$(emulator "$triple") || { skip "$1" "needs qemu-user-static"; return; }
    prepare "$triple" || { skip "$1" "$missing"; return; }
    use_runner "$triple" "$emulator"
    flags=
    tests "$1" cross "$triple" test --quiet $crates
    flags=
    cross "$triple" build --quiet -p assay || { failed=$((failed + 1)); return; }
    export ASSAY_FOREIGN="$emulator $(pwd)/target/$triple/debug/assay"
    tests "$1-program" cargo test --locked --quiet -p assay --test it foreign::
    grep -q '^test result: ok\. [1-9]' "target/foreign-$1-program.log" || { echo "no test of the program ran on $1"; failed=$((failed + 1)); }
}

mkdir -p target
if [ "${1:-}" = --quick ]; then
    quick
else
    [ $# -gt 0 ] || set -- aarch64 armv7 riscv64 i686 s390x
    bring_emulators
    for target in "$@"; do
        full "$target"
    done
fi
[ "$failed" = 0 ]
