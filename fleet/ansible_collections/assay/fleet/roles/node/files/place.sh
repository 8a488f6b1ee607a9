#!/bin/sh
# Puts a program that was copied into its place when it is the one that was sent and runs here:
# place.sh DIRECTORY SHA256. Says its version.
set -eu
cd "$1"
if ! command -v sha256sum > /dev/null; then
    rm -f assay.new
    echo "assay: there is no sha256sum on this node" >&2
    exit 4
fi
sent=$(sha256sum assay.new | cut -d ' ' -f 1)
if [ "$sent" != "$2" ]; then
    rm -f assay.new
    echo "assay: the program did not arrive whole: sha256 $sent in place of $2" >&2
    exit 4
fi
chmod 700 assay.new
if ! version=$(./assay.new -V 2>&1); then
    rm -f assay.new
    echo "assay: the program does not run on $(uname -m): $version" >&2
    exit 4
fi
mv -f assay.new assay
echo "version=$version"
echo "commit=$(./assay --version | sed -n 's/^commit  *//p')"
