#!/bin/sh
# The program on Windows, by wine, and the program of this machine, which reads what it measured. Called by tests/windows.sh,
# which sets wine up.
set -eu
cd "$(dirname "$0")/.."
cargo build --locked --quiet --target x86_64-pc-windows-gnu -p assay
cargo build --locked --quiet -p assay
work=target/windows-program
. tests/windows-checks.sh
assay() { ASSAY_DATA=$data timeout 300 "$WINE" $exe "$@"; }

code=0; assay run 'Q:\' > $work/wrong 2>&1 || code=$?
[ $code = 2 ] && [ "$(grep -c . $work/wrong)" = 1 ] && grep -q '^assay: Q:' $work/wrong && ok=0 || ok=1
check "a drive that is not there is told in one line" $ok
for device in '\\.\PhysicalDrive0' '\\?\PhysicalDrive0' '\\?\GLOBALROOT\Device\Harddisk0\Partition0'; do
    code=0; assay run "$device" > $work/raw 2>&1 || code=$?
    [ $code = 2 ] && grep -q 'raw devices are measured on Linux only' $work/raw && ok=0 || ok=1
    check "a raw device is refused by each of its names: $device" $ok
done
assay run --suite smoke "$place" > $work/run 2>&1 && grep -q 'iocp engine' $work/run && [ -z "$(ls -A $work/place)" ] && ok=0 || ok=1
check "a run measures and leaves nothing behind" $ok
assay list > $work/list 2>&1 && grep -q '64 KiB' $work/list && ok=0 || ok=1
check "its record is listed" $ok
assay report last -o "$data\\r.html" > $work/report 2>&1 && [ -s $work/data/r.html ] && ok=0 || ok=1
check "its report is written" $ok
ASSAY_DATA=$work/here target/debug/assay import $work/data > $work/import 2>&1 && grep -q '1 record added' $work/import && ok=0 || ok=1
check "the program of this machine reads it" $ok
# Medium, workloads and figures are in both, each as the record gives it. Names that stand for others are drawn by each program.
drawn() { sed -E 's/(nonce[="-]+)[0-9a-f]{32}/\1/g; s/-[0-9a-f]{8}\b/-/g' "$1"; }
ASSAY_DATA=$work/here target/debug/assay report last -o $work/here.html > $work/report 2>&1 || true
[ "$(drawn $work/data/r.html)" = "$(drawn $work/here.html)" ] && ok=0 || ok=1
grep -q 'IOPS' $work/data/r.html && grep -q '64[^<]*KiB' $work/data/r.html || ok=1
check "the program of this machine makes the same report of it, in which there are figures" $ok

# The files of a check are the same everywhere. What nothing is lost of is genuine (0), or unknown (6) where no direct I/O is.
none_lost() { [ "$1" = 0 ] || [ "$1" = 6 ]; }
kept=$work/place/.assay-verify
code=0; assay verify --bytes 4MiB --keep "$place" > $work/fill 2>&1 || code=$?
none_lost $code && grep -q ' 8 192 good' $work/fill && [ -s $kept/1.h2w ] && ok=0 || ok=1
check "a check finds all that it wrote, and keeps its files" $ok
ASSAY_DATA=$work/here target/debug/assay verify --only read $work/place > $work/read 2>&1 && grep -q ' 8 192 good' $work/read && ok=0 || ok=1
check "the program of this machine finds all that was written there" $ok
assay verify --remove "$place" > $work/removed 2>&1 && [ -z "$(ls -A $work/place)" ] && ok=0 || ok=1
check "the files of a check are removed" $ok
code=0; assay verify --content f3 --bytes 4MiB --keep "$place" > $work/fill-f3 2>&1 || code=$?
none_lost $code && grep -q ' 8 192 good' $work/fill-f3 && ok=0 || ok=1
check "a check in f3's format finds all that it wrote" $ok
if command -v f3read > /dev/null 2>&1; then
    f3read $kept > $work/f3read 2>&1 && grep -q 'Data OK: 4.00 MB (8192 sectors)' $work/f3read && grep -q 'Data LOST: 0.00 Byte' $work/f3read && ok=0 || ok=1
    check "f3read finds all that was written there" $ok
else
    skip "f3read of files that were written on windows: needs f3"
fi
assay verify --remove "$place" > $work/removed 2>&1 || true
# f3write fills what it is given: 4 MiB in memory.
mkdir $work/theirs
if command -v f3write > /dev/null 2>&1 && mount -t tmpfs -o size=4M none $work/theirs 2> /dev/null; then
    trap 'umount $work/theirs' EXIT
    theirs=$(windows theirs)
    f3write $work/theirs > $work/f3write 2>&1
    code=0; assay verify --only read "$theirs" > $work/theirs-read 2>&1 || code=$?
    none_lost $code && grep -q ' 8 192 good' $work/theirs-read && ok=0 || ok=1
    check "what f3write wrote is found there" $ok
    dd if=/dev/zero of=$work/theirs/1.h2w bs=512 seek=1000 count=3 conv=notrunc 2> /dev/null
    code=0; assay verify --only read "$theirs" > $work/theirs-damaged 2>&1 || code=$?
    [ $code = 5 ] && grep -q ' 8 189 good' $work/theirs-damaged && ok=0 || ok=1
    check "three sectors that are not f3write's are missed there" $ok
else
    skip "files of f3write on windows: needs f3, and root for a file system in memory"
fi

# The system drops nothing that it has cached of an open file: reads through the cache may come out of it.
cat > $work/data/cached.toml << 'END'
name = "cached"
version = 1
purpose = "Reads and writes through the cache"
budget = "5s"
max_write = "64MiB"
repeats = 1
span = "1MiB"

[[workload]]
name = "reads"
op = "read"
pattern = "sequential"
block = "64KiB"
direct = false
duration = "200ms"

[[workload]]
name = "writes"
op = "write"
pattern = "sequential"
block = "64KiB"
direct = false
duration = "200ms"
END
assay run --suite "$data\\cached.toml" -o "$data\\cached.json" "$place" > $work/cached 2>&1 || true
# Once among the warnings of the reads, and once among the reasons of the verdict.
[ "$(grep -c '"cache_not_dropped"' $work/data/cached.json)" = 2 ] && ok=0 || ok=1
check "that the cache may have answered is said of what was read, and not of what was written" $ok
ASSAY_DATA=$data "$WINE" $exe run --suite quick "$place" > $work/interrupted 2>&1 &
run=$!
for _ in $(seq 100); do [ -n "$(ls -A $work/place)" ] && break || sleep 0.2; done
sleep 2
kill -INT $run && code=0 && { wait $run || code=$?; }
[ $code = 130 ] && [ -z "$(ls -A $work/place)" ] && ok=0 || ok=1
check "Ctrl-C ends a run, which leaves nothing behind" $ok

# All that was recorded by now, by runs and by checks, as another machine hands it over.
if python3 -c 'import jsonschema' 2> /dev/null && command -v jq > /dev/null 2>&1; then
    assay list --json > $work/list.json 2> /dev/null || true
    assay show all --json > $work/all.json 2> /dev/null || true
    all=$(jq length $work/all.json)
    [ "$all" -ge 6 ] && [ "$all" = "$(jq length $work/list.json)" ] && ok=0 || ok=1
    check "all records are shown, $all, which are at least 6" $ok
    [ "$(jq '[.[] | .verification != null] | unique | length' $work/all.json)" = 2 ] && ok=0 || ok=1
    check "runs and checks are among them" $ok
    ASSAY_DATA=$work/there target/debug/assay import $work/all.json > $work/import 2>&1 && grep -q "^$all records added" $work/import && ok=0 || ok=1
    check "the program of this machine takes all of them" $ok
    python3 - schemas/record-v1.json $work/all.json << 'END' && ok=0 || ok=1
import json, sys

import jsonschema

schema, records = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
validator = jsonschema.validators.validator_for(schema)(schema)
errors = [f"{record['id']}: {error.json_path}: {error.message}" for record in records for error in validator.iter_errors(record)]
for error in errors:
    print(error)
sys.exit(1 if errors or not records else 0)
END
    check "each of them fits the schema" $ok
else
    skip "all records of windows, and the schema: needs jq, and python3 with jsonschema"
fi
[ $failed = 0 ] && word=ok || word=FAILED
echo "test result: $word. $passed passed; $failed failed; 0 ignored"
[ $failed = 0 ]
