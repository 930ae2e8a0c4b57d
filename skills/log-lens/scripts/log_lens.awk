# The parts of log_lens.sh that look inside a line. `mode` says what to print.
# Written for any POSIX awk: no intervals, no character classes by name, no gensub.

BEGIN {
    split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", names, " ")
    for (m = 1; m <= 12; m++) month[names[m]] = sprintf("%02d", m)
    split("TRACE DEBUG INFO NOTICE WARN WARNING ERROR ERR CRITICAL CRIT ALERT EMERG FATAL PANIC", names, " ")
    for (n in names) known[names[n]] = names[n]
    known["WARNING"] = "WARN"; known["ERR"] = "ERROR"; known["CRIT"] = "CRITICAL"
    seen = 0
}

mode == "shares" { rank[NR] = $0; total += $1; next }
mode == "bars" { at = $2 " " $3; sub(/ $/, "", at); order[NR] = at; many[NR] = $1; if ($1 > most) most = $1; next }
mode == "percentiles" { percentiles(); next }

{ seen++ }
mode == "lines" && NF { emit(fold ? folded($0) : $0) }
mode == "words" && length($0) >= least { emit($0) }
mode == "levels" { emit(level($0)) }
mode == "status" { found = code($0); emit(by == "class" && found != "" ? substr(found, 1, 1) "xx" : found) }
mode == "paths" && (status == "" || index(code($0), status) == 1) { emit(path($0)) }
mode == "hist" { emit(bucket(stamp($0))) }
mode == "ips" { emit(address($0)) }
mode == "slow" { found = duration($0); if (found != "") { printf "%.3f\t%s\n", found, substr($0, 1, 200); hits++ } }
mode == "summary" { summarise($0) }

END {
    if (mode == "shares") for (n = 1; n <= NR; n++) { split(rank[n], cell, "\t"); printf "%s\t%.1f%%\t%s\n", cell[1], 100 * cell[1] / total, cell[2] }
    else if (mode == "bars") for (n = 1; n <= NR; n++) printf "%s\t%d\t%s\n", order[n], many[n], bar(many[n], most)
    else if (mode == "summary") summary()
    else if (mode == "slow" && hits) printf "-1\t%d\n", hits
    if (mode ~ /^(levels|status|hist|slow|ips)$/ && hits && hits < seen)
        print "note: " seen - hits " of " seen " lines have nothing for `" mode "`" | "cat 1>&2"
}

function emit(text) {
    if (text == "") return
    hits++
    print substr(text, 1, 300)
}

# What the last match() found. Patterns are written out at each use: most awks
# compile such a pattern once, but one given as a string again and again.
function found_in(text) {
    return substr(text, RSTART, RLENGTH)
}

# The value in a match of `name=value`, `name: value` or `"name":"value"`.
function value_in(text,   pair) {
    pair = found_in(text)
    sub(/^[^A-Za-z0-9_]/, "", pair)
    sub(/^[^=:]*[=:] *"?/, "", pair)
    return pair
}

# Numbers and long hexadecimal ids become #.
function folded(text) {
    gsub(/0x[0-9A-Fa-f]+/, "#", text)
    gsub(/[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][-0-9a-f]*/, "#", text)
    gsub(/[0-9]+/, "#", text)
    return text
}

# level=info and "level":"info", [error] and [core:error], an upper-case word, error: ...
function level(text,   word, part, n, words) {
    if (toupper(text) !~ /TRACE|DEBUG|INFO|NOTICE|WARN|ERR|CRIT|ALERT|EMERG|FATAL|PANIC/) return ""
    if (match(text, /(^|[^A-Za-z0-9_])(level|severity|lvl)"?[=:] *"?[A-Za-z]+/)) {
        word = toupper(value_in(text))
        if (word in known) return known[word]
    }
    if (match(text, /\[[a-z_]*:?[A-Za-z]+\]/)) {
        word = toupper(substr(text, RSTART + 1, RLENGTH - 2))
        sub(/.*:/, "", word)
        if (word in known) return known[word]
    }
    n = split(text, words, /[^A-Za-z]+/)
    for (part = 1; part <= n; part++) if (words[part] in known) return known[words[part]]
    if (!match(text, /(^|[^A-Za-z])(debug|info|notice|warning|warn|error|critical|fatal|panic):/)) return ""
    word = toupper(found_in(text))
    gsub(/[^A-Z]/, "", word)
    return known[word]
}

function code(text) {
    if (match(text, /" [1-5][0-9][0-9]( |$)/)) return substr(text, RSTART + 2, 3)
    if (match(text, /(^|[^A-Za-z0-9_])status(_code)?"?[=:] *"?[1-5][0-9][0-9]/)) return value_in(text)
    return ""
}

# The path without its query.
function path(text,   found) {
    if (match(text, /"[A-Z]+ [^ "]+/)) { found = found_in(text); sub(/^[^ ]* /, "", found) }
    else if (match(text, /(^|[^A-Za-z0-9_])(path|uri|url)"?[=:] *"?[^ ",]+/)) found = value_in(text)
    sub(/[?#].*/, "", found)
    return found
}

# YYYY-MM-DD HH:MM, or MM-DD HH:MM for syslog, which has no year.
function stamp(text,   found) {
    if (match(text, /[12][0-9][0-9][0-9][-\/][01][0-9][-\/][0-3][0-9][T ][0-2][0-9]:[0-5][0-9]/)) {
        found = found_in(text)
        gsub(/\//, "-", found)
        sub(/T/, " ", found)
        return found
    }
    if (match(text, /[0-3][0-9]\/[A-Z][a-z][a-z]\/[12][0-9][0-9][0-9]:[0-2][0-9]:[0-5][0-9]/)) {
        found = found_in(text)
        return substr(found, 8, 4) "-" month[substr(found, 4, 3)] "-" substr(found, 1, 2) " " substr(found, 13, 5)
    }
    if (!match(text, /^[A-Z][a-z][a-z] [ 0-3][0-9] [0-2][0-9]:[0-5][0-9]/) || !(substr(text, 1, 3) in month)) return ""
    return month[substr(text, 1, 3)] "-" sprintf("%02d", substr(text, 5, 2)) " " substr(text, 8, 5)
}

function bucket(time) {
    if (time == "" || by == "minute") return time
    return by == "day" ? substr(time, 1, length(time) - 6) : substr(time, 1, length(time) - 3) ":00"
}

# The first IPv4 or IPv6 address.
function address(text,   n, part, words, word) {
    n = split(text, words, /[^0-9A-Fa-f:.]+/)
    for (part = 1; part <= n && part <= 200; part++) {
        word = words[part]
        if (word ~ /^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+(:[0-9]+)?$/) {
            sub(/:.*/, "", word)
            if (octets(word)) return word
        } else if (word ~ /^[0-9A-Fa-f:]+$/ && word ~ /[0-9A-Fa-f]/ && (gsub(/:/, ":", word) == 7 || (word ~ /::/ && word !~ /:::/ && word !~ /::.*::/))) return tolower(word)
    }
    return ""
}

function octets(word,   parts, n) {
    split(word, parts, ".")
    for (n = 1; n <= 4; n++) if (length(parts[n]) > 3 || parts[n] + 0 > 255) return 0
    return 1
}

# Milliseconds, or nothing.
function duration(text,   found, rest, scale, words, n, at) {
    if (field + 0 != 0) {
        n = split(text, words, " ")
        at = field > 0 ? field + 0 : n + 1 + field
        found = (at >= 1 && at <= n) ? words[at] : ""
        gsub(/"/, "", found)
        if (found !~ /^[0-9]*[.]?[0-9]+[a-z]*$/) return ""
        rest = found; sub(/^[0-9.]+/, "", rest)
        scale = units(rest, "")
    } else {
        if (key != "") at = match(text, "(^|[^A-Za-z0-9_])" key "\"?[=: ] *\"?[0-9][0-9.]*")
        else at = match(text, /(^|[^A-Za-z0-9_])(request_time|response_time|duration_ms|duration|latency_ms|latency|elapsed_ms|elapsed|time_ms|took)"?[=: ] *"?[0-9][0-9.]*/)
        if (!at) return ""
        found = substr(text, RSTART, RLENGTH)
        rest = substr(text, RSTART + RLENGTH, 3)
        scale = units(rest, found)
        sub(/.*[^0-9.]/, "", found)
    }
    return found * scale
}

# How many milliseconds one unit is: by suffix, by --unit, by the name of the key.
function units(suffix, name) {
    if (suffix ~ /^ms([^a-z]|$)/) return 1
    if (suffix ~ /^(us|\302\265s)/) return 0.001
    if (suffix ~ /^s([^a-z]|$)/) return 1000
    if (unit != "") return unit == "s" ? 1000 : (unit == "us" ? 0.001 : 1)
    return name ~ /(request_time|response_time|_s|_seconds)"?[=:]/ ? 1000 : 1
}

# Input is sorted; its first line is -1 and the number of durations.
function percentiles(   n) {
    if (NR == 1) { total = $2; split("50 90 95 99 100", wanted, " "); print "count\t" total; return }
    for (n = 1; n <= 5; n++) if (NR - 1 == rank_of(wanted[n])) print (wanted[n] == 100 ? "max" : "p" wanted[n]) "\t" $1
    if (NR - 1 > total - top) { tail[++kept] = $0 }
    if (NR - 1 == total) for (n = kept; n >= 1; n--) print "slowest\t" tail[n]
}

# Nearest rank: the smallest value with at least p percent at or below it.
function rank_of(p,   exact) {
    exact = total * p / 100
    return exact == int(exact) ? exact : int(exact) + 1
}

function bar(count, most,   text, width) {
    width = int(40 * count / most + 0.5)
    if (width < 1) width = 1
    text = sprintf("%" width "s", "")
    gsub(/ /, "#", text)
    return text
}

function summarise(text,   time, word) {
    time = stamp(text)
    if (time != "") { if (earliest == "" || time < earliest) earliest = time; if (time > latest) latest = time }
    word = level(text); if (word != "") levels[word]++
    word = code(text); if (word != "") classes[substr(word, 1, 1)]++
    word = address(text)
    if (word != "" && !(word in addresses) && different < 1000000) { addresses[word] = 1; different++ }
}

function summary(   n, word) {
    if (!seen) return
    print "lines\t" seen
    if (earliest != "") { print "earliest\t" earliest; print "latest\t" latest }
    n = split("TRACE DEBUG INFO NOTICE WARN ERROR CRITICAL ALERT EMERG FATAL PANIC", names, " ")
    for (word = 1; word <= n; word++) if (names[word] in levels) print "level " names[word] "\t" levels[names[word]]
    for (n = 1; n <= 5; n++) if (n in classes) print "status " n "xx\t" classes[n]
    if (different) print "addresses\t" different
}
