#!/bin/sh
# Removes what was put on a node, and says what it was: clean.sh DIRECTORY TARGET RECORDS. Records stay unless RECORDS is
# True. Nothing is removed from a directory without the mark of look.sh. In one that has it, files with the names that assay
# gives are removed and nothing else: no link is followed, and what stays is said.
set -eu
directory=$1 target=$2 records=$3
if [ -L "$directory" ] || ! cd "$directory" || [ ! -O . ] || [ -L .assay-fleet ] || [ ! -f .assay-fleet ]; then
    echo "assay: assay did not make $directory, so nothing is removed there" >&2
    exit 2
fi
ASSAY_DATA=$PWD/data
export ASSAY_DATA

# Removes a file, and nothing else that has its name. Says so unless it is one of many.
remove() {
    [ -f "$1" ] && [ ! -L "$1" ] || return 0
    rm -f "$1"
    [ -n "${2-}" ] || echo "removed=$directory/$1"
}

# Removes a directory that has become empty.
remove_empty() {
    [ -d "$1" ] && [ ! -L "$1" ] || return 0
    rmdir "$1" 2> /dev/null || return 0
    echo "removed=$directory/$1"
}

# What a run that was killed left, on the medium and in a store of its own, is known to the program alone. Without the medium it
# looks here.
if [ -f assay ] && [ ! -L assay ] && [ -x assay ]; then
    [ -n "$target" ] && [ -d "$target" ] || target=.
    left=$(./assay verify --remove "$target")
    echo "$left" | sed -n 's/^removed /removed=/p'
fi
for name in assay assay.new key suite.toml last.json last.log send.json; do remove "$name"; done

id='[0-9a-z][0-9a-z][0-9a-z][0-9a-z][0-9a-z][0-9a-z][0-9a-z][0-9a-z][0-9a-z][0-9a-z]'
hex='[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]'
if [ "$records" = True ] && [ -d data ] && [ ! -L data ]; then
    # A store, the spool beside it, and the page of each record.
    for name in assay.sqlite assay.sqlite-wal assay.sqlite-shm assay.sqlite-journal; do remove "data/$name"; done
    if [ ! -L data/spool ]; then
        for file in data/spool/$id-$hex$hex.spool data/spool/$id-$hex$hex.part; do remove "$file" quietly; done
        remove_empty data/spool
    fi
    if [ ! -L data/reports ]; then
        for file in data/reports/$id.html data/reports/new-$hex$hex; do remove "$file" quietly; done
        remove_empty data/reports
    fi
    remove_empty data
fi

# The mark stays as long as anything else does.
if [ "$(ls -A)" = .assay-fleet ]; then
    rm -f .assay-fleet
    cd /
    rmdir "$directory" 2> /dev/null || true
    echo "kept="
    exit
fi
for file in * .[!.]* ..?* data/* data/.[!.]* data/..?*; do
    [ -e "$file" ] || [ -L "$file" ] || continue
    case $file in
    .assay-fleet) ;;
    data) [ ! -L data ] && [ -d data ] || echo "left=$directory/data" ;;
    data/*) [ "$records" != True ] || [ -L data ] || echo "left=$directory/$file" ;;
    *) echo "left=$directory/$file" ;;
    esac
done
if [ "$records" != True ] && [ -d data ] && [ ! -L data ]; then echo "kept=$directory"; else echo "kept="; fi
