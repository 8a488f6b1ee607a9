# What both scripts of the program on Windows share, sourced by them: a directory of its own for the work, paths as Windows
# has them, checks and skips that are counted. `work` names the directory.
exe=target/x86_64-pc-windows-gnu/debug/assay.exe
# A run that was killed leaves its memory mounted.
umount $work/theirs 2> /dev/null || true
rm -rf "$work"
mkdir -p "$work/data" "$work/place"
windows() { "$WINE" winepath -w "$(pwd)/$work/$1" 2> /dev/null | tr -d '\r'; }
data=$(windows data) place=$(windows place)
passed=0 failed=0
check() { # what was to be true, and the exit code of what showed it
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $1"; fi
}
# As tests of cargo do, what is skipped says so and has passed; tests/windows.sh takes it off.
skip() { # what is not tested: why
    passed=$((passed + 1))
    echo "SKIP: $1"
}
