#!/bin/sh
# Phrases that have to be decoded, in comments of the code: how many there are, where, and what to write instead. Fails where
# there are more than LIMIT in 1,000 lines of comments. `tests/words.sh list` prints each line.
set -eu
cd "$(dirname "$0")/.."
LIMIT=2
phrases='so many|nobody|whoever|is told|of which|none that|in the place of'
comments=$(grep -rhE '^[[:space:]]*//' crates/*/src --include='*.rs' | wc -l)
found=$(grep -rniE "^[[:space:]]*//.*\b($phrases)\b" crates/*/src --include='*.rs' || true)
count=$(printf '%s' "$found" | grep -c . || true)
if [ "${1:-}" = list ] || [ $((count * 1000)) -gt $((comments * LIMIT)) ]; then
    printf '%s\n' "$found"
    cat << 'WORDS'

instead of          write
so many             the parameter: `repeats` repeats, at most `most` bytes; "6 of 7 units"
nobody, whoever     no user, users, the caller, the process that …; or say what happens
is told             is reported, is printed, is recorded; receives
of which            whose; or a second sentence
none that           no …
in the place of     instead of, as
WORDS
fi
echo "words: $count marked phrases in $comments lines of comments (limit: $LIMIT in 1,000)"
[ $((count * 1000)) -le $((comments * LIMIT)) ]
