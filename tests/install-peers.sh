#!/bin/sh
# Installs the peers that tests need, when it is root on a Debian-like system. Elsewhere tests that
# need one say so and are counted as skipped.
#   tests/install-peers.sh [windows]   with `windows` what builds and runs the program for Windows, which is 1 GB
set -eu
missing=""
if [ "${1:-}" = windows ]; then
    pairs="x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 wine:wine"
else
    pairs="cc:gcc fio:fio nbdkit:nbdkit nbdfuse:libnbd-bin fusermount3:fuse3 mkfs.ext4:e2fsprogs
        mkfs.vfat:dosfstools mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs mkfs.exfat:exfatprogs mount.exfat-fuse:exfat-fuse fusefat:fusefat
        losetup:util-linux chromium:chromium openssl:openssl sqlite3:sqlite3 f3write:f3 jq:jq tmux:tmux
        hdparm:hdparm sysbench:sysbench bonnie++:bonnie++ ioping:ioping postmark:postmark smartctl:smartmontools
        ip:iproute2 strace:strace faketime:faketime busybox:busybox-static ssh:openssh-client sshd:openssh-server
        ansible-playbook:ansible-core ansible-lint:ansible-lint
        pg_ctlcluster:postgresql slurmctld:slurmctld slurmd:slurmd srun:slurm-client qemu-aarch64-static:qemu-user-static
        mosquitto:mosquitto mosquitto_pub:mosquitto-clients Rscript:r-cran-survival"
fi
# promtool alone: its package would run a server. Tests look for it there.
unpack_promtool() {
    [ "${1:-}" != windows ] && [ "$(id -u)" = 0 ] && command -v dpkg-deb > /dev/null 2>&1 || return 0
    if command -v promtool > /dev/null 2>&1 || [ -x target/peers/promtool ]; then return 0; fi
    mkdir -p target/peers
    echo "unpacking promtool"
    (cd target/peers && apt-get download -qq prometheus > /dev/null 2>&1 &&
        dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool > promtool && chmod +x promtool) ||
        echo "not available here: promtool"
    rm -f target/peers/prometheus_*.deb
}
# These modules are in no distribution: an environment of its own, where tests look for them.
install_module() { # module, version
    if { target/peers/python/bin/python -c "import $1" || python3 -c "import $1"; } > /dev/null 2>&1; then return 0; fi
    mkdir -p target/peers
    echo "installing $1"
    if ! { [ -x target/peers/python/bin/python ] || python3 -m venv target/peers/python; } > /dev/null 2>&1 ||
        ! target/peers/python/bin/pip install -q "$1==$2" > /dev/null 2>&1; then
        echo "not available here: $1"
    fi
}
# axe-core, which tests put into pages: one file, of a version and a sum that are fixed.
axe_version=4.14.1
axe_sum=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
unpack_axe() {
    [ ! -f "target/peers/axe-$axe_version.js" ] || return 0
    mkdir -p target/peers/axe
    echo "unpacking axe-core"
    (cd target/peers/axe && npm pack --silent "axe-core@$axe_version" > /dev/null 2>&1 &&
        echo "$axe_sum  axe-core-$axe_version.tgz" | sha256sum --check --status &&
        tar -xzf "axe-core-$axe_version.tgz" package/axe.min.js && mv package/axe.min.js "../axe-$axe_version.js") ||
        echo "not available here: axe-core (npm)"
    rm -rf target/peers/axe
}
if [ "${1:-}" != windows ]; then
    install_module lifelines 0.30.3
    install_module duckdb 2.0.1
    unpack_axe
fi
for pair in $pairs; do
    command -v "${pair%%:*}" > /dev/null 2>&1 || [ -x "/usr/sbin/${pair%%:*}" ] || missing="$missing ${pair##*:}"
done
# Modules of the distribution's Python.
modules="pandas:python3-pandas junitparser:python3-junitparser"
[ "${1:-}" != windows ] || modules=""
for pair in $modules; do
    /usr/bin/python3 -c "import ${pair%%:*}" > /dev/null 2>&1 || missing="$missing ${pair##*:}"
done
if [ -z "$missing" ]; then
    unpack_promtool "$@"
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null 2>&1; then
    echo "peers missing, their tests will be skipped:$missing"
    exit 0
fi
echo "installing peers:$missing"
apt-get update -qq
# Tests start servers of their own: the package would start one, too.
case "$missing" in *postgresql*)
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf ;;
esac
# One at a time: a package that a distribution lacks costs its own tests only.
for package in $missing; do
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" > /dev/null ||
        echo "not available here: $package"
done
unpack_promtool "$@"
