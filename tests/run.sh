#!/bin/sh
# Builds the test programs of all crates and runs them: two at a time, and after them, one by one, those that measure.
#   sh tests/run.sh [WORD]     only the programs whose names hold the word: `sh tests/run.sh assay-store`
# What each prints is in target/tests/CRATE.NAME.log, and all of it in target/test.log; what failed is shown whole.
set -eu
cd "$(dirname "$0")/.."
logs=$PWD/target/tests
tab=$(printf '\t')

# When a program begins: those that take long at first, so that none of them is left over. Those of the last group have the
# machine to themselves, for the reason beside each: a test that another program disturbs waits for what has to come
# instead of for a time, or stands in one of these.
group() { # name
    case $1 in
        assay.it) echo 1 ;;
        assay-verify.campaign | assay-verify.campaign_independent | assay-verify.it | foreign) echo 2 ;;
        assay.quiet) echo alone ;;          # rates within a hundredth, and figures in turns with fio and sysbench
        assay-store.speed) echo alone ;;    # the time in which 10,000 records are listed
        assay-fleet.thousand) echo alone ;; # how late a thousand nodes begin
        *) echo 3 ;;
    esac
}

# Group, name, directory and path of each program, from what cargo tells of its build. Two of them belong to no crate.
list() {
    {
        sed -n 's|.*"manifest_path":"\([^"]*/\([^"/]*\)\)/Cargo.toml".*"name":"\([^"]*\)","src_path".*"profile":{[^}]*"test":true}.*"executable":"\([^"]*\)".*|\2.\3\t\1\t\4|p' "$logs/built.json"
        printf 'doc\t.\tcargo\nforeign\t.\tsh\n'
    } | while IFS= read -r line; do
        printf '%s\t%s\n' "$(group "${line%%$tab*}")" "$line"
    done | sort
}

# Runs one program in the directory of its crate, as cargo does. Tells in a line how it ended, after how many seconds, and how
# much time of the processors it took, its own and the kernel's.
one() { # name
    directory=$(awk -F "$tab" -v name="$1" '$2 == name {print $3}' "$logs/list")
    program=$(awk -F "$tab" -v name="$1" '$2 == name {print $4}' "$logs/list")
    begun=$(date +%s)
    result=ok
    case $1 in
        doc) cargo test --locked --workspace --doc --quiet --no-fail-fast ;;
        # All media that are slower than the machine are measured beside each other.
        assay.quiet) (cd "$directory" && RUST_TEST_THREADS=$(($(nproc) * 6)) exec "$program" --show-output) ;;
        foreign) sh tests/foreign.sh --quick ;;
        *) (cd "$directory" && exec "$program" --show-output) ;;
    esac > "$logs/$1.log" 2>&1 || result=FAILED
    [ $result = ok ] || : > "$logs/$1.failed"
    # In a pipe it would tell of the pipe.
    times > "$logs/$1.times"
    printf '%-6s %-36s %4d s  %s\n' $result "$1" $(($(date +%s) - begun)) "$(tail -n 1 "$logs/$1.times")"
}

if [ "${1:-}" = --one ]; then
    one "$2"
    exit
fi

mkdir -p "$logs"
rm -f "$logs"/*
cargo test --locked --workspace --no-run --quiet --message-format=json-render-diagnostics > "$logs/built.json"
list | awk -F "$tab" -v word="${1:-}" 'index($2, word)' > "$logs/list"
# Each program that was built is run: a list that cannot be read any more would leave them out without a word.
built=$(grep -c '"profile":{[^}]*"test":true}.*"executable":"[^"]' "$logs/built.json" || true)
listed=$(list | grep -vcE "$tab(doc|foreign)$tab")
[ "$listed" -gt 0 ] && [ "$built" = "$listed" ] || { echo "$built test programs were built, $listed of them are listed"; exit 1; }
[ -s "$logs/list" ] || { echo "no test program has this word in its name: ${1:-}"; exit 1; }
twice=$(cut -f 2 "$logs/list" | uniq -d)
[ -z "$twice" ] || { echo "test programs of the same name: $twice"; exit 1; }
# Most tests wait for a slow medium: three times as many at a time as there are processors.
RUST_TEST_THREADS=$(($(nproc) * 3))
export RUST_TEST_THREADS
run() { # programs at a time, groups
    awk -F "$tab" -v groups="^($2)\$" '$1 ~ groups {print $2}' "$logs/list" | xargs -r -n 1 -P "$1" sh tests/run.sh --one
}
run 2 '1|2|3'
run 1 alone

cut -f 2 "$logs/list" | while read -r name; do cat "$logs/$name.log"; done > target/test.log
grep -E '^SKIP:' target/test.log | sort -u || true
# Tests that others start, as processes of their own, are no skips.
awk '/^test result/ {p+=$4; f+=$6; i+=$8} /\.\.\. ignored, started by another test$/ {i--} /^SKIP: tests on/ {o++; next} /^SKIP:/ {s++} END {printf "%d passed, %d failed, %d skipped\n", p-s, f, i+s+o}' target/test.log
failed=0
for log in "$logs"/*.log; do
    [ -e "${log%.log}.failed" ] || continue
    failed=1
    printf '\nFAILED: %s\n' "$log"
    cat "$log"
done
exit $failed
