#!/bin/sh
# Tests on other processors, by qemu's emulators of user mode: records, engine, devices, checks and imports.
#   tests/foreign.sh [TARGET…]   aarch64 armv7 armv6 riscv64 i686 s390x powerpc64; all of them where none is named
#   tests/foreign.sh --quick     what `make test` does: records, engine and devices on aarch64, the engine on armv7 and
#                                riscv64, where all that each needs is here
# s390x and powerpc64 put the greatest byte first; nothing is published for them. A missing tool is a counted skip, as in other tests.
set -eu
cd "$(dirname "$0")/.."
. packaging/tools.sh
crates="-p assay-core -p assay-engine -p assay-device -p assay-verify -p assay-import"
failed=0
programs=
# An emulator takes twenty times as long as the processor: few media drawn by seed are judged there.
: "${ASSAY_CAMPAIGN_SEEDS:=10}"
export ASSAY_CAMPAIGN_SEEDS
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
    unset ASSAY_EMULATOR
    [ -n "$2" ] || return 0
    export "CARGO_TARGET_$(echo "$1" | tr 'a-z-' 'A-Z_')_RUNNER=$2"
    # For tests that start themselves, or that an emulator answers in the system's place.
    export ASSAY_EMULATOR="$2"
}

# Nothing is installed and no C compiled: the compiler's own linker is enough. `make test` counts what is printed. What asks
# the system has other calls and other layouts there.
quick() { # target, triple, crates…
    target=$1
    triple=$2
    shift 2
    library=$(rustc --print sysroot)/lib/rustlib/$triple/lib
    [ -d "$library" ] || { skip "$target" "needs rustup target add $triple"; return; }
    emulator=$(emulator "$triple") || { skip "$target" "needs qemu-user-static"; return; }
    use_runner "$triple" "$emulator"
    export "CARGO_TARGET_$(echo "$triple" | tr 'a-z-' 'A-Z_')_LINKER=rust-lld"
    # An emulator translates each part of the program when it is first reached, one thread at a time.
    RUST_TEST_THREADS=1 cargo test --locked --quiet --no-fail-fast --target "$triple" "$@" -- --show-output ||
        failed=$((failed + 1))
}

# The greatest byte first, with the C library and the linker of Debian.
big_endian() { # processor, its name in the names of Debian's packages
    triple=$1-unknown-linux-gnu
    emulator=$(emulator "$triple") || { skip "$1" "needs qemu-user-static"; return; }
    has_std "$triple" || { skip "$1" "needs rustup target add $triple"; return; }
    command -v "$1-linux-gnu-gcc" > /dev/null 2>&1 && [ -e "/usr/$1-linux-gnu/lib/crt1.o" ] ||
        { skip "$1" "needs gcc-$1-linux-gnu and libc6-dev-$2-cross"; return; }
    use_runner "$triple" "$emulator -L /usr/$1-linux-gnu"
    export "CARGO_TARGET_$(echo "$triple" | tr 'a-z-' 'A-Z_')_LINKER=$1-linux-gnu-gcc"
    tests "$1" cargo test --locked --quiet --target "$triple" $crates
}

# All tests of the crates; builds the program as a whole, too.
full() { # target
    case $1 in
        aarch64 | i686) triple=$1-unknown-linux-musl ;;
        armv7) triple=armv7-unknown-linux-musleabihf ;;
        armv6) triple=arm-unknown-linux-musleabihf ;;
        riscv64) triple=riscv64gc-unknown-linux-musl ;;
        s390x) big_endian s390x s390x; return ;;
        powerpc64) big_endian powerpc64 ppc64; return ;;
        *) skip "$1" "no such target"; return ;;
    esac
    emulator=$(emulator "$triple") || { skip "$1" "needs qemu-user-static"; return; }
    prepare "$triple" || { skip "$1" "$missing"; return; }
    use_runner "$triple" "$emulator"
    flags=
    tests "$1" cross "$triple" test --quiet $crates
    flags=
    cross "$triple" build --quiet -p assay || { failed=$((failed + 1)); return; }
    programs="$programs$emulator $(pwd)/target/$triple/debug/assay
"
}

# The programs that were built, beside that of this machine.
whole() {
    [ -n "$programs" ] || return 0
    export ASSAY_FOREIGN="$programs"
    tests programs cargo test --locked --quiet -p assay --test it foreign
    grep -q '^test result: ok\. [1-9]' target/foreign-programs.log ||
        { echo "no test of the foreign programs ran"; failed=$((failed + 1)); }
}

mkdir -p target
if [ "${1:-}" = --quick ]; then
    quick aarch64 aarch64-unknown-linux-musl -p assay-core -p assay-engine -p assay-device
    quick armv7 armv7-unknown-linux-musleabihf -p assay-engine
    quick riscv64 riscv64gc-unknown-linux-musl -p assay-engine
else
    [ $# -gt 0 ] || set -- aarch64 armv7 armv6 riscv64 i686 s390x powerpc64
    bring_emulators
    for target in "$@"; do
        full "$target"
    done
    whole
fi
[ "$failed" = 0 ]
