#!/usr/bin/env python3
"""Convert numbers between bases 2 to 36, exactly.

Fractions keep their value: a repeating part is put in parentheses, so 0.1 in
base 2 is 0.0(0011).
"""

import sys

sys.dont_write_bytecode = True

from fractions import Fraction

import lab
from lab import InputProblem

MAX_INPUT = 10_000
MAX_FRACTION_DIGITS = 100
BASES = {str(base): base for base in range(2, 37)}
EPILOG = """\
examples:
  bases.py 0xff --to 2,8,10       one line for each base
  bases.py 0.1 --to 2             0.0(0011)
  bases.py zz --from 36 --to 10   1295
  bases.py --to 2 --bits 8 -- -5  11111011

exit status: 0 done, 1 bad input, 2 wrong usage,
             3 a fraction was cut after 100 digits"""


def main():
    parser = lab.parser(__doc__, EPILOG)
    parser.add_argument("number", help="digits of the source base; 0x, 0o, 0b prefixes are understood")
    parser.add_argument(
        "--from",
        dest="source",
        default="auto",
        metavar="BASE",
        help="2 to 36, or auto (default): the prefix, else 10",
    )
    parser.add_argument("--to", required=True, metavar="BASE[,BASE]", help="2 to 36")
    parser.add_argument(
        "--bits", type=lab.between(1, 4096), metavar="N", help="two's complement of this width (bases 2, 8, 16)"
    )
    lab.add_output_option(parser)
    arguments = parser.parse_args()
    value = read(arguments.number.strip(), arguments.source)
    rows = {target: write(value, target, arguments) for target in arguments.to.lower().split(",")}
    complete = all(exact for _, exact in rows.values())
    lab.emit(
        "\n".join(f"{base}\t{text}" if len(rows) > 1 else text for base, (text, _) in rows.items()), arguments.output
    )
    if not complete:
        lab.note(f"the fraction was cut after {MAX_FRACTION_DIGITS} digits")
    return 0 if complete else lab.EXIT_PARTIAL


def read(text, source):
    if len(text) > MAX_INPUT:
        raise InputProblem(f"the number is longer than {MAX_INPUT} characters")
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    prefixed = {"0x": 16, "0o": 8, "0b": 2}.get(digits[:2].lower())
    base = (prefixed or 10) if source == "auto" else base_number(source)
    digits = digits[2:] if prefixed == base else digits
    return sign * from_digits(digits.replace("_", "").lower(), base)


def from_digits(text, base):
    whole, _, part = text.partition(".")
    wrong = [letter for letter in whole + part if letter not in lab.DIGITS[:base]]
    if wrong or not whole + part:
        what = f"`{lab.shorten(wrong[0])}` is not a digit" if wrong else "there are no digits"
        raise InputProblem(f"{what} in base {base}: `{lab.shorten(text)}`")
    return Fraction(int(whole + part, base), base ** len(part))


def base_number(text):
    if text not in BASES:
        raise InputProblem(f"`{lab.shorten(text)}` is not a base: use 2 to 36")
    return BASES[text]


def write(value, target, arguments):
    """Returns (text, exact)."""
    base, bits = base_number(target), arguments.bits
    if not bits:
        return lab.expand(value, base, MAX_FRACTION_DIGITS)
    if base not in (2, 8, 16) or value.denominator != 1:
        raise InputProblem("--bits is for integers in base 2, 8 or 16")
    if not -(2 ** (bits - 1)) <= value < 2**bits:
        raise InputProblem(f"{lab.shorten(str(value))} does not fit in {bits} bits")
    width = -(-bits // {2: 1, 8: 3, 16: 4}[base])
    return lab.digits_of(value.numerator % 2**bits, base).rjust(width, "0"), True


if __name__ == "__main__":
    lab.run(main)
