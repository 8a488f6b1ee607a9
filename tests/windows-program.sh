#!/bin/sh
# The program on Windows, by wine, and the program of this machine, which reads what it measured. Called by tests/windows.sh,
# which sets wine up.
set -eu
cd "$(dirname "$0")/.."
cargo build --locked --quiet --target x86_64-pc-windows-gnu -p assay
cargo build --locked --quiet -p assay
exe=target/x86_64-pc-windows-gnu/debug/assay.exe
work=target/windows-program
rm -rf $work
mkdir -p $work/data $work/place
windows() { "$WINE" winepath -w "$(pwd)/$work/$1" 2> /dev/null | tr -d '\r'; }
data=$(windows data) place=$(windows place)
passed=0 failed=0
check() { # what was to be true, and the exit code of what showed it
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $1"; fi
}
assay() { ASSAY_DATA=$data timeout 300 "$WINE" $exe "$@"; }

code=0; assay run 'Q:\' > $work/wrong 2>&1 || code=$?
[ $code = 2 ] && [ "$(grep -c . $work/wrong)" = 1 ] && grep -q '^assay: Q:' $work/wrong && ok=0 || ok=1
check "a drive that is not there is told in one line" $ok
code=0; assay run '\\.\PhysicalDrive0' > $work/raw 2>&1 || code=$?
[ $code = 2 ] && grep -q 'raw devices are measured on Linux only' $work/raw && ok=0 || ok=1
check "a raw device is refused" $ok
assay run --suite smoke "$place" > $work/run 2>&1 && grep -q 'iocp engine' $work/run && [ -z "$(ls -A $work/place)" ] && ok=0 || ok=1
check "a run measures and leaves nothing behind" $ok
assay list > $work/list 2>&1 && grep -q '1 MiB' $work/list && ok=0 || ok=1
check "its record is listed" $ok
assay report last -o "$data\\r.html" > $work/report 2>&1 && [ -s $work/data/r.html ] && ok=0 || ok=1
check "its report is written" $ok
ASSAY_DATA=$work/here target/debug/assay import $work/data > $work/import 2>&1 && grep -q '1 record added' $work/import && ok=0 || ok=1
check "the program of this machine reads it" $ok
ASSAY_DATA=$data "$WINE" $exe run --suite quick "$place" > $work/interrupted 2>&1 &
run=$!
for _ in $(seq 100); do [ -n "$(ls -A $work/place)" ] && break || sleep 0.2; done
sleep 2
kill -INT $run && code=0 && { wait $run || code=$?; }
[ $code = 130 ] && [ -z "$(ls -A $work/place)" ] && ok=0 || ok=1
check "Ctrl-C ends a run, which leaves nothing behind" $ok
[ $failed = 0 ] && word=ok || word=FAILED
echo "test result: $word. $passed passed; $failed failed; 0 ignored"
[ $failed = 0 ]
