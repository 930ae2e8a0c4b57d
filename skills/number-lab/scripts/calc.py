#!/usr/bin/env python3
"""Exact arithmetic: integers of any size, fractions, and decimals on request.

Values stay exact fractions until a function such as `ln` or an irrational
root is used; from there on they are decimals with `--digits` digits.
The expression is parsed and walked, never handed to `eval`.
"""

import sys

sys.dont_write_bytecode = True

import ast
import decimal
import math
import operator
from decimal import Decimal
from fractions import Fraction

import lab
from lab import InputProblem
from sequences import fibonacci

MAX_EXPRESSION = 10_000
GUARD = 15

EPILOG = """\
operators: + - * / // % ** ( )        pow(b, e, m) for remainders of large powers
functions: abs gcd lcm factorial binomial fibonacci floor ceil round
           isqrt sqrt exp ln log10      constants: pi e

examples:
  calc.py "0.1 + 0.2"                  3/10 = 0.3
  calc.py "pi" --max-denominator 1000  355/113 ~ 3.1415929...

exit status: 0 done, 1 the expression cannot be computed, 2 wrong usage"""


def main():
    parser = lab.parser(__doc__, EPILOG)
    parser.add_argument("expression", help="quote it; put `--` before one that starts with a minus")
    parser.add_argument(
        "--digits", type=lab.between(1, 5_000), default=30, help="significant digits of decimals (default 30)"
    )
    parser.add_argument(
        "--max-denominator", type=lab.between(1, 10**30), metavar="N", help="print the nearest such fraction"
    )
    lab.add_output_option(parser)
    arguments = parser.parse_args()
    decimal.getcontext().prec = arguments.digits + GUARD
    value = evaluate(arguments.expression.strip())
    if arguments.max_denominator:
        value = Fraction(value).limit_denominator(arguments.max_denominator)
    lab.emit(show(value, arguments.digits), arguments.output)


def show(value, digits):
    if isinstance(value, Decimal):
        return plain(value, digits)
    text, complete = lab.expand(lab.checked(value), limit=digits)
    if value.denominator == 1:
        return text
    return f"{value} = {text}" if complete else f"{value} ~ {plain(to_decimal(value), digits)}"


def evaluate(text):
    """Walks the syntax tree of an expression."""
    if len(text) > MAX_EXPRESSION:
        raise InputProblem(f"the expression is longer than {MAX_EXPRESSION} characters")
    if "^" in text:
        raise InputProblem("`^` is not supported: write `**` for powers")
    try:
        value = visit(text, ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError) as problem:
        raise InputProblem(f"`{lab.shorten(text)}` is not an expression: {problem.args[0]}") from None
    except (RecursionError, MemoryError):
        raise InputProblem("the expression is nested too deeply") from None
    except ZeroDivisionError:
        raise InputProblem("division by zero") from None
    except (decimal.InvalidOperation, decimal.Overflow, OverflowError):
        raise InputProblem("the result is undefined or too large") from None
    if isinstance(value, Decimal) and not value.is_finite():
        raise InputProblem("the result is infinite")
    return value


def visit(text, node):
    source = ast.get_source_segment(text, node) or ""
    if isinstance(node, ast.Constant):
        if type(node.value) not in (int, float):
            raise InputProblem(f"`{lab.shorten(source)}` is not a number")
        # The digits as written: a float would already be rounded.
        return Fraction(node.value) if isinstance(node.value, int) else lab.number(source.replace("_", ""))
    if isinstance(node, ast.Name) and node.id in CONSTANTS:
        return CONSTANTS[node.id]()
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        value = visit(text, node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return binary(OPERATORS[type(node.op)], visit(text, node.left), visit(text, node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return call(node.func.id, [visit(text, argument) for argument in node.args])
    raise InputProblem(f"`{lab.shorten(source)}` is not part of the calculator; see --help")


def binary(operation, left, right):
    if operation is operator.pow:
        return power(left, right)
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        if operation in (operator.floordiv, operator.mod):
            raise InputProblem("`//` and `%` need exact values on both sides")
        return operation(to_decimal(left), to_decimal(right))
    return lab.checked(Fraction(operation(left, right)))


def power(base, exponent):
    if isinstance(base, Decimal) or isinstance(exponent, Decimal) or exponent.denominator != 1:
        return to_decimal(base) ** to_decimal(exponent)
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(base) != 1 and base != 0 and abs(exponent) * max(bits - 1, 1) > lab.MAX_BITS:
        raise InputProblem(f"the power has more than {lab.MAX_DIGITS} digits; for a remainder use pow(b, e, m)")
    return base**exponent.numerator if abs(base) != 1 else (base if exponent % 2 else Fraction(1))


def square_root(value):
    """Exact for squares of fractions, else a decimal."""
    if isinstance(value, Fraction) and value >= 0:
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if Fraction(top, bottom) ** 2 == value:
            return Fraction(top, bottom)
    return to_decimal(value).sqrt()


def call(name, values):
    if name not in FUNCTIONS:
        raise InputProblem(f"there is no function `{lab.shorten(name)}`; see --help")
    function, low, high = FUNCTIONS[name]
    if not low <= len(values) <= high:
        raise InputProblem(f"`{name}` takes {low} to {high} values, not {len(values)}")
    return function(*values)


def whole(value, low=None, high=None):
    if isinstance(value, Decimal) or value.denominator != 1:
        raise InputProblem("this function needs integers")
    return lab.integer(str(value.numerator), low, high)


def modular_power(base, exponent, modulus=None):
    if modulus is None:
        return power(base, exponent)
    if modulus == 0:
        raise InputProblem("division by zero")
    try:
        return Fraction(pow(whole(base), whole(exponent), whole(modulus)))
    except ValueError:
        raise InputProblem("the base has no inverse for that modulus") from None


def binomial(total, chosen):
    total, chosen = whole(total, 0), whole(chosen, 0)
    fewer = min(chosen, total - chosen)
    if fewer > 0 and fewer * max(1, (total // fewer).bit_length() - 1) > lab.MAX_BITS:
        raise InputProblem(f"the result has more than {lab.MAX_DIGITS} digits")
    return Fraction(math.comb(total, chosen))


def rounded(value, places=Fraction(0)):
    scale = Fraction(10) ** whole(places, -1_000, 1_000)
    return Fraction(round(Fraction(value) * scale)) / scale


def pi():
    """Machin's formula, on integers."""
    scale = 10 ** (decimal.getcontext().prec + 5)

    def arctangent(inverse):
        term = total = scale // inverse
        divisor, sign = 1, 1
        while term:
            term //= inverse * inverse
            divisor, sign = divisor + 2, -sign
            total += sign * (term // divisor)
        return total

    return +(Decimal(4 * (4 * arctangent(5) - arctangent(239))) / scale)


def to_decimal(value):
    return value if isinstance(value, Decimal) else Decimal(value.numerator) / Decimal(value.denominator)


def plain(value, digits):
    """Rounds to significant digits; only extreme sizes get an exponent."""
    value = decimal.Context(prec=digits).plus(value)
    return format(value, "f") if -digits <= value.adjusted() <= digits else str(value)


CONSTANTS = {"pi": pi, "e": lambda: Decimal(1).exp()}

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}

# name: (function, fewest values, most values)
FUNCTIONS = {
    "abs": (abs, 1, 1),
    "gcd": (lambda *values: Fraction(math.gcd(*map(whole, values))), 1, 100),
    "lcm": (lambda *values: lab.checked(Fraction(math.lcm(*map(whole, values)))), 1, 100),
    "factorial": (lambda value: Fraction(math.factorial(whole(value, 0, 25_000))), 1, 1),
    "binomial": (binomial, 2, 2),
    "fibonacci": (lambda value: Fraction(fibonacci(whole(value, 0, 478_000))), 1, 1),
    "floor": (lambda value: Fraction(math.floor(value)), 1, 1),
    "ceil": (lambda value: Fraction(math.ceil(value)), 1, 1),
    "round": (rounded, 1, 2),
    "isqrt": (lambda value: Fraction(math.isqrt(whole(value, 0))), 1, 1),
    "sqrt": (square_root, 1, 1),
    "pow": (modular_power, 2, 3),
    "exp": (lambda value: to_decimal(value).exp(), 1, 1),
    "ln": (lambda value: to_decimal(value).ln(), 1, 1),
    "log10": (lambda value: to_decimal(value).log10(), 1, 1),
}


if __name__ == "__main__":
    lab.run(main)
