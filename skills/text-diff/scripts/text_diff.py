#!/usr/bin/env python3
"""Compare two text files and show what changed, word by word.

Formats: `report` for reading, `html` for a browser.
"""

import argparse
import difflib
import os
import re
import signal
import sys
from collections import Counter
from html import escape

EXIT_DATA, EXIT_PARTIAL = 1, 3
MAX_BYTES = 16 * 1024 * 1024
MAX_LINES = 200_000
# Above this many pairs of equal lines, very frequent lines are not used as anchors.
MAX_PAIRS = 10_000_000
# Longer lines are shown whole, not compared word by word.
MAX_PAIRED_LINE = 2_000
WORDS = re.compile(r"\s+|\w+|[^\w\s]")

EPILOG = """\
examples:
  text_diff.py assets/old.conf assets/new.conf
  text_diff.py assets/old.conf assets/new.conf --format html --output out/diff.html

exit status: 0 compared (equal or not), 1 a file cannot be used, 2 wrong usage,
             3 --limit cut the list of changes"""


class InputProblem(Exception):
    """The input cannot be used; the text says why and what to do."""


def main():
    arguments = read_arguments()
    old, new = read(arguments.old, arguments.encoding), read(arguments.new, arguments.encoding)
    before, after = lines_of(old), lines_of(new)
    blocks = match_lines(before, after, arguments)
    changes = [block for block in blocks if block[0] != "equal"]
    heading = summary(arguments, blocks, len(before) + len(after))
    shown = hunks(blocks, set(changes[: arguments.limit]), arguments.context)
    write = {"report": report, "html": page}[arguments.format]
    emit(write(heading, before, after, shown), arguments.output)
    if not changes and old != new:
        note("only line endings, the final newline, case or blanks differ")
    if len(changes) > arguments.limit:
        note(f"{len(changes) - arguments.limit} more changes are not shown; raise --limit")
        return EXIT_PARTIAL
    return 0


def read_arguments():
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG, formatter_class=layout)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--format", default="report", choices=("report", "html"))
    parser.add_argument("--context", type=int, default=3, help="unchanged lines around a change (default 3)")
    parser.add_argument("--ignore-case", action="store_true")
    parser.add_argument(
        "--ignore-space", action="store_true", help="runs of blanks are equal, ends of lines do not count"
    )
    parser.add_argument("--encoding", default="utf-8-sig", help="default UTF-8")
    parser.add_argument("--limit", type=int, default=500, help="most changes to show (default 500)")
    parser.add_argument("--output", metavar="PATH", help="write the result here, e.g. out/diff.html")
    arguments = parser.parse_args()
    if arguments.limit < 1 or arguments.context < 0:
        parser.error("--limit must be at least 1 and --context at least 0")
    return arguments


def read(path, encoding):
    """Reads a whole file; a wrong encoding is an error, not a guess."""
    with open(path, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputProblem(f"{path} is larger than {MAX_BYTES} bytes")
    try:
        text = content.decode(encoding, errors="strict")
    except UnicodeDecodeError as problem:
        raise InputProblem(f"{path} is not {encoding} at byte {problem.start}: try --encoding cp1252") from None
    except LookupError:
        raise InputProblem(f"there is no encoding `{encoding}`") from None
    if "\0" in text:
        raise InputProblem(f"{path} is not a text file")
    return text


def lines_of(text):
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if len(lines) > MAX_LINES:
        raise InputProblem(f"more than {MAX_LINES} lines")
    return lines


def match_lines(before, after, arguments):
    """Returns difflib's blocks: (tag, old start, old end, new start, new end)."""

    def plain(line):
        line = " ".join(line.split()) if arguments.ignore_space else line
        return line.casefold() if arguments.ignore_case else line

    left, right = list(map(plain, before)), list(map(plain, after))
    start, end, shorter = 0, 0, min(len(left), len(right))
    while start < shorter and left[start] == right[start]:
        start += 1
    while end < shorter - start and left[-1 - end] == right[-1 - end]:
        end += 1
    left_middle, right_middle = left[start : len(left) - end], right[start : len(right) - end]
    counts = Counter(right_middle)
    crowded = sum(counts[line] for line in left_middle) > MAX_PAIRS
    matcher = difflib.SequenceMatcher(None, left_middle, right_middle, autojunk=crowded)
    blocks = [("equal", 0, start, 0, start)] if start else []
    blocks += [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in matcher.get_opcodes()]
    if end:
        blocks.append(("equal", len(left) - end, len(left), len(right) - end, len(right)))
    return blocks


def summary(arguments, blocks, total):
    changed = added = removed = same = 0
    for tag, a, b, c, d in blocks:
        both = min(b - a, d - c)
        same += both if tag == "equal" else 0
        changed += both if tag != "equal" else 0
        removed += b - a - both
        added += d - c - both
    alike = round(200 * same / total) if total else 100
    counts = f"{changed} lines changed, {added} added, {removed} removed ({alike}% alike)"
    return f"{arguments.old} -> {arguments.new}: {counts}"


def hunks(blocks, wanted, context):
    """Groups changes with the unchanged lines around them."""
    groups, lead = [], ("equal", 0, 0, 0, 0)
    for tag, a, b, c, d in blocks:
        if tag == "equal":
            room = min(context, b - a)
            lead = ("equal", b - room, b, d - room, d)
            if groups:
                groups[-1].append(("equal", a, a + room, c, c + room))
        elif (tag, a, b, c, d) not in wanted:
            break
        elif groups and lead[1] <= groups[-1][-1][2]:
            # The lines between two changes are few: one hunk.
            gap = groups[-1].pop()
            groups[-1] += [("equal", gap[1], a, gap[3], c), (tag, a, b, c, d)]
        else:
            groups.append([lead, (tag, a, b, c, d)])
    return groups


def report(heading, before, after, groups):
    lines = [heading]
    for group in groups:
        lines += ["", f"@@ old line {group[0][1] + 1}, new line {group[0][3] + 1} @@"]
        for mark, _, _, old, new in rows_of(group, before, after):
            pieces = word_marks(old, new) if mark == "~" else [(" ", new if mark == "+" else old)]
            lines.append(f"{mark} " + "".join(PLAIN_MARKS[kind].format(words) for kind, words in pieces))
    return "\n".join(map(visible, lines))


def page(heading, before, after, groups):
    rows = []
    for group in groups:
        rows.append("<tr class=gap><td colspan=4></td></tr>")
        for mark, a, c, old, new in rows_of(group, before, after):
            left, right = escape(old), escape(new)
            if mark == "~":
                pieces = word_marks(old, new)
                left, right = (
                    "".join(HTML_MARKS[kind].format(escape(words)) for kind, words in pieces if kind != other)
                    for other in "+-"
                )
            sides = ("del" if mark in "~-" else "", "ins" if mark in "~+" else "")
            rows.append(
                f"<tr><td>{a}</td><td class='{sides[0]}'>{left}</td><td>{c}</td><td class='{sides[1]}'>{right}</td></tr>"
            )
    return PAGE.format(heading=escape(heading), rows="\n".join(rows) or "<tr><td>No differences.</td></tr>")


def rows_of(group, before, after):
    """Yields (mark, old number, new number, old line, new line).

    A changed block pairs its lines from the top while they resemble each other.
    """
    for tag, a, b, c, d in group:
        while a < b and c < d and (tag == "equal" or resemble(before[a], after[c])):
            yield " " if tag == "equal" else "~", a + 1, c + 1, before[a], after[c]
            a, c = a + 1, c + 1
        yield from (("-", n + 1, "", before[n], "") for n in range(a, b))
        yield from (("+", "", n + 1, "", after[n]) for n in range(c, d))


def resemble(old, new):
    if max(len(old), len(new)) > MAX_PAIRED_LINE:
        return False
    return difflib.SequenceMatcher(None, WORDS.findall(old), WORDS.findall(new), autojunk=False).ratio() >= 0.4


def word_marks(old, new):
    """Splits two lines into (" ", same), ("-", only old) and ("+", only new) pieces."""
    left, right, pieces = WORDS.findall(old), WORDS.findall(new), []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        found = [(" ", left[a:b])] if tag == "equal" else [("-", left[a:b]), ("+", right[c:d])]
        pieces += [(kind, "".join(words)) for kind, words in found if words]
    return pieces


def visible(text):
    """Shows control characters instead of sending them to a terminal."""
    return "".join(letter if letter.isprintable() or letter == "\t" else repr(letter)[1:-1] for letter in text)


def emit(text, path):
    """Writes to stdout, or to a file whose folder is made if needed."""
    if not path:
        print(text)
        return
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text + "\n")
    print(f"wrote {path}", file=sys.stderr)


def note(text):
    print(f"note: {text}", file=sys.stderr)


PLAIN_MARKS = {" ": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
HTML_MARKS = {" ": "{}", "-": "<del>{}</del>", "+": "<ins>{}</ins>"}
PAGE = """<!doctype html>
<meta charset="utf-8">
<title>{heading}</title>
<style>
body {{ font: 14px sans-serif; margin: 2em }}
table {{ border-collapse: collapse; width: 100%; font-family: monospace }}
td {{ padding: 0 .5em; white-space: pre-wrap; overflow-wrap: anywhere; vertical-align: top; width: 48% }}
td:nth-child(odd) {{ color: #777; width: 2%; text-align: right }}
.del {{ background: #fdd }} .ins {{ background: #dfd }} .gap td {{ border-top: 1px solid #999; padding: .3em }}
del {{ background: #f99 }} ins {{ background: #9e9; text-decoration: none }}
</style>
<h1>{heading}</h1>
<table>
{rows}
</table>"""


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        sys.exit(main())
    except InputProblem as problem:
        print(f"error: {visible(str(problem))}", file=sys.stderr)
    except OSError as problem:
        print(f"error: {problem.strerror}: {problem.filename}", file=sys.stderr)
    sys.exit(EXIT_DATA)
