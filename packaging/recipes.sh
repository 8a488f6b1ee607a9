#!/bin/sh
# Writes recipes for other packagers, with the sums of what `make dist` made, into target/dist/recipes. DIST is another
# directory than target/dist.
#   packaging/recipes.sh URL      where the files of target/dist will be found: https://HOST/PATH
set -eu
cd "$(dirname "$0")/.."
url=${1:?packaging/recipes.sh URL: where the files of target/dist will be found}
dist=${DIST:-target/dist}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
sum() { # triple
    sed -n "s/^\([0-9a-f]*\) [ *]assay-$version-$1\.tar\.gz$/\1/p" "$dist/SHA256SUMS" | grep . ||
        { echo "recipes: $dist has no tarball of $1 (make dist)" >&2; exit 1; }
}
x86_64=$(sum x86_64-unknown-linux-musl)
aarch64=$(sum aarch64-unknown-linux-musl)
armv7=$(sum armv7-unknown-linux-musleabihf)
mkdir -p "$dist/recipes"
for file in assay.rb PKGBUILD; do
    sed -e "s|@VERSION@|$version|g" -e "s|@URL@|$url|g" -e "s|@X86_64@|$x86_64|g" -e "s|@AARCH64@|$aarch64|g" \
        -e "s|@ARMV7@|$armv7|g" \
        "packaging/recipes/$file.in" > "$dist/recipes/$file"
    echo "written: $dist/recipes/$file"
done
