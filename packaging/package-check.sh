#!/bin/sh
# Installs packages of assay, each in a bare root of its own, runs the program there, and removes the package: the root has to have
# the same files as before. As root; takes about a minute.
#   packaging/package-check.sh [FILE…]      the packages of this machine in target/dist where none is named
# A Debian package: in a root that debootstrap makes, and lintian has to find no error. An RPM: by the rpm of this system, in a root
# that has the directories of a system and no other program. SUITE is another release than bookworm, MIRROR another archive than
# that of debootstrap. What is missing is told in a line that begins with SKIP. It fails where a package does, and with 4 where
# nothing could be looked at.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
if [ $# = 0 ]; then
    for package in "assay_${version}_$(dpkg --print-architecture 2> /dev/null || uname -m).deb" "assay-$version-1.$(uname -m).rpm"; do
        if [ -f "target/dist/$package" ]; then
            set -- "$@" "target/dist/$package"
        else
            echo "SKIP: $package: not in target/dist (make dist packages)"
        fi
    done
    [ $# -gt 0 ] || { echo "package-check: no package of this machine in target/dist (make dist packages)" >&2; exit 2; }
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/assay-package-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
done=0

skipped() { # what, reason
    echo "SKIP: $1: $2"
}

# Whether a program is here and may be used as it has to be.
can() { # what, program, package
    if ! command -v "$2" > /dev/null 2>&1; then
        skipped "$1" "not installed (package $3)"
    elif [ "$(id -u)" != 0 ]; then
        skipped "$1" "needs root"
    else
        return 0
    fi
    return 1
}

# Files, links and directories with mode and owner, without what package managers write for themselves.
listed() {
    (cd "$work/root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/rpm -o -path ./var/log -o -path ./var/cache \
        -o -path ./proc -o -path ./sys \) -prune -o -printf '%p %M %u %g %l\n' | sort)
}

installed() { # package: whether it brought what it should
    for file in bin/assay share/man/man1/assay.1.gz share/bash-completion/completions/assay; do
        [ -f "$work/root/usr/$file" ] || { echo "package-check: $1 has no usr/$file" >&2; exit 1; }
    done
    mkdir -p "$work/root/var/cache/run"
    chroot "$work/root" /usr/bin/assay --version
    # A suspect result is one, too.
    HOME=/var/cache/home chroot "$work/root" /usr/bin/assay run --suite smoke --no-save /var/cache/run > "$work/ran" || [ $? = 1 ]
    grep -q random "$work/ran" || { cat "$work/ran"; echo "package-check: the program of $1 measured nothing" >&2; exit 1; }
    rm -rf "$work/root/var/cache/run"
}

removed() { # package
    listed > "$work/after"
    diff "$work/before" "$work/after" || { echo "package-check: $1 leaves other files" >&2; exit 1; }
    echo "$1: installed, ran, and left the files as they were"
    done=$((done + 1))
}

debian() { # package
    if command -v lintian > /dev/null 2>&1; then
        # Of a warning it says so and ends with 0; what is overridden is in packaging/debian/overrides.
        lintian --fail-on error "$1" || { echo "package-check: lintian finds errors in $1" >&2; exit 1; }
        echo "lintian: no errors"
        done=$((done + 1))
    else
        skipped lintian "not installed (package lintian)"
    fi
    can "$1" debootstrap debootstrap || return 0
    if ! debootstrap --variant=minbase "${SUITE:-bookworm}" "$work/root" ${MIRROR:+"$MIRROR"} > "$work/log" 2>&1; then
        skipped "$1" "debootstrap: $(tail -n 1 "$work/log")"
        return 0
    fi
    listed > "$work/before"
    cp "$1" "$work/root/var/cache/assay.deb"
    chroot "$work/root" dpkg --install /var/cache/assay.deb
    installed "$1"
    chroot "$work/root" dpkg --purge assay
    removed "$1"
}

rpm_package() { # package
    can "$1" rpm rpm || return 0
    for directory in bin share/man/man1 share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d \
        share/licenses lib/systemd/system; do
        mkdir -p "$work/root/usr/$directory"
    done
    mkdir -p "$work/root/var/lib/rpm" "$work/root/var/cache"
    by_rpm() { rpm --root "$work/root" --dbpath /var/lib/rpm "$@"; }
    by_rpm --initdb
    listed > "$work/before"
    # A package that nobody signed yet.
    by_rpm --install --nosignature "$1"
    by_rpm --verify assay
    installed "$1"
    by_rpm --erase assay
    removed "$1"
}

for package in "$@"; do
    [ -f "$package" ] || { echo "package-check: $package: no such file (make dist packages)" >&2; exit 2; }
    rm -rf "$work/root"
    case $package in
        *.deb) debian "$package" ;;
        *.rpm) rpm_package "$package" ;;
        *) echo "package-check: $package: neither a Debian package nor an RPM" >&2; exit 2 ;;
    esac
done
[ "$done" -gt 0 ] || exit 4
