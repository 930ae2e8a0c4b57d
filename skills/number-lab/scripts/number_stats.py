#!/usr/bin/env python3
"""Statistics of a list of numbers, computed exactly and rounded once.

Numbers come from the command line, from --file, or from stdin with `-`,
separated by blanks, commas or newlines. Sums, means and medians are exact
fractions inside, so 0.1 ten times sums to 1.
"""

import sys

sys.dont_write_bytecode = True

import collections
import decimal
import re
from decimal import Decimal
from fractions import Fraction

import lab
from lab import InputProblem

MAX_NUMBERS = 1_000_000
MAX_BYTES = 32 * 1024 * 1024
MAX_DIGITS_EACH = 1_000

EPILOG = """\
examples:
  number_stats.py 2 4 4 4 5 5 7 9
  number_stats.py --percentile 90 -- -3 1.5 2/3 1e3

Quartiles and percentiles interpolate between neighbours (as a spreadsheet's
PERCENTILE.INC). `variance` and `stdev` divide by n - 1, `pvariance` and
`pstdev` by n.

exit status: 0 done, 1 bad input, 2 wrong usage"""


def main():
    parser = lab.parser(__doc__, EPILOG)
    parser.add_argument("numbers", nargs="*", help="numbers, or - for stdin; put `--` before negative fractions")
    parser.add_argument("--file", help="read numbers from this UTF-8 file")
    parser.add_argument("--percentile", action="append", default=[], metavar="P", help="0 to 100; may be repeated")
    parser.add_argument(
        "--digits", type=lab.between(1, 1_000), default=12, help="significant digits shown (default 12)"
    )
    lab.add_output_option(parser)
    arguments = parser.parse_args()
    if bool(arguments.file) == bool(arguments.numbers):
        parser.error("give numbers, or - for stdin, or --file")
    values = sorted(map(read, tokens(arguments)))
    if not values:
        raise InputProblem("there are no numbers")
    rows = describe(values, arguments.percentile)
    text = "\n".join(f"{name:<9}  {show(value, arguments.digits)}" for name, value in rows.items())
    lab.emit(text, arguments.output)


def tokens(arguments):
    if arguments.file:
        # A byte-order mark is dropped; a wrong encoding shows up as a bad number.
        with open(arguments.file, encoding="utf-8-sig", errors="replace") as file:
            text = file.read(MAX_BYTES + 1)
    elif arguments.numbers == ["-"]:
        text = sys.stdin.buffer.read(MAX_BYTES + 1).decode("utf-8-sig", errors="replace")
    else:
        text = " ".join(arguments.numbers)
    found = re.split(r"[\s,;]+", text)
    if len(text) > MAX_BYTES or len(found) > MAX_NUMBERS:
        raise InputProblem(f"more than {MAX_NUMBERS} numbers or {MAX_BYTES} bytes")
    return filter(None, found)


def read(token):
    value = lab.number(token)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_DIGITS_EACH * 3.33:
        raise InputProblem(f"`{lab.shorten(token)}` has more than {MAX_DIGITS_EACH} digits")
    return value


def describe(values, percentiles):
    """Returns {name: value} for sorted values; None where undefined."""
    count, total = len(values), sum(values, Fraction(0))
    # Exact arithmetic: the short formula loses nothing here.
    squares = sum((value * value for value in values), Fraction(0)) - total * total / count
    counts = collections.Counter(values)
    top = max(counts.values())
    rows = {
        "count": Fraction(count),
        "sum": total,
        "min": values[0],
        "max": values[-1],
        "range": values[-1] - values[0],
    }
    rows.update(mean=total / count, median=quantile(values, "50"), q1=quantile(values, "25"), q3=quantile(values, "75"))
    rows["mode"] = [value for value in counts if counts[value] == top][:5] if top > 1 else None
    rows["variance"] = squares / (count - 1) if count > 1 else None
    rows["stdev"] = square_root(squares / (count - 1)) if count > 1 else None
    rows.update(pvariance=squares / count, pstdev=square_root(squares / count))
    rows.update({f"p{text}": quantile(values, text) for text in percentiles})
    return rows


def quantile(values, percent):
    share = lab.number(percent) / 100
    if not 0 <= share <= 1:
        raise InputProblem(f"percentile {lab.shorten(percent)} is not between 0 and 100")
    position = share * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (position - below)


def square_root(value):
    with decimal.localcontext(decimal.Context(prec=1_010, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)):
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def show(value, digits):
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(show(item, digits) for item in value)
    if value.denominator == 1:
        return str(value) if abs(value) < 10**60 else f"{Decimal(value.numerator):.{digits - 1}E}"
    context = decimal.Context(prec=digits)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return format(rounded, "f") if -digits <= rounded.adjusted() <= digits else str(rounded)


if __name__ == "__main__":
    lab.run(main)
