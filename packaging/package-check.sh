#!/bin/sh
# Installs packages of assay, each in a bare root of its own, runs the program there, and removes the package: the root has to have
# the same files as before. As root; takes some minutes.
#   packaging/package-check.sh [FILE…]      the packages of this machine in target/dist where none is named
# A Debian package: in a root that debootstrap makes, and lintian has to find no error. An RPM: by the rpm of this system, in a root
# that has the directories of a system and no other program; that of assay-public, whose scripts need systemd, in a root of Debian.
# The service of assay-public is started, asked and stopped by a systemd of its own, in a container of systemd-nspawn. SUITE is
# another release than bookworm, MIRROR another archive than that of debootstrap. A missing tool is reported in a line that begins with
# SKIP. It fails where a package does, and with 4 where nothing could be looked at.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
if [ $# = 0 ]; then
    for program in assay assay-public; do
        for package in "${program}_${version}_$(dpkg --print-architecture 2> /dev/null || uname -m).deb" "$program-$version-1.$(uname -m).rpm"; do
            if [ -f "target/dist/$package" ]; then
                set -- "$@" "target/dist/$package"
            else
                echo "SKIP: $package: not in target/dist (make dist packages)"
            fi
        done
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

# Files, links and directories with mode and owner, without what package managers and the list of users write for themselves.
listed() {
    (cd "$work/root" && find . -xdev \( -path ./etc/.pwd.lock -o -path './etc/*-' -o -path ./var/lib/dpkg -o -path ./var/lib/rpm -o -path ./var/log -o -path ./var/cache \
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

# A root of Debian, with these packages, too: each set of them is fetched once.
bootstrap() { # what, packages
    can "$1" debootstrap debootstrap || return 1
    base=$work/base-${2:-none}
    if [ ! -d "$base" ]; then
        if ! debootstrap --variant=minbase ${2:+--include="$2"} "${SUITE:-bookworm}" "$base" ${MIRROR:+"$MIRROR"} > "$work/log" 2>&1; then
            skipped "$1" "debootstrap: $(tail -n 1 "$work/log")"
            rm -rf "$base"
            return 1
        fi
    fi
    cp -a "$base" "$work/root"
}

linted() { # package
    if command -v lintian > /dev/null 2>&1; then
        # Of a warning it says so and ends with 0; what is overridden is in packaging/debian/overrides.
        lintian --fail-on error "$1" || { echo "package-check: lintian finds errors in $1" >&2; exit 1; }
        echo "lintian: no errors"
        done=$((done + 1))
    else
        skipped lintian "not installed (package lintian)"
    fi
}

debian() { # package
    linted "$1"
    bootstrap "$1" "" || return 0
    listed > "$work/before"
    cp "$1" "$work/root/var/cache/assay.deb"
    chroot "$work/root" dpkg --install /var/cache/assay.deb
    installed "$1"
    chroot "$work/root" dpkg --purge assay
    removed "$1"
}

by_rpm() { rpm --root "$work/root" --dbpath /var/lib/rpm "$@"; }

rpm_package() { # package
    can "$1" rpm rpm || return 0
    for directory in bin share/man/man1 share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d \
        share/licenses lib/systemd/system; do
        mkdir -p "$work/root/usr/$directory"
    done
    mkdir -p "$work/root/var/lib/rpm" "$work/root/var/cache"
    by_rpm --initdb
    listed > "$work/before"
    # A package that nobody signed yet.
    by_rpm --install --nosignature "$1"
    by_rpm --verify assay
    installed "$1"
    by_rpm --erase assay
    removed "$1"
}

# What is done in the container: the service is started by its unit and asked, an account is made beside it, and another start
# finds that. Then the Debian package is purged while the service runs, and what is in its database stays.
in_container() {
    cat << 'END'
#!/bin/bash
set -eu
ask() { # path
    exec 3<> /dev/tcp/127.0.0.1/8090 || return
    printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1:8090\r\n\r\n' "$1" >&3
    cat <&3
    exec 3>&-
}
answers() {
    for _ in {1..150}; do
        (ask /ready) 2> /dev/null | grep -q '^HTTP/1.[01] 200' && return
        sleep 0.2
    done
    systemctl status assay-public.service --no-pager --full || true
    exit 1
}
account() {
    runuser -u assay-public -- assay-public account "$@" --database /var/lib/assay-public/db.sqlite
}
systemctl enable --now assay-public.service
answers
ask /health | grep '^HTTP'
ask / | grep -q '</html>'
account add alice | grep -Eq '^[0-9a-f]{64}$'
systemctl restart assay-public.service
answers
account list | grep '^alice '
systemctl is-active assay-public.service
if dpkg --status assay-public > /dev/null 2>&1; then
    dpkg --purge assay-public
else
    systemctl disable --now assay-public.service
fi
if systemctl is-active --quiet assay-public.service || (ask /health) 2> /dev/null; then
    echo "the service goes on"
    exit 1
fi
[ -s /var/lib/assay-public/db.sqlite ]
[ ! -L /etc/systemd/system/multi-user.target.wants/assay-public.service ]
echo "the service did all of it"
END
}

# Starts the service, in a copy of the root: a system that was started has other files.
served() { # package
    can "the service of $1" systemd-nspawn systemd-container || return 0
    booted=$work/booted
    rm -rf "$booted"
    cp -a "$work/root" "$booted"
    in_container > "$booted/usr/local/bin/package-check"
    chmod 755 "$booted/usr/local/bin/package-check"
    cat > "$booted/etc/systemd/system/package-check.service" << 'END'
[Unit]
SuccessAction=poweroff
FailureAction=poweroff
[Service]
Type=oneshot
TimeoutStartSec=5min
ExecStart=/usr/local/bin/package-check
StandardOutput=file:/var/cache/package-check
StandardError=inherit
END
    mkdir -p "$booted/etc/systemd/system/multi-user.target.wants"
    ln -s ../package-check.service "$booted/etc/systemd/system/multi-user.target.wants/"
    # Without a systemd outside there is no unit to put the container in.
    keep=--keep-unit
    [ ! -d /run/systemd/system ] || keep=
    # shellcheck disable=SC2086 # none or one word
    timeout 600 systemd-nspawn --quiet --directory="$booted" --boot --register=no $keep --private-network < /dev/null > "$work/log" 2>&1 || true
    if [ ! -f "$booted/var/cache/package-check" ]; then
        skipped "the service of $1" "no container starts here: $(tail -n 1 "$work/log")"
        return 0
    fi
    cat "$booted/var/cache/package-check"
    tail -n 1 "$booted/var/cache/package-check" | grep -qx "the service did all of it" ||
        { echo "package-check: the service of $1 fails" >&2; exit 1; }
    done=$((done + 1))
}

of_public() { # whether its files and its user are there
    for file in usr/bin/assay-public usr/share/man/man1/assay-public.1.gz usr/lib/sysusers.d/assay-public.conf; do
        [ -f "$work/root/$file" ] || { echo "package-check: no $file" >&2; exit 1; }
    done
    chroot "$work/root" /usr/bin/assay-public --version
    grep -q '^assay-public:' "$work/root/etc/passwd" || { echo "package-check: no user assay-public" >&2; exit 1; }
}

public_debian() { # package
    linted "$1"
    bootstrap "$1" systemd || return 0
    listed > "$work/before"
    cp "$1" "$work/root/var/cache/assay.deb"
    chroot "$work/root" dpkg --install /var/cache/assay.deb
    of_public
    served "$1"
    chroot "$work/root" dpkg --purge assay-public
    removed "$1"
}

public_rpm() { # package
    can "$1" rpm rpm || return 0
    bootstrap "$1" systemd || return 0
    mkdir -p "$work/root/var/lib/rpm" "$work/root/usr/share/licenses"
    by_rpm --initdb
    listed > "$work/before"
    # systemd is there, and of another kind of package.
    by_rpm --install --nosignature --nodeps "$1"
    by_rpm --verify --nodeps assay-public
    of_public
    served "$1"
    by_rpm --erase assay-public
    removed "$1"
}

for package in "$@"; do
    [ -f "$package" ] || { echo "package-check: $package: no such file (make dist packages)" >&2; exit 2; }
    rm -rf "$work/root"
    case $package in
        *assay-public_*.deb) public_debian "$package" ;;
        *assay-public-*.rpm) public_rpm "$package" ;;
        *.deb) debian "$package" ;;
        *.rpm) rpm_package "$package" ;;
        *) echo "package-check: $package: neither a Debian package nor an RPM" >&2; exit 2 ;;
    esac
done
[ "$done" -gt 0 ] || exit 4
