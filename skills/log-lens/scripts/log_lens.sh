#!/bin/sh
# Counts what is in logs with POSIX tools only. Data goes to stdout, one
# tab-separated row per line; remarks and errors go to stderr.
set -eu
LC_ALL=C
export LC_ALL

usage() {
    cat <<'TEXT'
usage: log_lens.sh COMMAND [OPTION...] [FILE...]      (no FILE, or -: stdin)

commands:
  summary   lines, time span, levels, status classes, addresses
  lines     most frequent lines            --fold: treat numbers and ids as equal
  words     most frequent words            --min N: shortest word (default 3)
  levels    lines by level (ERROR, WARN, ...)
  status    requests by HTTP status        --by code|class (default code)
  paths     most requested paths           --status P: only status codes starting with P
  hist      lines over time                --by minute|hour|day (default hour)
  slow      percentiles of durations in ms, then the slowest lines
                                           --key NAME, or --field N (-1 is the last)
                                           --unit ms|s|us: of numbers without a unit
  ips       lines by client address        --count: only how many are different

options for all:
  --top N       rows to print (default 10; hist prints all unless it is given)
  --match ERE   only lines that match this extended regular expression
  --            what follows are files
  -h, --help    this text

exit status: 0 done, 1 the input cannot be used or has nothing to count, 2 wrong usage
TEXT
}

wrong() {
    echo "error: $1; see --help" >&2
    exit 2
}

fail() {
    echo "error: $1" >&2
    exit 1
}

whole() {
    case $2 in '' | *[!0-9]* | ???????*) wrong "$1 needs a whole number below 1000000" ;; esac
}

command='' top='' match='' by='' fold=0 min=3 status='' key='' field=0 unit='' count=0
files=0
for argument; do
    shift
    if [ -n "${wants:-}" ]; then
        case $wants in
        --top) whole --top "$argument" && top=$argument ;;
        --min) whole --min "$argument" && min=$argument ;;
        --match) match=$argument ;;
        --by) by=$argument ;;
        --status) status=$argument ;;
        --key) key=$argument ;;
        --field) field=$argument ;;
        --unit) unit=$argument ;;
        esac
        wants=''
        continue
    fi
    case ${plain:+file}$argument in
    --) plain=1 ;;
    -h | --help) usage && exit 0 ;;
    --top | --min | --match | --by | --status | --key | --field | --unit) wants=$argument ;;
    --fold) fold=1 ;;
    --count) count=1 ;;
    -?*) wrong "unknown option \`$argument\`" ;;
    *)
        if [ -z "$command" ]; then
            command=$argument
        else
            set -- "$@" "$argument"
            files=$((files + 1))
        fi
        ;;
    esac
done

[ -z "${wants:-}" ] || wrong "$wants needs a value"
case $command in
summary | lines | words | levels | status | paths | hist | slow | ips) ;;
'') wrong "a command is missing" ;;
*) wrong "unknown command \`$command\`" ;;
esac
case $command:$by in
hist:) by=hour ;;
hist:minute | hist:hour | hist:day | status:code | status:class | *:) ;;
*) wrong "--by $by does not fit $command" ;;
esac
case $status in *[!0-9]*) wrong "--status needs digits" ;; esac
case $key in *[!A-Za-z0-9_.-]*) wrong "--key may have letters, digits, _ . -" ;; esac
case ${field#-} in '' | *[!0-9]* | ????*) wrong "--field needs a whole number" ;; esac
case $unit in '' | ms | s | us) ;; *) wrong "--unit is ms, s or us" ;; esac
if [ -n "$match" ]; then
    result=0
    echo | grep -E -e "$match" >/dev/null 2>&1 || result=$?
    [ "$result" -le 1 ] || wrong "--match is not a regular expression"
fi
if [ "$files" -eq 0 ]; then
    [ ! -t 0 ] || wrong "give a file, or pipe text in"
    set -- -
fi
for file; do
    [ "$file" = - ] || [ -e "$file" ] || fail "no such file: $file"
    [ "$file" = - ] || { [ ! -d "$file" ] && [ -r "$file" ]; } || fail "cannot be read: $file"
done

library=$(dirname -- "$0")/log_lens.awk

# All input, without control characters: they could steer a terminal.
input() {
    for file; do
        case $file in -) cat ;; *) cat <"$file" ;; esac
    done | tr -d '\000-\010\013-\037\177' | if [ -n "$match" ]; then grep -E -e "$match" || :; else cat; fi
}

lens() {
    # LOG_LENS_AWK chooses another awk; it may be two words.
    ${LOG_LENS_AWK:-awk} -v mode="$1" -v by="$by" -v fold="$fold" -v least="$min" -v status="$status" \
        -v key="$key" -v field="$field" -v unit="$unit" -v top="${top:-10}" -f "$library"
}

# Counts equal lines: most frequent first, equal counts in alphabetical order.
tally() {
    sort | uniq -c | sed 's/^ *\([0-9]*\) /\1	/' | sort -t '	' -k 1,1nr -k 2
}

rows() {
    case $command in
    summary) input "$@" | lens summary ;;
    hist) input "$@" | lens hist | sort | uniq -c | lens bars | if [ -n "$top" ]; then head -n "$top"; else cat; fi ;;
    slow) input "$@" | lens slow | sort -n | lens percentiles ;;
    levels | status) input "$@" | lens "$command" | tally | lens shares | head -n "${top:-20}" ;;
    ips) input "$@" | lens ips | if [ "$count" -eq 1 ]; then sort -u | grep -c . || :; else tally | head -n "${top:-10}"; fi ;;
    words) input "$@" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9_\200-\377' '\n' | lens words | tally | head -n "${top:-10}" ;;
    *) input "$@" | lens "$command" | tally | head -n "${top:-10}" ;;
    esac
}

# The output is small; keeping it shows whether there was anything to count.
found=$(rows "$@")
case $found in '' | 0) fail "nothing to count: the input is empty, or no line has what \`$command\` looks for" ;; esac
printf '%s\n' "$found"
