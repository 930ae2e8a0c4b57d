#!/usr/bin/env python3
"""Primes: test, factor and list them.

Below 3.3e24 a verdict is proven. Above it "probably prime" means that 40
independent Miller-Rabin rounds agreed; "composite" is always certain.
"""

import sys

sys.dont_write_bytecode = True

import math
import random

import lab
from lab import InputProblem

MAX_PRIME_DIGITS = 1_000
MAX_LISTED = 100_000
MAX_SIEVED = 10**12
MAX_SPAN = 20_000_000
SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
# Testing with the thirteen primes above is a proof below this number.
PROVEN_BELOW = 3_317_044_064_679_887_385_961_981

EPILOG = """\
examples:
  primes.py check 97 91
  primes.py list --to 1000000 --count-only

exit status: 0 done, 1 bad input, 2 wrong usage,
             3 a factorisation stopped at --max-steps (what was found is printed)"""


def main():
    parser = lab.parser(__doc__, EPILOG)
    actions = parser.add_subparsers(dest="command", required=True, metavar="check|factor|list")
    check_parser = actions.add_parser("check", help="say whether integers are prime")
    factor_parser = actions.add_parser("factor", help="prime factors and number of divisors")
    list_parser = actions.add_parser("list", help="primes in a range")
    for target in (check_parser, factor_parser):
        target.add_argument("integers", nargs="+", metavar="N")
    factor_parser.add_argument(
        "--max-steps",
        type=lab.between(1, 10**9),
        default=4_000_000,
        help="work allowed per integer (default: some seconds)",
    )
    list_parser.add_argument("--from", dest="low", default="1", metavar="A")
    list_parser.add_argument("--to", dest="high", required=True, metavar="B", help="inclusive")
    list_parser.add_argument("--count-only", action="store_true", help="print how many there are")
    for target, action in ((check_parser, check), (factor_parser, factor_all), (list_parser, list_range)):
        lab.add_output_option(target)
        target.set_defaults(action=action)
    arguments = parser.parse_args()
    return arguments.action(arguments)


def check(arguments):
    values = [lab.integer(text, max_digits=MAX_PRIME_DIGITS) for text in arguments.integers]
    lab.emit("\n".join(f"{value}\t{verdict(value)}" for value in values), arguments.output)


def verdict(value):
    if value < 2:
        return "neither"
    if not is_prime(value):
        return "composite"
    return "prime" if value < PROVEN_BELOW else "probably prime"


def is_prime(value):
    """Miller-Rabin; a proof below `PROVEN_BELOW`."""
    for prime in SMALL_PRIMES:
        if value % prime == 0:
            return value == prime
    if value < 2:
        return False
    twos = ((value - 1) & (1 - value)).bit_length() - 1
    if value < PROVEN_BELOW:
        bases = SMALL_PRIMES
    else:
        # Seeded by the number: the same question always gets the same answer.
        dice = random.Random(value)
        bases = (dice.randrange(2, value - 1) for _ in range(40))
    return all(passes(value, base, (value - 1) >> twos, twos) for base in bases)


def passes(value, base, odd, twos):
    power = pow(base, odd, value)
    if power in (1, value - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % value
        if power == value - 1:
            return True
    return False


def factor_all(arguments):
    values = [lab.integer(text, low=1, max_digits=MAX_PRIME_DIGITS) for text in arguments.integers]
    lines, status = [], 0
    for value in values:
        factors, rest = factor(value, arguments.max_steps)
        parts = [f"{prime}^{power}" if power > 1 else str(prime) for prime, power in factors]
        if rest > 1:
            status = lab.EXIT_PARTIAL
            lab.note(f"{lab.shorten(str(rest))} is composite but was not split; raise --max-steps")
            lines.append(f"{value} = {' * '.join([*parts, f'({rest} not split)'])}")
            continue
        divisors = math.prod(n + 1 for _, n in factors)
        lines.append(f"{value} = {' * '.join(parts) or 1}\tdivisors {divisors}")
    lab.emit("\n".join(lines), arguments.output)
    return status


def factor(value, max_steps):
    """Returns ([(prime, power)], unsplit rest); the rest is 1 when done."""
    found, rest = [], 1
    for prime in primes_between(2, 10_000):
        while value % prime == 0:
            value //= prime
            found.append(prime)
    pending, budget = [value] * (value > 1), [max_steps]
    while pending:
        part = pending.pop()
        if is_prime(part):
            found.append(part)
            continue
        root = math.isqrt(part)
        divisor = root if root * root == part else split(part, budget)
        if divisor is None:
            rest *= part
        else:
            pending += [divisor, part // divisor]
    return [(prime, found.count(prime)) for prime in sorted(set(found))], rest


def split(value, budget):
    """Pollard's rho in Brent's form: a proper divisor, or None when out of steps."""
    for constant in range(1, 20):
        here, product, power, divisor = 2, 1, 1, 1
        while divisor == 1:
            saved = here
            for _ in range(power):
                here = (here * here + constant) % value
            for done in range(0, power, 128):
                start = here
                for _ in range(min(128, power - done)):
                    here = (here * here + constant) % value
                    product = product * abs(saved - here) % value
                divisor = math.gcd(product, value)
                budget[0] -= 128
                if divisor > 1:
                    break
                if budget[0] <= 0:
                    return None
            power *= 2
        if divisor == value:
            # Two factors fell into one block: walk through it step by step.
            divisor = 1
            while divisor == 1:
                start = (start * start + constant) % value
                divisor = math.gcd(abs(saved - start), value)
        if divisor != value:
            return divisor
    return None


def list_range(arguments):
    low, high = (lab.integer(text, high=MAX_SIEVED) for text in (arguments.low, arguments.high))
    if high < low:
        raise InputProblem(f"the range is empty: --from {low} is above --to {high}")
    if high - low > MAX_SPAN:
        raise InputProblem(f"the range spans more than {MAX_SPAN} integers; narrow --from and --to")
    found = primes_between(low, high)
    if len(found) > MAX_LISTED and not arguments.count_only:
        raise InputProblem(f"{len(found)} primes are too many to list (at most {MAX_LISTED}); use --count-only")
    lab.emit(str(len(found)) if arguments.count_only else ", ".join(map(str, found)), arguments.output)


def primes_between(low, high):
    """Sieve of Eratosthenes on [low, high]."""
    low = max(low, 2)
    limit = math.isqrt(max(high, 0))
    base = bytearray([1]) * (limit + 1)
    window = bytearray([1]) * (high - low + 1)
    for prime in range(2, limit + 1):
        if base[prime]:
            base[prime * prime :: prime] = bytes(len(range(prime * prime, limit + 1, prime)))
            start = max(prime * prime, -(-low // prime) * prime) - low
            window[start::prime] = bytes(len(range(start, len(window), prime)))
    return [low + offset for offset, kept in enumerate(window) if kept]


if __name__ == "__main__":
    lab.run(main)
