#!/bin/sh
# Removes what was put on a node, and says what it was: clean.sh DIRECTORY TARGET RECORDS. Records stay unless RECORDS is
# True.
set -eu
directory=$1 target=$2 records=$3
cd "$directory"
ASSAY_DATA=$PWD/data
export ASSAY_DATA
# What a run that was killed left on the medium is known to the program alone.
if [ -x assay ] && [ -n "$target" ] && [ -d "$target" ]; then
    left=$(./assay verify --remove "$target")
    echo "$left" | sed -n 's/^removed /removed=/p'
fi
for name in assay assay.new key suite.toml last.json last.log send.json; do
    [ ! -e "$name" ] || { rm -f "$name" && echo "removed=$directory/$name"; }
done
if [ "$records" = True ] && [ -e data ]; then
    rm -rf data
    echo "removed=$directory/data"
fi
cd /
rmdir "$directory" 2> /dev/null || true
if [ -e "$directory" ]; then echo "kept=$directory"; else echo "kept="; fi
