"""Reading CSV and writing tables, for the csv-stats scripts.

Rows are streamed. The encoding comes from a byte-order mark, else it is UTF-8;
the delimiter is the candidate that gives the most regular table. Bytes that do
not fit the encoding stop the run: counting garbled names would be worse.
"""

import argparse
import csv
import datetime
import functools
import io
import json
import operator
import os
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from decimal import Decimal

EXIT_DATA = 1
EXIT_PARTIAL = 3

SAMPLE_BYTES = 65_536
# A longer field is nearly always a quote that was never closed.
MAX_FIELD = 1024 * 1024
MAX_COLUMNS = 2_000
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
COMPARISONS = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}


class InputProblem(Exception):
    """The input cannot be used; the text says why and what to do."""


def parser(description, epilog):
    """Returns an argument parser that keeps the line breaks of its texts."""
    layout = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, epilog=epilog, formatter_class=layout)


def add_reading_options(target):
    """Adds the options that every command has."""
    add = target.add_argument
    add("file", help="a CSV or TSV file, or - for stdin")
    add("--delimiter", metavar="D", help="comma, semicolon, tab, pipe or one character (default: detected)")
    add("--encoding", help="for example latin-1 or cp1252 (default: UTF-8, or by byte-order mark)")
    add("--no-header", action="store_true", help="the first row is data; columns are column_1, column_2, ...")
    add("--decimal", choices=(".", ","), default=".", help="decimal sign; the other one may group thousands")
    add(
        "--missing",
        default="na,n/a,#n/a,nan,null,none",
        metavar="LIST",
        help="texts that mean missing (default %(default)s)",
    )
    add(
        "--where",
        action="append",
        default=[],
        metavar="COND",
        help="keep rows where e.g. 'region=North' or 'amount>=10'",
    )
    add("--output", metavar="PATH", help="write the result here, e.g. out/result.md")


def run(main):
    """Calls `main()` and ends the process with its status."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        sys.exit(main() or 0)
    except InputProblem as problem:
        print(f"error: {problem}", file=sys.stderr)
    except OSError as problem:
        print(f"error: {problem.strerror}: {problem.filename}", file=sys.stderr)
    sys.exit(EXIT_DATA)


def note(text):
    print(f"note: {text}", file=sys.stderr)


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


class Table:
    """One CSV file: `columns`, then `rows()` once. Counts what was irregular."""

    def __init__(self, arguments):
        self.classify = functools.lru_cache(maxsize=65_536)(Cells(arguments).classify)
        self.short = self.long = self.read = 0
        binary = open_binary(arguments.file)
        head = binary.read(SAMPLE_BYTES)
        binary.seek(0)
        if not head.strip():
            raise InputProblem(f"{arguments.file} is empty")
        self.encoding = arguments.encoding or guess_encoding(head, arguments.file)
        try:
            sample = head.decode(self.encoding, errors="replace").lstrip("\ufeff")
            text = io.TextIOWrapper(binary, self.encoding, errors="strict", newline="")
        except LookupError:
            raise InputProblem(f"there is no encoding `{arguments.encoding}`") from None
        self.delimiter = read_delimiter(arguments.delimiter) or guess_delimiter(sample, len(head) == SAMPLE_BYTES)
        csv.field_size_limit(MAX_FIELD)
        self._reader = csv.reader(text, delimiter=self.delimiter)
        first = self._next()
        if first is None:
            raise InputProblem(f"{arguments.file} has no rows")
        if len(first) > MAX_COLUMNS:
            raise InputProblem(f"more than {MAX_COLUMNS} columns")
        self.columns = unique_names([""] * len(first) if arguments.no_header else first)
        self._pending = first if arguments.no_header else self._next()
        self._conditions = [self._condition(text) for text in arguments.where]

    def column(self, name):
        """Returns the index of a column given by its name, in any case."""
        if name in self.columns:
            return self.columns.index(name)
        matching = [at for at, column in enumerate(self.columns) if column.lower() == name.lower()]
        if len(matching) == 1:
            return matching[0]
        known = ", ".join(clean(column, 30) for column in self.columns[:40])
        raise InputProblem(f"there is no column `{clean(name)}`; the columns are: {known}")

    def number(self, text):
        """Returns the number in a cell as a Decimal, or None."""
        return self.classify(text.strip())[1]

    def rows(self):
        """Yields rows as wide as the header: padded, or without their extra cells."""
        width = len(self.columns)
        while self._pending is not None:
            row = self._pending
            self.read += 1
            self.short += len(row) < width
            self.long += len(row) > width
            row = row[:width] + [""] * (width - len(row))
            if all(holds(row) for holds in self._conditions):
                yield row
            self._pending = self._next()

    def notes(self):
        """Says on stderr what was irregular; call it after `rows()`."""
        if self.short:
            note(f"{self.short} of {self.read} rows are shorter than the header: the absent cells count as missing")
        if self.long:
            note(f"{self.long} of {self.read} rows are longer than the header: the extra cells were ignored")
        if not self.read:
            note("there is a header but no data")

    def _next(self):
        """Returns the next row that is not blank, or None."""
        try:
            return next((row for row in self._reader if any(cell.strip() for cell in row)), None)
        except UnicodeError:
            where = f"the text after line {self._reader.line_num} is not {self.encoding}"
            raise InputProblem(f"{where}: try --encoding cp1252 or latin-1") from None
        except csv.Error as problem:
            raise InputProblem(f"line {self._reader.line_num}: {problem}; is a quote left open?") from None

    def _condition(self, text):
        found = re.match(r"(.+?)\s*(!=|>=|<=|=|>|<)\s*(.*)\Z", text, re.DOTALL)
        if not found:
            raise InputProblem(f"`{clean(text)}` is not a condition: write COLUMN=VALUE, or one of != > < >= <=")
        at, sign, wanted = self.column(found[1]), found[2], found[3]
        if sign in ("=", "!="):
            return lambda row: (row[at].strip() == wanted) == (sign == "=")
        limit = self.number(wanted)
        if limit is None:
            raise InputProblem(f"`{clean(wanted)}` is not a number; only = and != compare text")
        return lambda row: self.number(row[at]) is not None and COMPARISONS[sign](self.number(row[at]), limit)


def open_binary(path):
    """Opens a file that can seek; a pipe is copied to a temporary one."""
    source = sys.stdin.buffer if path == "-" else open(path, "rb")
    if path != "-" and source.seekable():
        return source
    copy = tempfile.TemporaryFile()
    shutil.copyfileobj(source, copy)
    copy.seek(0)
    return copy


def guess_encoding(head, path):
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
        raise InputProblem(f"{path} has zero bytes: not a text file, or UTF-16 without a mark (--encoding utf-16-le)")
    return "utf-8-sig"


def read_delimiter(text):
    found = DELIMITERS.get(text, text)
    if found is not None and (len(found) != 1 or found in '"\r\n'):
        raise InputProblem(f"`{clean(text)}` is not a delimiter: use comma, semicolon, tab, pipe or one character")
    return found


def guess_delimiter(sample, cut):
    """Picks the delimiter whose rows agree best on a width above one."""

    def regularity(delimiter):
        try:
            rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row]
        except csv.Error:
            return (0, 0)
        rows = (rows[:-1] if cut else rows)[:200]
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        return (count / len(rows), width) if width > 1 else (0, 0)

    # A comma unless another one is better.
    return max(DELIMITERS.values(), key=regularity)


def unique_names(names):
    """Fills empty header cells and numbers repeated ones."""
    found = []
    for position, name in enumerate(names, 1):
        name = plain = name.strip() or f"column_{position}"
        number = 2
        while name in found:
            name, number = f"{plain}_{number}", number + 1
        found.append(name)
    return found


class Cells:
    """What a cell means: missing, a number, or another kind of text."""

    def __init__(self, arguments):
        self._missing = {"", *(text.strip().lower() for text in arguments.missing.split(","))}
        self._point, self._group = (".", ",") if arguments.decimal == "." else (",", ".")
        point, group = re.escape(self._point), re.escape(self._group)
        # A leading zero marks a code (zip, phone), not a number.
        whole = rf"(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)"
        self._shape = re.compile(rf"[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?\Z")

    def classify(self, text):
        """Returns (kind, number or None) of a stripped cell."""
        if text.lower() in self._missing:
            return "missing", None
        if len(text) <= 100 and self._shape.match(text):
            value = Decimal(text.replace(self._group, "").replace(self._point, "."))
            if value.adjusted() <= 300:
                whole = self._point not in text and value == value.to_integral_value()
                return ("integer" if whole else "number"), value
        if text.lower() in ("true", "false", "yes", "no"):
            return "boolean", None
        return date_kind(text), None


def date_kind(text):
    """`date`, `datetime` for ISO 8601, else `text`."""
    if 10 <= len(text) <= 35 and text[4] == "-" and text[7] == "-":
        try:
            moment(text)
            return "date" if len(text) == 10 else "datetime"
        except ValueError:
            pass
    return "text"


def moment(text):
    """Reads an ISO date or time; without a zone it is taken as UTC."""
    found = datetime.datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text))
    return found if found.tzinfo else found.replace(tzinfo=datetime.timezone.utc)


def clean(text, width=60):
    """Makes a cell fit for a terminal or a table: one line, no control codes."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return shown if len(shown) <= width else shown[: width - 3] + "..."


def show(value, digits=6):
    """Writes a cell; whole numbers keep all digits, exact decimals 15, computed values fewer."""
    if value is None or isinstance(value, str):
        return clean(value or "")
    if isinstance(value, Decimal):
        value, digits = plain_number(value, 10**25), 15
    return str(value) if isinstance(value, int) else format(value, f".{digits}g")


def plain_number(value, most=2**53):
    """A Decimal as JSON can hold it: whole numbers stay whole."""
    if not isinstance(value, Decimal):
        return value
    return int(value) if value == value.to_integral_value() and abs(value) < most else float(value)


def render(headers, rows, layout):
    """Draws a table: `table`, `markdown`, `csv` or `json`. Cells are text or numbers."""
    if layout == "json":
        data = [dict(zip(headers, map(plain_number, row))) for row in rows]
        return json.dumps(data, ensure_ascii=False, indent=2)
    if layout == "csv":
        stream = io.StringIO()
        plain = [[cell if isinstance(cell, str) else show(cell, 15) for cell in row] for row in rows]
        csv.writer(stream, lineterminator="\n").writerows([headers, *plain])
        return stream.getvalue().rstrip("\n")
    numeric = [all(not isinstance(row[at], str) for row in rows) for at in range(len(headers))]
    cells = [[show(cell) for cell in row] for row in [headers, *rows]]
    if layout == "markdown":
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
        lines.insert(1, "|" + "|".join("---:" if right else "---" for right in numeric) + "|")
        return "\n".join(lines)
    widths = [max(map(len, column)) for column in zip(*cells)]
    cells.insert(1, ["-" * width for width in widths])
    signs = [">" if right else "<" for right in numeric]
    return "\n".join("  ".join(map(format, row, map("{}{}".format, signs, widths))).rstrip() for row in cells)
