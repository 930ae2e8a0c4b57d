#!/usr/bin/env python3
"""Profile a CSV or TSV file, or summarise it by groups.

`profile` gives for every column its type, missing and distinct values, the
most frequent ones, and for numbers min, quartiles, mean, max and deviation.
`group` counts, sums and averages by one or more columns.
"""

import sys

sys.dont_write_bytecode = True

import json
import math
import random
from array import array
from collections import Counter
from decimal import Decimal

import csv_source
from csv_source import InputProblem, clean, note, render

# Memory is bounded by these totals, shared by the columns.
KEPT_NUMBERS = 8_000_000
KEPT_DISTINCT = 1_000_000
MAX_GROUPS = 100_000
# Longer values are told apart by their beginning and their length.
LONG_VALUE = 200
FACTS = ("min", "q1", "median", "mean", "q3", "max", "stdev", "sum")

EPILOG = """\
examples:
  csv_stats.py profile assets/sales.csv
  csv_stats.py group assets/sales.csv --by region --sum amount --sort sum_amount

exit status: 0 done, 1 the input cannot be used, 2 wrong usage,
             3 rows were left out by --limit or a bound"""


def main():
    parser = csv_source.parser(__doc__, EPILOG)
    actions = parser.add_subparsers(dest="command", required=True, metavar="profile|group")
    target = actions.add_parser("profile", help="describe every column")
    target.add_argument("--column", action="append", default=[], help="only this column; may be repeated")
    target.add_argument("--top", type=int, default=3, help="how many frequent values to show (default 3)")
    target.add_argument("--format", choices=("table", "markdown", "json"), default="table")
    target.set_defaults(action=profile)
    csv_source.add_reading_options(target)
    target = actions.add_parser("group", help="count, sum and average by groups")
    target.add_argument("--by", action="append", required=True, metavar="COLUMN", help="may be repeated")
    for name in AGGREGATES:
        target.add_argument(f"--{name}", action="append", default=[], metavar="COLUMN", help="may be repeated")
    target.add_argument("--sort", metavar="RESULT", help="count, sum_COLUMN, ...: largest first (default: by group)")
    target.add_argument("--limit", type=int, default=MAX_GROUPS, help="print only the first groups")
    target.add_argument("--format", choices=("table", "markdown", "json", "csv"), default="table")
    target.set_defaults(action=group)
    csv_source.add_reading_options(target)
    arguments = parser.parse_args()
    return arguments.action(arguments)


def profile(arguments):
    table = csv_source.Table(arguments)
    chosen = [table.column(name) for name in arguments.column] or range(len(table.columns))
    columns = [Column(table.columns[at], len(chosen)) for at in chosen]
    rows = 0
    for row in table.rows():
        rows += 1
        for at, column in zip(chosen, columns):
            text = row[at].strip()
            column.add(text, *table.classify(text))
    table.notes()
    shape = {"file": arguments.file, "rows": rows, "columns": len(table.columns), "delimiter": table.delimiter}
    shape.update(encoding=table.encoding, short_rows=table.short, long_rows=table.long)
    facts = [column.facts(max(0, arguments.top)) for column in columns]
    if arguments.format == "json":
        text = json.dumps({**shape, "profile": facts}, ensure_ascii=False, indent=2, default=csv_source.plain_number)
    else:
        text = profile_text(shape, facts, arguments.format)
    csv_source.emit(text, arguments.output)


def profile_text(shape, facts, layout):
    delimiter = {mark: name for name, mark in csv_source.DELIMITERS.items()}.get(shape["delimiter"], shape["delimiter"])
    parts = [f"{clean(shape['file'])}: {shape['rows']} rows, {shape['columns']} columns, delimiter {delimiter}"]
    rows = [[fact["name"], fact["type"], fact["missing"], distinct(fact), frequent(fact)] for fact in facts]
    parts.append(render(["column", "type", "missing", "distinct", "most frequent"], rows, layout))
    numbers = [fact for fact in facts if "numbers" in fact]
    rows = [[fact["name"], *(fact["numbers"][name] for name in FACTS)] for fact in numbers]
    parts.append(render(["column", *FACTS], rows, layout) if rows else "")
    rows = [[fact["name"], fact["earliest"], fact["latest"]] for fact in facts if "earliest" in fact]
    parts.append(render(["column", "earliest", "latest"], rows, layout) if rows else "")
    if any(fact["numbers"]["sampled"] for fact in numbers):
        parts.append("Quartiles and medians come from a sample of the rows.")
    return "\n\n".join(filter(None, parts))


def distinct(fact):
    return fact["distinct"] if fact["distinct_exact"] else f"{fact['distinct']}+"


def frequent(fact):
    if fact["distinct"] > 1 and all(count == 1 for _, count in fact["top"]):
        return "(all different)"
    return ", ".join(f"{clean(value, 25)} ({count})" for value, count in fact["top"])


class Column:
    """Running facts about one column, in bounded memory."""

    def __init__(self, name, columns):
        self.name = name
        self.kinds, self.counts, self.distinct_exact = Counter(), Counter(), True
        self.max_distinct = max(1_000, min(100_000, KEPT_DISTINCT // columns))
        self.max_kept = max(1_000, min(1_000_000, KEPT_NUMBERS // columns))
        self.sums, self.mean, self.squares = Sums(), 0.0, 0.0
        self.kept, self.dice = array("d"), random.Random(0)
        self.earliest = self.latest = None

    def add(self, text, kind, number):
        self.kinds[kind] += 1
        if kind == "missing":
            return
        if len(text) > LONG_VALUE:
            text = f"{text[:LONG_VALUE]}... ({len(text)} characters)"
        if text in self.counts or len(self.counts) < self.max_distinct:
            self.counts[text] += 1
        else:
            self.distinct_exact = False
        if number is not None:
            self.add_number(number)
        elif kind in ("date", "datetime"):
            self.earliest = min(self.earliest or text, text)
            self.latest = max(self.latest or text, text)

    def add_number(self, number):
        self.sums.add(number)
        value, count = float(number), self.sums.count
        # Welford's method: stable without keeping the values.
        step = value - self.mean
        self.mean += step / count
        self.squares += step * (value - self.mean)
        if count <= self.max_kept:
            self.kept.append(value)
            return
        at = self.dice.randrange(count)
        if at < self.max_kept:
            self.kept[at] = value

    def facts(self, top):
        """Returns what is known, ready for JSON."""
        kinds = {kind: count for kind, count in sorted(self.kinds.items()) if kind != "missing"}
        facts = {"name": self.name, "type": column_type(set(kinds)), "missing": self.kinds["missing"], "kinds": kinds}
        facts.update(distinct=len(self.counts), distinct_exact=self.distinct_exact, top=self.counts.most_common(top))
        count, values = self.sums.count, sorted(self.kept)
        if count:
            numbers = {name: function(self.sums) for name, function in AGGREGATES.items()}
            numbers.update(
                {name: quantile(values, share) for name, share in (("q1", 0.25), ("median", 0.5), ("q3", 0.75))}
            )
            stdev = math.sqrt(self.squares / (count - 1)) if count > 1 else None
            facts["numbers"] = {"count": count, **numbers, "stdev": stdev, "sampled": count > len(values)}
        if facts["type"] in ("date", "datetime"):
            facts.update(earliest=self.earliest, latest=self.latest)
        return facts


def column_type(kinds):
    """The narrowest type that fits all values, or `mixed`."""
    if len(kinds) < 2:
        return "".join(kinds) or "empty"
    if kinds in ({"integer", "number"}, {"date", "datetime"}):
        return max(kinds)  # the wider one comes later in the alphabet
    return "mixed" if kinds & {"integer", "number"} else "text"


def quantile(values, share):
    """Interpolates between neighbours of a sorted list."""
    position = share * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (position - below)


class Sums:
    """Running totals of numbers."""

    def __init__(self):
        self.count, self.sum, self.low, self.high = 0, Decimal(0), None, None

    def add(self, number):
        self.count += 1
        self.sum += number
        self.low = number if self.low is None or number < self.low else self.low
        self.high = number if self.high is None or number > self.high else self.high


AGGREGATES = {
    "sum": lambda sums: sums.sum if sums.count else None,
    "mean": lambda sums: float(sums.sum / sums.count) if sums.count else None,
    "min": lambda sums: sums.low,
    "max": lambda sums: sums.high,
}


def group(arguments):
    table = csv_source.Table(arguments)
    keys = [table.column(name) for name in arguments.by]
    wanted = [(name, table.column(column)) for name in AGGREGATES for column in getattr(arguments, name)]
    headers = [table.columns[at] for at in keys] + ["count"] + [f"{name}_{table.columns[at]}" for name, at in wanted]
    groups, skipped, lost = {}, Counter(), 0
    for row in table.rows():
        key = tuple(row[at].strip() for at in keys)
        if key not in groups and len(groups) >= MAX_GROUPS:
            lost += 1
            continue
        found = groups.setdefault(key, [0, {at: Sums() for _, at in wanted}])
        found[0] += 1
        for at, sums in found[1].items():
            kind, number = table.classify(row[at].strip())
            if number is not None:
                sums.add(number)
            skipped[at] += number is None and kind != "missing"
    table.notes()
    for at, count in sorted((+skipped).items()):
        note(f"{count} values of `{clean(table.columns[at])}` are not numbers and were skipped")
    rows = [
        [*key, count, *(AGGREGATES[name](sums[at]) for name, at in wanted)]
        for key, (count, sums) in sorted(groups.items())
    ]
    rows = sort_rows(rows, headers, len(keys), arguments.sort)
    shown = rows[: max(arguments.limit, 0)]
    csv_source.emit(render(headers, shown, arguments.format), arguments.output)
    if not lost and len(shown) == len(rows):
        return 0
    note(f"{len(rows) - len(shown)} of {len(rows)} groups are not shown, {lost} rows are in none of them")
    return csv_source.EXIT_PARTIAL


def sort_rows(rows, headers, first, name):
    """Sorts by one of the results, which start at column `first`."""
    if name is None:
        return rows
    at = next((at for at in range(first, len(headers)) if headers[at].lower() == name.lower()), None)
    if at is None:
        raise InputProblem(f"cannot sort by `{clean(name)}`; use one of: {', '.join(headers[first:])}")
    return sorted(rows, key=lambda row: (row[at] is None, -(row[at] or 0)))


if __name__ == "__main__":
    csv_source.run(main)
