#!/bin/sh
# Installs what lies beside this file: ./install.sh [PREFIX], /usr/local where none is named. Undo: ./install.sh --remove [PREFIX]
set -eu
cd "$(dirname "$0")"
remove=
[ "${1:-}" != --remove ] || { remove=1; shift; }
prefix=${1:-/usr/local}
put() { # file, directory, name, mode
    if [ -n "$remove" ]; then
        rm -f "$prefix/$2/$3"
    else
        mkdir -p "$prefix/$2"
        cp "$1" "$prefix/$2/$3"
        chmod "$4" "$prefix/$2/$3"
    fi
}
put assay bin assay 755
for page in man/*.1; do
    put "$page" share/man/man1 "${page#man/}" 644
done
put completions/assay.bash share/bash-completion/completions assay 644
put completions/_assay share/zsh/site-functions _assay 644
put completions/assay.fish share/fish/vendor_completions.d assay.fish 644
[ -n "$remove" ] || "$prefix/bin/assay" --version
