#!/bin/sh
# Installs a Debian package of assay in a bare root that debootstrap makes, runs the program there, and removes the package: the
# root has to have the same files as before. lintian has to find no error. As root; takes about a minute.
#   packaging/deb-check.sh [FILE]      the package of this machine in target/dist where none is named
# SUITE is another release than bookworm, MIRROR another archive than that of debootstrap. What is missing is told in a line that begins
# with SKIP. It fails where the package does, and with 4 where nothing could be looked at.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
package=${1:-target/dist/assay_${version}_$(dpkg --print-architecture).deb}
[ -f "$package" ] || { echo "deb-check: no $package (make dist packages)" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/assay-deb-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
done=0

skipped() { # what, reason
    echo "SKIP: $1: $2"
}

# Files, links and directories with mode and owner, without what dpkg and apt write for themselves.
listed() {
    (cd "$work/root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache -o -path ./proc -o -path ./sys \) \
        -prune -o -printf '%p %M %u %g %l\n' | sort)
}

if ! command -v lintian > /dev/null 2>&1; then
    skipped lintian "not installed (package lintian)"
else
    # Of a warning it says so and ends with 0; what is overridden is in packaging/debian/overrides.
    lintian --fail-on error "$package" || { echo "deb-check: lintian finds errors in $package" >&2; exit 1; }
    echo "lintian: no errors"
    done=$((done + 1))
fi

if ! command -v debootstrap > /dev/null 2>&1; then
    skipped "bare root" "not installed (package debootstrap)"
elif [ "$(id -u)" != 0 ]; then
    skipped "bare root" "needs root"
elif ! debootstrap --variant=minbase "${SUITE:-bookworm}" "$work/root" ${MIRROR:+"$MIRROR"} > "$work/log" 2>&1; then
    skipped "bare root" "debootstrap: $(tail -n 1 "$work/log")"
else
    listed > "$work/before"
    cp "$package" "$work/root/var/cache/assay.deb"
    chroot "$work/root" dpkg --install /var/cache/assay.deb
    chroot "$work/root" assay --version
    chroot "$work/root" sh -c 'cd /var/cache && HOME=/var/cache/home assay run --suite smoke --no-save . > run.txt; test $? -le 1 && grep -q random run.txt'
    chroot "$work/root" dpkg --purge assay
    listed > "$work/after"
    diff "$work/before" "$work/after" || { echo "deb-check: $package leaves other files" >&2; exit 1; }
    echo "bare root: installed, ran, and left the files as they were"
    done=$((done + 1))
fi
[ "$done" -gt 0 ] || exit 4
