"""What the number-lab scripts share: limits, reading numbers, writing results.

A script raises `InputProblem` for input it cannot use; `run` turns that into a
message on stderr and status 1. Results go to stdout or to `--output`.
"""

import argparse
import os
import re
import signal
import sys
from fractions import Fraction

EXIT_DATA = 1
EXIT_PARTIAL = 3

# Integers of this size still print in a fraction of a second.
MAX_DIGITS = 100_000
MAX_BITS = int(MAX_DIGITS * 3.3219281)
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

_INTEGER = re.compile(r"[+-]?[0-9](?:_?[0-9])*\Z")
_NUMBER = re.compile(
    r"(?P<top>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:[eE](?P<exponent>[+-]?[0-9]{1,9}))?(?:/(?P<bottom>[0-9]+))?\Z"
)


class InputProblem(Exception):
    """The input cannot be used; the text says why and what to do."""


def parser(description, epilog):
    """Returns an argument parser that keeps the line breaks of its texts."""
    layout = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, epilog=epilog, formatter_class=layout)


def add_output_option(target):
    target.add_argument("--output", metavar="PATH", help="write the result here, e.g. out/result.txt")


def between(low, high):
    """Returns an argument type: an integer in a range."""

    def read(text):
        if not _INTEGER.match(text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"a whole number from {low} to {high} is needed")
        return int(text)

    return read


def run(main):
    """Calls `main()` and ends the process with its status."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(MAX_DIGITS + 100)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        sys.exit(main() or 0)
    except InputProblem as problem:
        print(f"error: {problem}", file=sys.stderr)
    except OSError as problem:
        print(f"error: {problem.strerror}: {problem.filename}", file=sys.stderr)
    sys.exit(EXIT_DATA)


def emit(text, path):
    """Writes to stdout, or to a file whose folder is made if needed."""
    if not path:
        print(text)
        return
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    print(f"wrote {path}", file=sys.stderr)


def note(text):
    print(f"note: {text}", file=sys.stderr)


def integer(text, low=None, high=None, max_digits=MAX_DIGITS):
    """Reads a decimal integer, within bounds."""
    if not _INTEGER.match(text):
        raise InputProblem(f"`{shorten(text)}` is not an integer")
    if len(text) > max_digits + 1:
        raise InputProblem(f"`{shorten(text)}` has more than {max_digits} digits")
    value = int(text)
    if low is not None and value < low:
        raise InputProblem(f"{shorten(text)} is too small: at least {low} is needed")
    if high is not None and value > high:
        raise InputProblem(f"{shorten(text)} is too large: at most {high} is allowed")
    return value


def number(text):
    """Reads `12`, `-0.5`, `1e3` or `3/4` exactly, as a fraction."""
    found = _NUMBER.match(text)
    if not found:
        raise InputProblem(f"`{shorten(text)}` is not a number")
    exponent = int(found["exponent"] or 0)
    if len(text) + abs(exponent) > MAX_DIGITS:
        raise InputProblem(f"`{shorten(text)}` has more than {MAX_DIGITS} digits")
    bottom = int(found["bottom"] or 1)
    if bottom == 0:
        raise InputProblem(f"`{shorten(text)}` divides by zero")
    return Fraction(found["top"]) * Fraction(10) ** exponent / bottom


def checked(value):
    """Returns an integer or fraction unless it is too large to print."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise InputProblem(f"the result has more than {MAX_DIGITS} digits")
    return value


def expand(value, base=10, limit=60):
    """Writes a fraction in a base: (text, exact).

    A repeating part is put in parentheses: 1/7 is `0.(142857)`. `exact` is
    false if the digits were cut at `limit`.
    """
    whole, rest = divmod(abs(value.numerator), value.denominator)
    text = ("-" if value < 0 else "") + digits_of(whole, base)
    digits, seen = [], {}
    while rest and rest not in seen and len(digits) < limit:
        seen[rest] = len(digits)
        digit, rest = divmod(rest * base, value.denominator)
        digits.append(DIGITS[digit])
    if rest in seen:
        at = seen[rest]
        return f"{text}.{''.join(digits[:at])}({''.join(digits[at:])})", True
    return (f"{text}.{''.join(digits)}" if digits else text), rest == 0


def digits_of(value, base):
    """Writes a non-negative integer in a base from 2 to 36."""
    if base in (2, 8, 10, 16):
        return format(value, {2: "b", 8: "o", 10: "d", 16: "x"}[base])
    digits = []
    while value:
        value, digit = divmod(value, base)
        digits.append(DIGITS[digit])
    return "".join(reversed(digits)) or "0"


def shorten(text, width=40):
    """Makes text fit for an error message."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text)
    return shown if len(shown) <= width else f"{shown[: width - 3]}..."
