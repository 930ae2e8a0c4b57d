#!/usr/bin/env python3
"""Named integer sequences, and the rule behind a sequence you have.

`terms` prints a named sequence, `names` lists them, `guess` looks for rules
that explain every given term and continues them.
"""

import sys

sys.dont_write_bytecode = True

import itertools
import math
from typing import Callable, NamedTuple, Optional

import lab
from lab import InputProblem

MAX_TERMS = 10_000
MAX_TOTAL_BITS = 10 * lab.MAX_BITS
MAX_GUESS_TERMS = 200
# A named sequence is searched this far for the given terms.
SEARCHED_TERMS = 200

EPILOG = """\
examples:
  sequences.py terms fibonacci --count 10
  sequences.py guess 2 6 12 20 30

exit status: 0 done, 1 bad input or no rule found, 2 wrong usage"""


class Sequence(NamedTuple):
    """A named sequence. Only the primes have no formula for a single term."""

    about: str
    max_index: int
    formula: Optional[Callable]
    first_index: int = 0

    def terms(self, start):
        """Yields the terms from an index on, without end."""
        if self.formula:
            return map(self.formula, itertools.count(start))
        return itertools.islice(primes(), start - self.first_index, None)


def main():
    parser = lab.parser(__doc__, EPILOG)
    actions = parser.add_subparsers(dest="command", required=True, metavar="terms|names|guess")
    terms = actions.add_parser("terms", help="print terms of a named sequence")
    terms.add_argument("name", help="see `names`")
    terms.add_argument("--from-index", type=int, metavar="I", help="index of the first printed term")
    choice = terms.add_mutually_exclusive_group()
    choice.add_argument("--count", type=lab.between(1, MAX_TERMS), default=10, help="how many terms (default 10)")
    choice.add_argument("--index", type=int, metavar="I", help="only the term with this index")
    choice.add_argument("--up-to", metavar="N", help="all terms not above N")
    terms.set_defaults(action=print_terms)
    names = actions.add_parser("names", help="list the named sequences")
    names.set_defaults(action=print_names)
    guess = actions.add_parser("guess", help="find the rule of a sequence")
    guess.add_argument("terms", nargs="+", help="at least 4; integers, decimals or fractions")
    guess.add_argument("--next", type=lab.between(1, 100), default=5, help="how many terms to predict (default 5)")
    guess.set_defaults(action=print_guesses)
    for target in (terms, names, guess):
        lab.add_output_option(target)
    arguments = parser.parse_args()
    return arguments.action(arguments)


def print_names(arguments):
    text = "\n".join(f"{name:<14} from index {entry.first_index}: {entry.about}" for name, entry in SEQUENCES.items())
    lab.emit(text, arguments.output)


def print_terms(arguments):
    if arguments.name not in SEQUENCES:
        raise InputProblem(f"there is no sequence `{lab.shorten(arguments.name)}`; known: {', '.join(SEQUENCES)}")
    sequence = SEQUENCES[arguments.name]
    first, start, count = sequence.first_index, arguments.from_index, arguments.count
    if arguments.index is not None:
        start, count = arguments.index, 1
    start = first if start is None else start
    if not first <= start <= sequence.max_index:
        raise InputProblem(f"{arguments.name} has indices from {first} to {sequence.max_index} here")
    found = sequence.terms(start)
    found = itertools.islice(found, count) if arguments.up_to is None else up_to(found, lab.integer(arguments.up_to))
    lab.emit(", ".join(map(str, within_budget(found))), arguments.output)


def up_to(terms, limit):
    """Takes terms until two in a row are above the limit."""
    above = 0
    for term in terms:
        above = above + 1 if term > limit else 0
        if above == 2:
            return
        if not above:
            yield term


def within_budget(terms):
    """Collects terms; refuses more than anyone could read."""
    found, bits = [], 0
    for term in terms:
        bits += lab.checked(term).bit_length()
        found.append(term)
        if len(found) > MAX_TERMS or bits > MAX_TOTAL_BITS:
            raise InputProblem("these are too many or too long terms; ask for fewer")
    return found


def print_guesses(arguments):
    if not 4 <= len(arguments.terms) <= MAX_GUESS_TERMS:
        raise InputProblem(f"between 4 and {MAX_GUESS_TERMS} terms are needed, not {len(arguments.terms)}")
    terms = [lab.number(text.rstrip(",")) for text in arguments.terms]
    found = list(guesses(terms, arguments.next))
    if not found:
        raise InputProblem("no rule explains every term; more terms may help")
    text = "\n".join(f"{rule}\n  next: {', '.join(map(str, following))}" for rule, following in found)
    lab.emit(text, arguments.output)


def guesses(terms, count):
    """Yields (rule, next terms), simplest rule first, named ones at the end."""
    degree, tops = difference_degree(terms)
    if degree is not None:
        rule = ("constant", "arithmetic", "quadratic", "polynomial")[min(degree, 3)]
        yield f"{rule}: differences of order {degree} are all {tops[-1]}", extend_differences(tops, count)
    else:
        yield from recurrences(terms, count)
    for name, entry in SEQUENCES.items():
        known = list(itertools.islice(entry.terms(entry.first_index), SEARCHED_TERMS))
        for at in range(len(known) - len(terms) - count + 1):
            if known[at : at + len(terms)] == terms:
                after = known[at + len(terms) : at + len(terms) + count]
                yield f"{name} from index {entry.first_index + at}: {entry.about}", after
                break


def difference_degree(terms):
    """Returns (degree, last entry of each difference row), or (None, []).

    The constant row must have three entries, so that at least two of them
    were predicted by the others.
    """
    row, tops = terms, []
    for degree in range(len(terms) - 2):
        tops.append(row[-1])
        if all(value == row[0] for value in row):
            return degree, tops
        row = [b - a for a, b in zip(row, row[1:])]
    return None, []


def extend_differences(tops, count):
    found = []
    for _ in range(count):
        for level in range(len(tops) - 2, -1, -1):
            tops[level] += tops[level + 1]
        found.append(tops[0])
    return found


def recurrences(terms, count):
    """Yields a(n) = p a(n-1) + q, else a(n) = p a(n-1) + q a(n-2), if it fits every term."""
    for order in (1, 2):
        # Two equations fix p and q; at least one term must be left to confirm them.
        if len(terms) < order + 3:
            continue
        rows = [(terms[n - 1], terms[n - 2] if order == 2 else 1, terms[n]) for n in range(order, len(terms))]
        (a, b, e), (c, d, f) = rows[:2]
        if a * d == b * c:
            continue
        p, q = (e * d - b * f) / (a * d - b * c), (a * f - e * c) / (a * d - b * c)
        if any(p * one + q * two != result for one, two, result in rows):
            continue
        extended = list(terms)
        for _ in range(count):
            extended.append(p * extended[-1] + q * (extended[-2] if order == 2 else 1))
        yield f"recurrence: a(n) = {p} a(n-1) + {q}{' a(n-2)' if order == 2 else ''}", extended[len(terms) :]
        return


def fibonacci(index):
    """Fast doubling: about two multiplications for each bit of the index."""
    here, following = 0, 1
    for bit in bin(index)[2:]:
        here, following = here * (2 * following - here), here * here + following * following
        if bit == "1":
            here, following = following, here + following
    return here


def primes():
    """An incremental sieve: each known prime waits at its next multiple."""
    waiting = {}
    for value in itertools.count(2):
        steps = waiting.pop(value, None)
        if steps is None:
            yield value
            waiting[value * value] = [value]
            continue
        for step in steps:
            waiting.setdefault(value + step, []).append(step)


SEQUENCES = {
    "fibonacci": Sequence("0, 1, then the sum of the two before", 478_000, fibonacci),
    "lucas": Sequence("2, 1, then the sum of the two before", 478_000, lambda n: 2 * fibonacci(n + 1) - fibonacci(n)),
    "primes": Sequence("divisible only by 1 and itself", 200_000, None, first_index=1),
    "squares": Sequence("n^2", 10**9, lambda n: n * n),
    "cubes": Sequence("n^3", 10**9, lambda n: n**3),
    "triangular": Sequence("1 + 2 + ... + n", 10**9, lambda n: n * (n + 1) // 2),
    "pentagonal": Sequence("n(3n-1)/2", 10**9, lambda n: n * (3 * n - 1) // 2),
    "powers-of-two": Sequence("2^n", 300_000, lambda n: 2**n),
    "factorials": Sequence("1 * 2 * ... * n", 25_000, math.factorial),
    "central": Sequence("binomial(2n, n)", 50_000, lambda n: math.comb(2 * n, n)),
    "catalan": Sequence("binomial(2n, n) / (n + 1)", 50_000, lambda n: math.comb(2 * n, n) // (n + 1)),
}


if __name__ == "__main__":
    lab.run(main)
