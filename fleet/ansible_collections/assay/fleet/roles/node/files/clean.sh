#!/bin/sh
# Removes what was put on a node: clean.sh DIRECTORY TARGET RECORDS. Records stay unless RECORDS is True.
set -eu
directory=$1 target=$2 records=$3
cd "$directory"
ASSAY_DATA=$PWD/data
export ASSAY_DATA
# What a run that was killed left on the medium is known to the program alone.
if [ -x assay ] && [ -n "$target" ] && [ -d "$target" ]; then
    ./assay verify --remove "$target" > /dev/null
fi
rm -f assay assay.new key suite.toml last.json last.log send.json
[ "$records" != True ] || rm -rf data
cd /
rmdir "$directory" 2> /dev/null || true
if [ -e "$directory" ]; then echo "kept=$directory"; else echo "kept="; fi
