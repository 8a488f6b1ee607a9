#!/bin/sh
# Measures: run.sh DIRECTORY ARGUMENT…. Nothing is said before the end, so that nothing travels while it measures; what
# the program says is kept. Says its exit code and the record's identifier; the program's last words are errors.
set -u
umask 077
cd "$1" || exit 4
shift
# A key is an argument of no program: all who are on the node could read it there. It is gone when it was read.
if [ -f key ]; then
    ASSAY_FLEET_KEY=$(cat key)
    export ASSAY_FLEET_KEY
    rm -f key
fi
ASSAY_DATA=$PWD/data
export ASSAY_DATA
rm -f last.json last.log
./assay run "$@" --quiet --json > last.json 2> last.log < /dev/null
code=$?
echo "exit=$code"
record=$(sed -n 's/^  "id": "\([0-9a-z]*\)",$/\1/p' last.json | head -n 1)
[ -z "$record" ] || echo "record=$record"
# No page: no user reads it here, and the coordinator can make one of the record.
[ -z "$record" ] || [ -L data/reports ] || rm -f "data/reports/$record.html"
rmdir data/reports 2> /dev/null
rm -f last.json
[ "$code" = 0 ] || grep '^assay:' last.log | tail -n 1 >&2
exit 0
