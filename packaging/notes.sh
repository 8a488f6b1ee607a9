#!/bin/sh
# The section of CHANGELOG.md about one version: packaging/notes.sh 0.1.0
set -eu
cd "$(dirname "$0")/.."
version=${1:?give a version, like 0.1.0}
notes=$(awk -v head="## [$version]" 'index($0, head) == 1 { inside = 1; next } /^## / { inside = 0 } inside' CHANGELOG.md)
if [ -z "$notes" ]; then
    echo "notes: CHANGELOG.md has no section $version: add \"## [$version] - DATE\"" >&2
    exit 1
fi
printf '%s\n' "$notes"
