#!/bin/sh
# Do the tests bite? Makes one small mistake at a time in a copy of the tree, and looks whether a test fails.
#
#   sh tests/mutants.sh [CRATE ...]     all crates where none is named
#   PART=2/5                            every fifth mistake only, beginning with the second
#   FROM=9                              the mistakes of the lists from this number on
#   ONLY='journal/|restore'             those in files whose names match
#   MINUTES=25                          begin no other after this time
#   TEST_SECONDS=480                    what the tests may take (240) on a busy machine
#
# tests/mutants/CRATE.txt lists them: `@ FILE`, then `- LINE` and `+ LINE`, without indentation. The old line
# stands exactly once in its file. `! ARGUMENTS` says what cargo test runs for those that follow; without it,
# `--lib --tests` of the crate. Where they name `--lib`, the unit tests run alone at first, and the others only for what
# survives them. A test filter behind ` -- ` is for long tests. Lines that begin with # are comments.
#
# Answers: killed (a test failed), endless (the tests ran for too long, which counts as killed), SURVIVED, no-build (says
# nothing), stale (the line is not in the file any more: mend the list), unsound (the tests fail without the mistake
# too, or the build had no time). All of them are in target/mutants/results.txt, with the first tests that failed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
tree=$root/target/mutants/tree
original=$root/target/mutants/original
results=$root/target/mutants/results.txt
part=${PART:-1/1}
from=${FROM:-1}
only=${ONLY:-.}
end=$(($(date +%s) + ${MINUTES:-600} * 60))
seconds=${TEST_SECONDS:-240}
# A directory of its own: cargo takes what one tree has built for what the other one needs.
export CARGO_TARGET_DIR="$root/target/mutants/build"

mkdir -p "$tree"
cd "$root"
# Only what git knows, as it is now; what did not change keeps its time, so that it is not built again.
git ls-files -z | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C "$tree"
# What an earlier run left changed when it was killed has its old time again: the build must not be taken for fresh.
[ ! -f "$root/target/mutants/open" ] || touch "$tree/$(cat "$root/target/mutants/open")"
: >"$results"
[ $# -gt 0 ] || set -- $(cd "$root/tests/mutants" && ls | sed 's/\.txt$//')

said() {
    failed=
    [ "$1" != killed ] || failed=$(sed -n 's/^    \([a-z0-9_:]*\)$/\1/p' "$log" | sort -u | head -n 3 | tr '\n' ' ')
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$crate" "$file" "$old" "$new" "$failed" >>"$results"
    printf '%-8s %s: %s\n' "$1" "$file" "$new"
}

# Sets `answer`: passes, fails, endless where the tests had too little time, no-build, or late where the build had.
# The build has a time of its own, so that a busy machine does not make it a failing test.
tests() {
    log=$root/target/mutants/last.log
    status=0
    # shellcheck disable=SC2086 # the arguments are several
    (cd "$tree" && timeout -k 5 1200 cargo test -q --locked --no-run $1) >"$log" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        answer=late
        ! grep -q 'could not compile' "$log" || answer=no-build
        return
    fi
    # shellcheck disable=SC2086
    (cd "$tree" && timeout -k 5 "$seconds" cargo test -q --locked $1) >"$log" 2>&1 || status=$?
    case $status in
    0) answer=passes ;;
    124 | 137) answer=endless ;;
    *) answer=fails ;;
    esac
}

# Where the tests fail without a mistake they say nothing with one.
sound() {
    if ! grep -qxF -e "$1" "$root/target/mutants/sound" 2>/dev/null; then
        cp "$original" "$tree/$file"
        tests "$1"
        [ "$answer" = passes ] || return 1
        echo "$1" >>"$root/target/mutants/sound"
    fi
}

mistake() {
    OLD=$old NEW=$new awk '
        { line = $0; sub(/^[ \t]+/, "", line) }
        line == ENVIRON["OLD"] { found++; print ENVIRON["NEW"]; next }
        { print }
        END { exit found == 1 ? 0 : 1 }' "$original" >"$tree/$file"
}

one() {
    case " $arguments " in
    *' -- '*) stages="$arguments|$arguments" ;;
    *' --lib '*) stages="-p $crate --lib|$arguments" ;;
    *) stages="$arguments|$arguments" ;;
    esac
    # Of the copy, since the tree itself may go on meanwhile.
    if ! cp "$tree/$file" "$original"; then
        said stale
        return
    fi
    echo "$file" >"$root/target/mutants/open"
    if ! mistake; then
        said stale
    elif ! sound "${stages%%|*}"; then
        said unsound
    else
        mistake
        tests "${stages%%|*}"
        if [ "$answer" = passes ] && [ "${stages%%|*}" != "${stages#*|}" ]; then
            if sound "${stages#*|}"; then
                mistake
                tests "${stages#*|}"
            else
                answer=late
            fi
        fi
        case $answer in
        passes) said SURVIVED ;;
        fails) said killed ;;
        endless) said endless ;;
        no-build) said no-build ;;
        late) said unsound ;;
        esac
    fi
    cp "$original" "$tree/$file"
    rm "$root/target/mutants/open"
}

rm -f "$root/target/mutants/sound"
number=0
for crate; do
    arguments="-p $crate --lib --tests"
    while IFS= read -r line; do
        case $line in
        '@ '*) file=${line#@ } ;;
        '! '*) arguments=${line#! } ;;
        '- '*) old=${line#- } ;;
        '+'*)
            new=${line#+}
            new=${new# }
            number=$((number + 1))
            if [ "$number" -ge "$from" ] && [ "$(date +%s)" -lt "$end" ] && echo "$file" | grep -qE "$only" &&
                [ $((number % ${part#*/})) -eq $((${part%/*} % ${part#*/})) ]; then
                one </dev/null
            fi
            ;;
        esac
    done <"$root/tests/mutants/$crate.txt"
done

awk -F '\t' '
    { all[$2]; n[$2 " " $1]++; sum[$1]++ }
    END {
        printf "%-16s %8s %8s %8s %8s\n", "crate", "killed", "survived", "no-build", "other"
        for (crate in all) {
            killed = n[crate " killed"] + n[crate " endless"]; survived = n[crate " SURVIVED"]
            other = n[crate " stale"] + n[crate " unsound"]
            printf "%-16s %8d %8d %8d %8d\n", crate, killed, survived, n[crate " no-build"], other | "sort"
        }
        close("sort")
        killed = sum["killed"] + sum["endless"]
        judged = killed + sum["SURVIVED"]
        printf "%d of %d killed (%.0f %%)\n", killed, judged, judged ? 100 * killed / judged : 0
        exit killed * 10 >= judged * 9 ? 0 : 1
    }' "$results"
