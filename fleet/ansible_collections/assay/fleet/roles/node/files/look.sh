#!/bin/sh
# Says what a node is and what of assay is there: look.sh DIRECTORY TARGET. One KEY=VALUE a line.
set -eu
directory=$1 target=$2
case $directory in
\~/*) directory=$HOME/${directory#\~/} ;;
/*) ;;
*)
    echo "assay: $directory is neither an absolute path nor one that begins with ~/" >&2
    exit 2
    ;;
esac

while [ "${directory%/}" != "$directory" ] && [ "$directory" != / ]; do directory=${directory%/}; done

# A directory of somebody else in the same place would be somebody else's program.
(umask 077 && mkdir -p "$directory")
if [ -L "$directory" ] || [ ! -d "$directory" ] || [ ! -O "$directory" ]; then
    echo "assay: $directory is not a directory of the user who logged in: choose another one" >&2
    exit 2
fi
case $(ls -ld "$directory" | head -n 1 | cut -c 6,9) in
*w*)
    echo "assay: others may write in $directory: choose another one, or chmod go-w it" >&2
    exit 2
    ;;
esac

# The mark of a directory that holds nothing of the user's: clean.sh removes nothing elsewhere. One that is there is taken
# where it is empty; two that look at once may both make the mark.
mark=$directory/.assay-fleet
if [ ! -e "$mark" ] && [ ! -L "$mark" ] && [ -z "$(ls -A "$directory")" ]; then
    (umask 077 && set -C && echo "assay fleet made this directory, and assay fleet clean removes it" > "$mark") 2> /dev/null || true
fi
if [ -L "$mark" ] || [ ! -f "$mark" ] || [ ! -O "$mark" ]; then
    echo "assay: $directory has files that assay did not put there: choose another directory (assay_directory); where an earlier assay put them there, make an empty file .assay-fleet in it" >&2
    exit 2
fi
echo "directory=$directory"

# The kernel's machine, and the width of what runs on it: the fifth byte of an ELF file is 2 for 64 bits.
echo "machine=$(uname -m)"
if [ "$(head -c 5 /bin/sh | tail -c 1)" = "$(printf '\002')" ]; then echo "bits=64"; else echo "bits=32"; fi

free() {
    df -Pk "$1" 2> /dev/null | while read -r _ _ _ blocks _; do
        case $blocks in *[!0-9]*) ;; *) echo "$2=$((blocks * 1024))" ;; esac
    done
}
free "$directory" free_bytes
if [ -n "$target" ]; then
    free "$target" target_free_bytes
    # What is mounted there: nodes may measure on one volume of a server.
    df -Pk "$target" 2> /dev/null | while read -r source blocks _; do
        case $blocks in *[!0-9]*) ;; *) printf 'target_source=%s\ntarget_total_bytes=%s\n' "$source" $((blocks * 1024)) ;; esac
    done
fi

if [ -f "$directory/assay" ]; then
    echo "sha256=$(sha256sum "$directory/assay" | cut -d ' ' -f 1)"
    echo "version=$("$directory/assay" -V 2> /dev/null || true)"
    echo "commit=$("$directory/assay" --version 2> /dev/null | sed -n 's/^commit  *//p' || true)"
fi
