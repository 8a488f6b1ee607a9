#!/bin/sh
# Builds the programs for other machines: static binaries, each with a tarball and a list of what is in it (CycloneDX),
# and the SHA-256 sums of all, in target/dist. The same commit, compiler and zig give the same bytes in any directory.
# assay-public, a server, is built for the targets of 64 bits.
#   packaging/dist.sh [TARGET…]      x86_64 aarch64 armv7 riscv64 i686 armv6; all of them where none is named
# What cannot be built here is told in one line and counted. It fails where a build fails, or where nothing was built.
set -eu
cd "$(dirname "$0")/.."
. packaging/tools.sh
root=$(pwd -P)
[ $# -gt 0 ] || set -- x86_64 aarch64 armv7 riscv64 i686 armv6
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
if [ -z "${SOURCE_DATE_EPOCH:-}" ] && ! SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2> /dev/null); then
    echo "dist: no commit to take the time from: set SOURCE_DATE_EPOCH to seconds since 1970" >&2
    exit 2
fi
export SOURCE_DATE_EPOCH LC_ALL=C
dist=target/dist
# Where the standard library is built with the program, it is built for size: sorts, texts of numbers, searches.
std_options="-Zbuild-std=std,panic_unwind -Zbuild-std-features=panic-unwind,optimize_for_size"
left_out=0
failed=0

triple() { # target
    case $1 in
        x86_64 | aarch64 | i686) echo "$1-unknown-linux-musl" ;;
        armv7) echo armv7-unknown-linux-musleabihf ;;
        armv6) echo arm-unknown-linux-musleabihf ;;
        riscv64) echo riscv64gc-unknown-linux-musl ;;
        *) return 1 ;;
    esac
}

# The programs of a target. A server is one of 64 bits.
programs() { # target
    case $1 in
        x86_64 | aarch64 | riscv64) echo assay assay-public ;;
        *) echo assay ;;
    esac
}

# Compiles a program for a triple, with nothing of the directory or the user in the binary.
compile() { # program, triple
    separator=$(printf '\037')
    flags=--remap-path-prefix=$root=/assay
    flags=$flags$separator--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo
    flags=$flags$separator--remap-path-prefix=$(rustc ${toolchain:++$toolchain} --print sysroot)=/rust
    # What several functions share becomes a function of its own where that saves room, and is counted without the 36 bytes
    # of tables by which a panic unwinds through it: 19,908 functions of 15 bytes on average had more of these than of code.
    flags=$flags$separator-Cllvm-args=-outliner-benefit-threshold=40
    # Nothing unwinds through C.
    c_flags="-fno-asynchronous-unwind-tables -fno-unwind-tables"
    export "CFLAGS_$(echo "$2" | tr - _)=$c_flags"
    CARGO_TARGET_DIR=$root/target cross "$2" zigbuild --quiet --profile dist -p "$1"
}

# The program that writes pages and completions, which are the same for all targets: the new one, by an emulator if
# need be, or else one of this machine.
runnable() { # program, triple, binary
    if emulator=$(emulator "$2") && $emulator "$3" --version > /dev/null 2>&1; then
        echo "$emulator $3"
    else
        cargo build --quiet --locked --release -p "$1" && echo "${CARGO_TARGET_DIR:-target}/release/$1"
    fi
}

# Manual pages, completions and what installs them, of `assay`.
write_pages() { # directory, command
    mkdir -p "$1/man" "$1/completions"
    install -m 755 packaging/install.sh "$1/"
    $2 man --dir "$1/man" > /dev/null 2>&1
    $2 completions bash > "$1/completions/assay.bash"
    $2 completions zsh > "$1/completions/_assay"
    $2 completions fish > "$1/completions/assay.fish"
}

# A tarball whose bytes say nothing of who made it when: sorted, of nobody, with the time of the commit.
pack() { # program, name, triple, binary
    tree=$dist/tree/$2
    rm -rf "$dist/tree"
    mkdir -p "$tree"
    cp "$4" "$tree/$1"
    cp LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$tree/"
    cp "$dist/$2.cdx.json" "$tree/sbom.cdx.json"
    if [ "$1" = assay ]; then
        cp README.md "$tree/"
        cp licences/third-party.txt "$tree/LICENCES-THIRD-PARTY"
        write_pages "$tree" "$(runnable "$1" "$3" "$4")"
    else
        cp docs/public.md packaging/systemd/assay-public.service packaging/systemd/assay-public.sysusers "$tree/"
        cp licences/third-party-public.txt "$tree/LICENCES-THIRD-PARTY"
        mkdir "$tree/man"
        $(runnable "$1" "$3" "$4") man "$tree/man"
    fi
    tar --create --directory "$dist/tree" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner \
        --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX "$2" | gzip -9n > "$dist/$2.tar.gz"
    rm -rf "$dist/tree"
}

leave_out() { # target, reason
    echo "left out: $1: $2"
    left_out=$((left_out + 1))
}

build() { # target
    triple=$(triple "$1") || { leave_out "$1" "no such target"; return; }
    flags=
    # Where room is scarce. On x86_64 the published one stays: what one for size costs in speed was not measured.
    own_std=yes
    [ "$1" != x86_64 ] || own_std=no
    if ! prepare "$triple"; then
        reason=$missing
        own_std=no
        prepare "$triple" || { leave_out "$1" "$reason"; return; }
        echo "$1: with the published standard library, which is larger: $reason"
    fi
    for program in $(programs "$1"); do
        name=$program-$version-$triple
        binary=target/$triple/dist/$program
        if ! compile "$program" "$triple"; then
            echo "failed: $1: $program: see above" >&2
            failed=$((failed + 1))
            return
        fi
        cp "$binary" "$dist/$name"
        python3 packaging/sbom.py "$program" "$triple" "$dist/$name" "$(rustc ${toolchain:++$toolchain} -V)" \
            "zig $zig_version" > "$dist/$name.cdx.json"
        pack "$program" "$name" "$triple" "$binary"
        echo "built: $1: $dist/$name, $(wc -c < "$dist/$name") bytes, $(wc -c < "$dist/$name.tar.gz") as a tarball"
    done
}

sums() {
    cd "$dist"
    for file in assay-*; do
        [ ! -f "$file" ] || sha256sum "$file"
    done > SHA256SUMS
}

# Cargo keeps what it builds for this machine with the profile `dist` in the same directory.
rm -rf "$dist"/assay-[0-9]* "$dist"/assay-public-[0-9]* "$dist/SHA256SUMS" "$dist/tree" "$dist"/assay*_*.deb "$dist/recipes"
mkdir -p "$dist"
for target in "$@"; do
    build "$target"
done
(sums)
built=$(($# - left_out - failed))
echo "$built built, $failed failed, $left_out left out"
[ "$failed" = 0 ] && [ "$built" -gt 0 ]
