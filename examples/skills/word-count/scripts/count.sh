#!/bin/sh
# Prints how many lines and words a file has.
set -eu
printf 'lines: %d\n' "$(wc -l < "$1")"
printf 'words: %d\n' "$(wc -w < "$1")"
