#!/bin/sh
# Makes a Debian package, and an RPM where rpmbuild is there, of each binary that `make dist` made, in target/dist, and the
# archive of the Ansible collection where ansible-galaxy is there. assay-public, a server, is a package of its own.
#   packaging/packages.sh [TARGET…]      x86_64 aarch64 armv7 armv6 riscv64 i686; all that are there where none is named
# The binaries are static: the packages depend on no library. The same tarball gives the same bytes. DIST is another directory
# than target/dist, MAINTAINER is "NAME <ADDRESS>" for the Debian package.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd -P)
dist=${DIST:-$root/target/dist}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH LC_ALL=C
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

# What is installed of a program, below the directory $3, out of the tarball $2.
stage() { # program, tarball, directory
    rm -rf "$work/from" "$3"
    mkdir -p "$work/from" "$3/usr/bin" "$3/usr/lib/systemd/system"
    tar --extract --gzip --file "$2" --directory "$work/from" --strip-components=1
    install -m 755 "$work/from/$1" "$3/usr/bin/$1"
    stage_manual "$3"
    case $1 in
        assay) stage_pages "$3" ;;
        assay-public) stage_service "$3" ;;
    esac
}

stage_manual() { # directory
    mkdir -p "$1/usr/share/man/man1"
    for page in "$work/from/man/"*; do
        gzip -9nc "$page" > "$1/usr/share/man/man1/${page##*/}.gz"
    done
}

stage_pages() { # directory
    mkdir -p "$1/usr/share/bash-completion/completions" \
        "$1/usr/share/zsh/vendor-completions" "$1/usr/share/fish/vendor_completions.d"
    install -m 644 "$work/from/completions/assay.bash" "$1/usr/share/bash-completion/completions/assay"
    install -m 644 "$work/from/completions/_assay" "$1/usr/share/zsh/vendor-completions/_assay"
    install -m 644 "$work/from/completions/assay.fish" "$1/usr/share/fish/vendor_completions.d/assay.fish"
    install -m 644 packaging/systemd/assay-run@.service packaging/systemd/assay-run@.timer "$1/usr/lib/systemd/system/"
}

stage_service() { # directory
    mkdir -p "$1/usr/lib/sysusers.d"
    install -m 644 packaging/systemd/assay-public.service "$1/usr/lib/systemd/system/"
    install -m 644 packaging/systemd/assay-public.sysusers "$1/usr/lib/sysusers.d/assay-public.conf"
}

# The fields of a Debian package that differ, and its description.
control() { # program
    case $1 in
        assay)
            printf 'Section: utils\nSuggests: fio, f3, openssh-client, ansible-core\n'
            printf 'Description: measures, verifies and compares storage media\n'
            ;;
        # As debhelper has it for a package that brings a user.
        assay-public)
            printf 'Section: web\nDepends: systemd | systemd-standalone-sysusers | systemd-sysusers\n'
            printf 'Suggests: assay, postgresql, nginx | httpd\n'
            printf 'Description: public place for results of assay\n'
            ;;
    esac
    cat "packaging/debian/$1/description"
}

debian() { # program, tree, architecture
    tree=$2
    documents=$tree/usr/share/doc/$1
    mkdir -p "$documents" "$tree/DEBIAN" "$tree/usr/share/lintian/overrides" "$tree/lib/systemd"
    mv "$tree/usr/lib/systemd/system" "$tree/lib/systemd/system"
    find "$tree/usr/lib" -depth -type d -empty -delete
    cat packaging/debian/copyright > "$documents/copyright"
    gzip -9nc "$work/from/LICENCES-THIRD-PARTY" > "$documents/third-party.txt.gz"
    when=$(date -R -u -d "@$SOURCE_DATE_EPOCH")
    printf '%s (%s) unstable; urgency=low\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
        "$1" "$version" "$MAINTAINER" "$when" | gzip -9n > "$documents/changelog.gz"
    sed "s/^assay:/$1:/" packaging/debian/overrides > "$tree/usr/share/lintian/overrides/$1"
    size=$(du -k -s --apparent-size "$tree" | cut -f1)
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$1" "$version" "$3" "$MAINTAINER"
        printf 'Installed-Size: %s\nPriority: optional\n' "$size"
        control "$1"
    } > "$tree/DEBIAN/control"
    (cd "$tree" && find usr lib -type f | sort | xargs md5sum) > "$tree/DEBIAN/md5sums"
    find "$tree" -type d -exec chmod 755 {} +
    find "$tree" -type f ! -path '*/usr/bin/*' -exec chmod 644 {} +
    for script in postinst prerm postrm; do
        [ ! -f "packaging/debian/$1/$script" ] || install -m 755 "packaging/debian/$1/$script" "$tree/DEBIAN/$script"
    done
    find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    file=$dist/$1_${version}_$3.deb
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$file" > /dev/null
    echo "made: $file, $(wc -c < "$file") bytes"
    made=$((made + 1))
}

rpm_package() { # program, tree, architecture
    rm -rf "$work/rpm"
    mkdir -p "$work/rpm"
    rpmbuild -bb --quiet --target "$3-linux" --define "_topdir $work/rpm" --define "_rpmdir $work/rpm" \
        --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" --define "tree $2" --define "assay_version $version" \
        --define "clamp_mtime_to_source_date_epoch 1" --define "use_source_date_epoch_as_buildtime 1" \
        --define "_buildhost assay" --define "documents $work/from" "packaging/rpm/$1.spec"
    file=$1-$version-1.$3.rpm
    cp "$work/rpm/$file" "$dist/$file"
    echo "made: $dist/$file, $(wc -c < "$dist/$file") bytes"
    made=$((made + 1))
}

# The packages of one tarball.
packages() { # program, target, tarball, architecture of Debian, architecture of RPM
    if [ "$5" = - ]; then
        :
    elif command -v rpmbuild > /dev/null 2>&1; then
        stage "$1" "$3" "$work/tree"
        rpm_package "$1" "$work/tree" "$5"
    else
        echo "left out: RPM of $1, $2: no rpmbuild (package rpm)"
    fi
    if [ "$4" = - ]; then
        :
    elif command -v dpkg-deb > /dev/null 2>&1; then
        stage "$1" "$3" "$work/tree"
        debian "$1" "$work/tree" "$4"
    else
        echo "left out: Debian package of $1, $2: no dpkg-deb (package dpkg)"
    fi
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
    packages assay "$target" "$tarball" "$deb" "$rpm"
    # It is there for the targets of 64 bits.
    tarball=$dist/assay-public-$version-$triple.tar.gz
    [ ! -f "$tarball" ] || packages assay-public "$target" "$tarball" "$deb" "$rpm"
done < "$work/targets"
[ "$made" -gt 0 ] || { echo "packages: no package was made" >&2; exit 1; }
collection
(cd "$dist" && for file in assay[-_]*; do [ ! -f "$file" ] || sha256sum "$file"; done > SHA256SUMS)
