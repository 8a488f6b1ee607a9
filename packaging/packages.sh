#!/bin/sh
# Makes a Debian package, and an RPM where rpmbuild is there, of each binary that `make dist` made, in target/dist, and the
# archive of the Ansible collection where ansible-galaxy is there.
#   packaging/packages.sh [TARGET…]      x86_64 aarch64 armv7 armv6 riscv64 i686; all that are there where none is named
# The binaries are static: the packages depend on nothing. The same tarball gives the same bytes. DIST is another directory
# than target/dist, MAINTAINER is "NAME <ADDRESS>" for the Debian package.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd -P)
dist=${DIST:-$root/target/dist}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH LC_ALL=C
summary=$(sed -n 's/^description = "\(.*\)"/\1/p' Cargo.toml | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
made=0

# Target, triple, architecture of Debian, architecture of RPM; - where there is no package of that kind. Raspberry Pi OS runs
# packages of armhf on the ARMv6 of Raspberry Pi 1 and Zero, too, so that armhf has the program for ARMv6.
targets='x86_64 x86_64-unknown-linux-musl amd64 x86_64
aarch64 aarch64-unknown-linux-musl arm64 aarch64
armv7 armv7-unknown-linux-musleabihf - armv7hl
armv6 arm-unknown-linux-musleabihf armhf armv6hl
riscv64 riscv64gc-unknown-linux-musl riscv64 riscv64
i686 i686-unknown-linux-musl i386 i686'

# What is installed, below the directory $2, out of the tarball $1.
stage() { # tarball, directory
    rm -rf "$work/from" "$2"
    mkdir -p "$work/from" "$2/usr/bin" "$2/usr/share/man/man1" "$2/usr/share/bash-completion/completions" \
        "$2/usr/share/zsh/vendor-completions" "$2/usr/share/fish/vendor_completions.d" "$2/usr/lib/systemd/system"
    tar --extract --gzip --file "$1" --directory "$work/from" --strip-components=1
    install -m 755 "$work/from/assay" "$2/usr/bin/assay"
    for page in "$work/from/man/"*; do
        gzip -9nc "$page" > "$2/usr/share/man/man1/${page##*/}.gz"
    done
    install -m 644 "$work/from/completions/assay.bash" "$2/usr/share/bash-completion/completions/assay"
    install -m 644 "$work/from/completions/_assay" "$2/usr/share/zsh/vendor-completions/_assay"
    install -m 644 "$work/from/completions/assay.fish" "$2/usr/share/fish/vendor_completions.d/assay.fish"
    install -m 644 packaging/systemd/assay-run@.service packaging/systemd/assay-run@.timer "$2/usr/lib/systemd/system/"
}

debian() { # tree, architecture
    tree=$1
    documents=$tree/usr/share/doc/assay
    mkdir -p "$documents" "$tree/DEBIAN" "$tree/usr/share/lintian/overrides" "$tree/lib/systemd"
    mv "$tree/usr/lib/systemd/system" "$tree/lib/systemd/system"
    rm -r "$tree/usr/lib"
    cat packaging/debian/copyright > "$documents/copyright"
    gzip -9nc "$work/from/LICENCES-THIRD-PARTY" > "$documents/third-party.txt.gz"
    when=$(date -R -u -d "@$SOURCE_DATE_EPOCH")
    printf 'assay (%s) unstable; urgency=low\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
        "$version" "$MAINTAINER" "$when" | gzip -9n > "$documents/changelog.gz"
    cp packaging/debian/overrides "$tree/usr/share/lintian/overrides/assay"
    size=$(du -k -s --apparent-size "$tree" | cut -f1)
    {
        printf 'Package: assay\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$version" "$2" "$MAINTAINER"
        printf 'Installed-Size: %s\nSection: utils\nPriority: optional\n' "$size"
        printf 'Suggests: fio, f3, openssh-client, ansible-core\n'
        printf 'Description: measures, verifies and compares storage media\n'
        cat packaging/debian/description
    } > "$tree/DEBIAN/control"
    (cd "$tree" && find usr lib -type f | sort | xargs md5sum) > "$tree/DEBIAN/md5sums"
    find "$tree" -type d -exec chmod 755 {} +
    find "$tree" -type f ! -path '*/usr/bin/*' -exec chmod 644 {} +
    find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    file=$dist/assay_${version}_$2.deb
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$file" > /dev/null
    echo "made: $file, $(wc -c < "$file") bytes"
    made=$((made + 1))
}

rpm_package() { # tree, architecture
    rm -rf "$work/rpm"
    mkdir -p "$work/rpm"
    rpmbuild -bb --quiet --target "$2-linux" --define "_topdir $work/rpm" --define "_rpmdir $work/rpm" \
        --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" --define "tree $1" --define "assay_version $version" \
        --define "clamp_mtime_to_source_date_epoch 1" --define "use_source_date_epoch_as_buildtime 1" \
        --define "_buildhost assay" --define "documents $work/from" packaging/rpm/assay.spec
    file=assay-$version-1.$2.rpm
    cp "$work/rpm/$file" "$dist/$file"
    echo "made: $dist/$file, $(wc -c < "$dist/$file") bytes"
    made=$((made + 1))
}

# For `ansible-galaxy collection install FILE`. It depends on no target, and is not counted.
collection() {
    rm -f "$dist"/assay-fleet-*.tar.gz
    for needed in ansible-galaxy python3; do
        command -v $needed > /dev/null 2>&1 || { echo "left out: the collection: no $needed (packages ansible-core, python3)"; return; }
    done
    mkdir -p "$work/collection"
    LC_ALL=C.UTF-8 ansible-galaxy collection build "$root/fleet/ansible_collections/assay/fleet" \
        --output-path "$work/collection" > "$work/galaxy" 2>&1 || { echo "left out: the collection: $(tail -n 1 "$work/galaxy")"; return; }
    for built in "$work/collection"/*.tar.gz; do
        file=$dist/${built##*/}
        python3 packaging/collection.py "$built" "$file"
        echo "made: $file, $(wc -c < "$file") bytes"
    done
}

# Who answers for a package that somebody hands out.
: "${MAINTAINER:=The assay authors <maintainers@assay.invalid>}"
wanted=" ${*:-x86_64 aarch64 armv7 armv6 riscv64 i686} "
echo "$targets" > "$work/targets"
for target in $wanted; do
    grep -q "^$target " "$work/targets" || { echo "packages: no packages of $target: there are $(cut -d' ' -f1 "$work/targets" | xargs)" >&2; exit 2; }
done
while read -r target triple deb rpm; do
    case $wanted in *" $target "*) ;; *) continue ;; esac
    tarball=$dist/assay-$version-$triple.tar.gz
    if [ ! -f "$tarball" ]; then
        echo "left out: $target: no $tarball (make dist TARGETS=$target)"
        continue
    fi
    if [ "$rpm" = - ]; then
        :
    elif command -v rpmbuild > /dev/null 2>&1; then
        stage "$tarball" "$work/tree"
        rpm_package "$work/tree" "$rpm"
    else
        echo "left out: RPM of $target: no rpmbuild (package rpm)"
    fi
    if [ "$deb" = - ]; then
        :
    elif command -v dpkg-deb > /dev/null 2>&1; then
        stage "$tarball" "$work/tree"
        debian "$work/tree" "$deb"
    else
        echo "left out: Debian package of $target: no dpkg-deb (package dpkg)"
    fi
done < "$work/targets"
[ "$made" -gt 0 ] || { echo "packages: no package was made" >&2; exit 1; }
collection
(cd "$dist" && for file in assay[-_]*; do [ ! -f "$file" ] || sha256sum "$file"; done > SHA256SUMS)
