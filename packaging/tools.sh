# What builds and tests for other processors need; read by the scripts beside it with `.`.
# Versions are fixed, as another compiler or linker gives other bytes; but for the nightly compiler, which is the one that is
# there. The list of contents of a binary names all of them.
zig_version=0.17.1
zigbuild_version=0.24.0
# What a caller asks `prepare` and `cross` for, and no environment.
own_std=no
std_options=

# Where zig is put, outside of the tree, so that all working copies share it.
tools=${ASSAY_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/assay-tools}

# Whether the standard library of a target is here, or could be brought.
has_std() {
    [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] && return 0
    command -v rustup > /dev/null 2>&1 || return 1
    rustup target add "$1" > /dev/null 2>&1
}

# Whether a nightly compiler can build the standard library itself.
has_std_source() {
    command -v rustup > /dev/null 2>&1 || return 1
    source=$(rustc +nightly --print sysroot 2> /dev/null)/lib/rustlib/src/rust/library
    [ -d "$source" ] && return 0
    rustup toolchain install nightly --profile minimal --component rust-src > /dev/null 2>&1 && [ -d "$source" ]
}

# Whether zig, a C compiler and linker for all targets, is here or could be brought. It comes as a Python package.
has_zig() {
    if [ ! -x "$tools/zig-$zig_version/bin/cargo-zigbuild" ]; then
        python3 -m venv "$tools/zig-$zig_version" > /dev/null 2>&1 &&
            "$tools/zig-$zig_version/bin/pip" install -q "ziglang==$zig_version" \
                "cargo-zigbuild==$zigbuild_version" > /dev/null 2>&1 || return 1
    fi
    case $PATH in
        "$tools/zig-$zig_version/bin:"*) ;;
        *) PATH=$tools/zig-$zig_version/bin:$PATH && export PATH ;;
    esac
}

# Brings what builds for a triple: sets `toolchain` (empty, or nightly where the standard library is built, too), or
# fails with what is `missing`. The published library of 32-bit musl ends in 2038: it calls what musl keeps for programs
# with times of 32 bits, and a clock beyond them makes it panic. `own_std=yes` asks for a library built here anyway.
prepare() { # triple
    toolchain=
    needs_own=${own_std:-no}
    case $1 in
        i?86-*-musl | arm*-musl*) needs_own=yes ;;
    esac
    if [ "$needs_own" = yes ] || ! has_std "$1"; then
        missing="needs a nightly compiler with rust-src, to build the standard library of $1"
        has_std_source || return 1
        toolchain=nightly
    fi
    missing="needs Python 3.11 for the list of contents"
    python3 -c 'import tomllib' > /dev/null 2>&1 || return 1
    missing="needs python3 with venv, and its package ziglang $zig_version"
    has_zig
}

# The flags of rustc, separated by 037, by which a wait with a limit is one on 32 bits, too: see futex.c. Its object is compiled
# where zig is, so that it has one path whatever directory the program is built in.
wait_flags() { # triple
    case $1 in
        arm-*) zig_target="arm-linux-musleabihf -mcpu=arm1136jf_s" ;;
        arm*) zig_target="arm-linux-musleabihf -mcpu=generic+v7a" ;;
        i?86-*) zig_target=x86-linux-musl ;;
        *) return 0 ;;
    esac
    object=$tools/zig-$zig_version/futex-$1-$(cksum < packaging/futex.c | cut -d ' ' -f 1).o
    # shellcheck disable=SC2086 # two words
    [ -f "$object" ] || python-zig cc -target $zig_target -Os -c packaging/futex.c -o "$object" || return 1
    printf '\037-Clink-arg=%s\037-Clink-arg=-Wl,--wrap=syscall' "$object"
}

# A command of cargo for a triple, after `prepare`. zig brings start files and the C library where the standard library
# is built, as it does everywhere. `std_options` says how else than usual that library is built.
cross() { # triple, command, arguments; `flags` are those of rustc, separated by 037
    triple=$1
    command=$2
    shift 2
    set -- --locked --target "$triple" "$@"
    if [ -n "$toolchain" ]; then
        flags=$flags${flags:+$(printf '\037')}-Clink-self-contained=no$(wait_flags "$triple")
        set -- ${std_options:--Zbuild-std=std,panic_unwind} "$@"
    fi
    (
        if [ -n "$toolchain" ]; then
            # Times of 64 bits, by the names that musl has for them since 1.2.
            export RUSTUP_TOOLCHAIN="$toolchain" RUST_LIBC_UNSTABLE_MUSL_V1_2_3=1
        fi
        CARGO_ENCODED_RUSTFLAGS=$flags cargo-zigbuild "$command" "$@"
    )
}

# Installs the emulators where that is possible without asking.
bring_emulators() {
    command -v qemu-aarch64-static > /dev/null 2>&1 && return
    [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1 || return 0
    apt-get update -qq || return 0
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-user-static > /dev/null || true
}

# The name of an emulator of a target's processor, where it is needed; fails where there is none.
emulator() {
    case $1 in
        x86_64-*) processor=x86_64 ;;
        i?86-*) processor=i386 ;;
        arm*) processor=arm ;;
        riscv64*) processor=riscv64 ;;
        powerpc64-*) processor=ppc64 ;;
        *) processor=${1%%-*} ;;
    esac
    case $processor:$(uname -m) in
        x86_64:x86_64 | i386:x86_64 | aarch64:aarch64 | riscv64:riscv64) return 0 ;;
    esac
    for name in "qemu-$processor-static" "qemu-$processor"; do
        command -v "$name" > /dev/null 2>&1 && echo "$name" && return 0
    done
    return 1
}
