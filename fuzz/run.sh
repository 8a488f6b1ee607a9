#!/bin/sh
# Looks for inputs that break a claim of crates/assay-fuzz: each target for so many seconds, or one of them.
#   fuzz/run.sh SECONDS [TARGET]
#   ASSAY_FUZZ_FORMAT='H2testw' fuzz/run.sh SECONDS format     one format of results alone
# A finding is kept in fuzz/artifacts/TARGET; inputs that reached new code in fuzz/corpus/TARGET, for the next run.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
only=${2:-}
case $seconds in '' | *[!0-9]*) echo "fuzz: SECONDS=$seconds: give whole seconds for each target" >&2; exit 2 ;; esac
if ! cargo +nightly fuzz --version > /dev/null 2>&1; then
    echo "fuzz: needs a nightly compiler and cargo-fuzz: rustup toolchain install nightly; cargo install cargo-fuzz" >&2
    exit 1
fi
# Without a sanitizer: what is fuzzed here holds next to no unsafe code, and runs twice as fast.
cargo +nightly fuzz build --sanitizer none any
any=fuzz/target/$(rustc -vV | sed -n 's/^host: //p')/release/any
cargo build --locked --quiet -p assay-fuzz
tool=${CARGO_TARGET_DIR:-target}/debug/assay-fuzz
"$tool" seeds fuzz/corpus
found=0
seen=0
printf '%-16s %12s %8s %8s %8s  %s\n' target runs edges corpus seconds findings
for target in $("$tool" list); do
    if [ -n "$only" ] && [ "$target" != "$only" ]; then continue; fi
    seen=$((seen + 1))
    mkdir -p "fuzz/artifacts/$target"
    log=fuzz/artifacts/$target/log
    finding=none
    # An input may take 1 s of processor time (the target itself looks at that) and hang for 20 s at most.
    ASSAY_FUZZ_TARGET=$target "$any" -max_total_time="$seconds" -timeout=20 -malloc_limit_mb=200 -rss_limit_mb=1000 \
        -max_len=65536 -print_final_stats=1 -artifact_prefix="fuzz/artifacts/$target/" "fuzz/corpus/$target" \
        > "$log" 2>&1 || { finding=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1); found=$((found + 1)); }
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -1)
    corpus=$(sed -n 's/.* corp: \([0-9]*\).*/\1/p' "$log" | tail -1)
    took=$(sed -n 's/^Done .* runs in \([0-9]*\) second.*/\1/p' "$log")
    printf '%-16s %12s %8s %8s %8s  %s\n' "$target" "${runs:-?}" "${edges:-?}" "${corpus:-?}" "${took:-?}" "${finding:-see $log}"
done
if [ "$seen" = 0 ]; then echo "fuzz: TARGET=$only: there are" $("$tool" list) >&2; exit 2; fi
[ "$found" = 0 ]
