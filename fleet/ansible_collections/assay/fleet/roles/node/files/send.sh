#!/bin/sh
# Prints records, one a line, packed: send.sh DIRECTORY ID…
set -eu
cd "$1"
shift
ASSAY_DATA=$PWD/data
export ASSAY_DATA
rm -f send.json
for id in "$@"; do
    ./assay show "$id" --json > send.json
    printf '%s ' "$id"
    gzip -c send.json | base64 | tr -d '\n'
    echo
done
rm -f send.json
