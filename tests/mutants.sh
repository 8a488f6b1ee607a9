#!/bin/sh
# Do the tests notice mistakes? Draws mistakes at random from all that cargo-mutants can make in the shipped crates, builds each
# one, and runs the tests of its crate. What these do not notice goes to the end-to-end tests of that crate's subject.
#
#   sh tests/mutants.sh [CRATE ...]     all shipped crates where none is named
#   SEED=7 SAMPLE=300                   which mistakes are drawn, and how many of them (1, 300)
#   SHARD=2/8                           every eighth of them only, beginning with the second
#   TEST_SECONDS=600                    what the tests of one mistake may take
#
# Results: target/mutants/results.tsv (caught, caught end to end, SURVIVED, no-build, and the mistake). Ends with 1 where fewer than
# 85 % are caught. Needs cargo-mutants: `cargo install --locked cargo-mutants`.
set -eu
cd "$(dirname "$0")/.."
seed=${SEED:-1}
sample=${SAMPLE:-300}
shard=${SHARD:-1/1}
seconds=${TEST_SECONDS:-600}
out=target/mutants
# No test ships: what only measures or attacks the program, and what is not compiled on this system, is left out.
left_out='crates/assay-(bench|calibrate|fuzz|lab)/|/(windows|portable|no_asks|parquet)(/|\.rs)|(inline|json)_schema|/tests?(/|\.rs)|_tests\.rs|/(samples|scenes)\.rs'

# The end-to-end tests that concern a crate, by the names of their modules.
concerns() {
    case $1 in
        assay-analysis) echo 'answers:: compare:: rank:: advise:: plan:: fleet_report::' ;;
        assay-core) echo 'answers:: command_line:: queries:: json:: import::' ;;
        assay-device) echo 'identity:: raw:: verify:: discard:: sensors::' ;;
        assay-engine | assay-runner) echo 'command_line:: observations:: at_once:: stops:: signals:: fio:: resume::' ;;
        assay-fio | assay-original | assay-programs) echo 'fio:: fio_calls:: originals:: manner::' ;;
        assay-import) echo 'import:: texts::' ;;
        assay-pictures | assay-report) echo 'pictures:: article:: sharing:: clients:: texts:: compare:: rank:: fleet_report::' ;;
        assay-stats) echo 'answers:: compare:: rank::' ;;
        assay-store) echo 'spool:: queries:: resume:: observations::' ;;
        assay-verify) echo 'verify:: restore:: raw::' ;;
        # Those named after the crate: fleet, serve, submit, watch. The tests of `assay` and `assay-public` are end to end already.
        *) echo "${1#assay-}" ;;
    esac
}

if ! cargo mutants --version > /dev/null 2>&1; then
    echo "mutants: needs cargo-mutants: cargo install --locked cargo-mutants" >&2
    exit 1
fi
# Mistakes are made in a copy, which keeps what it has built.
tree=$PWD/$out/tree
mkdir -p "$tree"
git ls-files -z | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C "$tree"
export CARGO_TARGET_DIR="$PWD/$out/build"
[ $# -gt 0 ] || set -- $(ls crates)
packages=$(printf -- '-p %s ' "$@")
# shellcheck disable=SC2086 # several options
cargo mutants --list $packages | grep -vE "$left_out" |
    awk -v seed="$seed" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' | sort | head -n "$sample" | cut -f 2- |
    awk -v shard="$shard" '{ split(shard, part, "/") } NR % part[2] == part[1] % part[2]' > "$out/drawn"
: > "$out/results.tsv"

# Runs the tests of one mistake. Prints caught, timeout, missed or unviable, as cargo-mutants does.
try() { # mistake, package of the mistake, other arguments
    mistake=$1 package=$2
    shift 2
    name=$(printf '%s' "$mistake" | sed 's/[][\\.*^$+?(){}|]/\\&/g')
    rm -rf "$out/mutants.out"
    # cargo-mutants 27.1 runs each `delete field` too, whatever the name: of the list with this one, a part of one is run.
    listed=$(cargo mutants -d "$tree" --list --colors never -p "$package" -f "${mistake%%:*}" -F "^$name\$" 2> /dev/null)
    at=$(printf '%s\n' "$listed" | grep -nxF "$mistake" | cut -d : -f 1)
    part=$((at - 1))/$(printf '%s\n' "$listed" | wc -l)
    cargo mutants -d "$tree" --shard "$part" -f "${mistake%%:*}" --in-place --baseline skip --timeout "$seconds" --build-timeout 1200 --no-times --colors never -o "$out" \
        -p "$package" -F "^$name\$" "$@" > "$out/last.log" 2>&1 || :
    for answer in caught timeout missed unviable; do
        if [ -s "$out/mutants.out/$answer.txt" ]; then echo $answer; return; fi
    done
    echo nothing
}

while IFS= read -r mistake; do
    crate=${mistake#crates/}
    crate=${crate%%/*}
    answer=$(try "$mistake" "$crate")
    if [ "$answer" = missed ] && [ "$crate" != assay ] && [ "$crate" != assay-public ]; then
        filters=$(concerns "$crate")
        # shellcheck disable=SC2086 # several filters
        answer=$(try "$mistake" "$crate" --test-package assay -- --test it -- $filters)
        case $answer in caught | timeout) answer='caught end to end' ;; esac
    fi
    case $answer in
        timeout) answer=caught ;;
        missed) answer=SURVIVED ;;
        unviable) answer=no-build ;;
        nothing) answer=not-run ;;
    esac
    printf '%s\t%s\n' "$answer" "$mistake" | tee -a "$out/results.tsv"
done < "$out/drawn"

awk -F '\t' -v seed="$seed" '
    $1 ~ /^caught/ { caught++ } $1 == "SURVIVED" { survived++ } $1 == "no-build" { broken++ } $1 == "not-run" { lost++ }
    END {
        all = caught + survived
        printf "mutants: seed %s: %d of %d caught (%.0f %%), %d do not build, %d could not be run\n", seed, caught, all, all ? 100 * caught / all : 0, broken, lost
        exit !(all && caught >= 0.85 * all)
    }' "$out/results.tsv"
