#!/bin/sh
# Installs what lies beside this file: ./install.sh [PREFIX], /usr/local where none is named. Undo: ./install.sh --remove [PREFIX]
set -eu
remove=
[ "${1:-}" != --remove ] || { remove=1; shift; }
prefix=${1:-/usr/local}
case $prefix in /*) ;; *) prefix=$(pwd)/$prefix ;; esac
cd "$(dirname "$0")"
# A new file takes the place of the old one at once: a program that runs goes on, and no link is written through.
put() { # file, directory, name, mode
    if [ -n "$remove" ]; then
        rm -f "$prefix/$2/$3"
    else
        mkdir -p "$prefix/$2"
        new=$(mktemp "$prefix/$2/.$3.XXXXXX")
        cp "$1" "$new" && chmod "$4" "$new" && mv -f "$new" "$prefix/$2/$3" || { rm -f "$new"; exit 1; }
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
