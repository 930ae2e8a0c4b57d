#!/bin/sh
# Runs every case with each shell and awk that is installed: sh tests/run.sh
# Status 0 if all pass. Files are made in a temporary folder only.
set -u
root=$(cd "$(dirname -- "$0")/.." && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0

# check NAME STATUS EXPECTED COMMAND... ; EXPECTED `~text` must be in stderr.
check() {
    name=$1 status=$2 expected=$3
    shift 3
    got_status=0
    got=$($shell "$root/scripts/log_lens.sh" "$@" 2>"$folder/stderr" <"$folder/stdin") || got_status=$?
    errors=$(cat "$folder/stderr")
    ok=1
    [ "$got_status" -eq "$status" ] || ok=0
    case $expected in
    '~'*) case $errors in *"${expected#?}"*) ;; *) ok=0 ;; esac ;;
    *) [ "$got" = "$expected" ] || ok=0 ;;
    esac
    if [ $ok -eq 1 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s (%s, %s): status %s\n%s\n--- instead of %s\n%s\n%s\n' \
            "$name" "$shell" "$LOG_LENS_AWK" "$got_status" "$got" "$status" "$expected" "$errors"
    fi
}

stdin() {
    printf "$1" >"$folder/stdin"
}

tab=$(printf '\t') full=########################################
access=$root/assets/access.log app=$root/assets/app.log

cases() {
    stdin ''
    check 'summary of an access log' 0 "lines${tab}10
earliest${tab}2025-05-12 09:00
latest${tab}2025-05-12 11:31
status 2xx${tab}5
status 3xx${tab}1
status 4xx${tab}2
status 5xx${tab}2
addresses${tab}4" summary "$access"
    check 'levels with shares' 0 "3${tab}42.9%${tab}INFO
2${tab}28.6%${tab}ERROR
2${tab}28.6%${tab}WARN" levels "$app"
    check 'a note for lines without a level' 0 '~note: 1 of 8 lines have nothing for `levels`' levels "$app"
    check 'status classes' 0 "5${tab}50.0%${tab}2xx
2${tab}20.0%${tab}4xx
2${tab}20.0%${tab}5xx
1${tab}10.0%${tab}3xx" status --by class "$access"
    check 'paths of failed requests' 0 "2${tab}/report" paths --status 5 "$access"
    check 'histogram' 0 "2025-05-12 09:00${tab}4${tab}$full
2025-05-12 10:00${tab}3${tab}##############################
2025-05-12 11:00${tab}3${tab}##############################" hist --by hour "$access"
    check 'durations' 0 "count${tab}10
p50${tab}31.000
p90${tab}5001.000
p95${tab}5004.000
p99${tab}5004.000
max${tab}5004.000" slow --top 0 "$access"
    check 'addresses' 0 "5${tab}203.0.113.7
2${tab}198.51.100.23" ips --top 2 "$access"
    check 'different addresses' 0 4 ips --count "$access"
    check 'folded lines' 0 "2${tab}#-#-#T#:#:#Z ERROR job # failed after # tries" lines --fold --match ERROR "$app"

    stdin 'b\na\nb\n\na\nc\n'
    check 'equal counts are in order' 0 "2${tab}a
2${tab}b
1${tab}c" lines
    stdin 'The cat. THE dog; caf\303\251 caf\303\251\r\n'
    check 'words of any encoding' 0 "2${tab}$(printf 'caf\303\251')
2${tab}the
1${tab}cat
1${tab}dog" words
    stdin '\377\376 ERROR \033[31mred\n\000\n'
    check 'bytes that are not UTF-8' 0 "1${tab}100.0%${tab}ERROR" levels
    stdin 'level=warn a\n{"level":"error"}\n[core:error] x\nwarning: y\nno error here\n[crit] z\nTERRORS\nINFORMED ERROR\n'
    check 'ways to write a level' 0 "3${tab}50.0%${tab}ERROR
2${tab}33.3%${tab}WARN
1${tab}16.7%${tab}CRITICAL" levels
    stdin '{"status": 404, "path": "/a?b"}\nstatus=200 path=/a\nstatus_code=503 uri=/c\nhttpstatus=999\n'
    check 'status in JSON and logfmt' 0 "1${tab}33.3%${tab}200
1${tab}33.3%${tab}404
1${tab}33.3%${tab}503" status
    check 'paths in JSON and logfmt' 0 "2${tab}/a
1${tab}/c" paths
    stdin 'May  2 03:04:05 host x\n2025/05/02 03:04:05 y\n[02/May/2025:03:05:00 +0200] z\n'
    check 'three kinds of times' 0 "05-02 03:04${tab}1${tab}$full
2025-05-02 03:04${tab}1${tab}$full
2025-05-02 03:05${tab}1${tab}$full" hist --by minute
    stdin 'took 12ms\nlatency=1.5s\n{"duration_ms":7}\nelapsed=900us\nrequest_time=0.25\nnothing\n'
    check 'units' 0 "count${tab}5
p50${tab}12.000
p90${tab}1500.000
p95${tab}1500.000
p99${tab}1500.000
max${tab}1500.000
slowest${tab}1500.000${tab}latency=1.5s" slow --top 1
    stdin 'a 5\nb 7\nc x\n'
    check 'a field from the end, in seconds' 0 "count${tab}2
p50${tab}5000.000
p90${tab}7000.000
p95${tab}7000.000
p99${tab}7000.000
max${tab}7000.000" slow --field -1 --unit s --top 0
    stdin '10.0.0.1:8080 a\n999.1.1.1 12:34:56 b\nfrom 2001:DB8::1 c\n1:2:3:4:5:6:7:8\naa:bb:cc:dd:ee:ff\n'
    check 'what is an address' 0 "1${tab}10.0.0.1
1${tab}1:2:3:4:5:6:7:8
1${tab}2001:db8::1" ips

    printf 'x\n' >"$folder/a=b .log"
    printf 'y\n' >"$folder/-z"
    check 'odd file names' 0 "1${tab}x
1${tab}y" lines "$folder/a=b .log" -- "$folder/-z"
    : >"$folder/empty.log"
    check 'an empty file' 1 '~nothing to count' summary "$folder/empty.log"
    check 'a missing file' 1 '~no such file: no/such.log' lines no/such.log
    check 'a folder' 1 '~cannot be read' lines "$folder"
    check 'no status anywhere' 1 '~nothing to count' status "$app"
    check 'nothing matches' 1 '~nothing to count' lines --match zebra "$app"
    check 'unknown command' 2 '~unknown command `frob`' frob
    check 'no command' 2 '~a command is missing'
    check 'unknown option' 2 '~unknown option' lines --frob
    check 'a huge number' 2 '~below 1000000' lines --top 99999999999999999999
    check 'a bad expression' 2 '~not a regular expression' lines --match '(' "$app"
    check 'a bad key' 2 '~--key may have' slow --key '.*[' "$access"
    check 'by what' 2 '~--by week does not fit hist' hist --by week "$access"
}

for shell in sh dash bash 'busybox sh'; do
    command -v "${shell%% *}" >/dev/null 2>&1 || continue
    for LOG_LENS_AWK in awk mawk gawk original-awk 'busybox awk'; do
        command -v "${LOG_LENS_AWK%% *}" >/dev/null 2>&1 || continue
        export LOG_LENS_AWK
        cases
        echo "ran with $shell and $LOG_LENS_AWK"
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
