"""Runs the scripts as a user would. Most cases are lines: a command, then what it says."""

import os
import shlex
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts")

# 3825123056546413051 is composite, but passes for the first nine prime bases.
ANSWERS = r"""
calc.py '0.1 + 0.2' => 3/10 = 0.3
calc.py '2**127 - 1' => 170141183460469231731687303715884105727
calc.py 1/7 => 1/7 = 0.(142857)
calc.py 'sqrt(4/9)' => 2/3 = 0.(6)
calc.py -- '-7 // 2' => -4
calc.py 'gcd(12, 18) + lcm(4, 6)' => 18
calc.py 'binomial(10, 3) + 0 ** 0' => 121
calc.py 'fibonacci(100)' => 354224848179261915075
calc.py 'round(2.5) + round(3.5) + 0xff' => 261
calc.py 'sqrt(2)' --digits 20 => 1.4142135623730950488
calc.py pi --digits 40 => 3.141592653589793238462643383279502884197
calc.py 1/97 --digits 5 => 1/97 ~ 0.010309
calc.py pi --max-denominator 1000 => 355/113 ~ 3.14159292035398230088495575221
primes.py check 97 91 1 => 97\tprime\n91\tcomposite\n1\tneither
primes.py check 3825123056546413051 => 3825123056546413051\tcomposite
primes.py factor 360 => 360 = 2^3 * 3^2 * 5\tdivisors 24
primes.py list --from 100 --to 120 => 101, 103, 107, 109, 113
primes.py list --to 1000000 --count-only => 78498
sequences.py terms fibonacci --count 8 => 0, 1, 1, 2, 3, 5, 8, 13
sequences.py terms fibonacci --index 90 => 2880067194370816120
sequences.py terms lucas --up-to 1 => 1
sequences.py terms primes --index 1000 => 7919
sequences.py terms squares --up-to 30 => 0, 1, 4, 9, 16, 25
sequences.py terms factorials --from-index 5 --count 3 => 120, 720, 5040
sequences.py terms catalan --count 8 => 1, 1, 2, 5, 14, 42, 132, 429
sequences.py guess 2 6 12 20 30 --next 2 => quadratic: differences of order 2 are all 2\n  next: 42, 56
sequences.py guess 1 3 7 15 31 --next 1 => recurrence: a(n) = 2 a(n-1) + 1\n  next: 63
sequences.py guess 0 1 2 5 12 29 --next 1 => recurrence: a(n) = 2 a(n-1) + 1 a(n-2)\n  next: 70
sequences.py guess 1 2 5 14 42 --next 1 => catalan from index 1: binomial(2n, n) / (n + 1)\n  next: 132
sequences.py guess 0.5 1 1.5 2 --next 2 => arithmetic: differences of order 1 are all 1/2\n  next: 5/2, 3
bases.py 255 --to 16 => ff
bases.py 0xff --to 2,10 => 2\t11111111\n10\t255
bases.py 0.1 --to 2 => 0.0(0011)
bases.py zz --from 36 --to 10 => 1295
bases.py 0b101 --from 16 --to 10 => 45313
bases.py --to 16 --bits 32 -- -5 => fffffffb
"""

REFUSALS = r"""
calc.py '9**9**9' => more than 100000 digits
calc.py 1e999999999 => more than 100000 digits
calc.py "__import__('os').getcwd()" => not part of the calculator
calc.py "open('x')" => is not a number
calc.py '2^3' => write `**`
calc.py 1/0 => division by zero
calc.py 'ln(0)' => infinite
calc.py '' => not an expression
primes.py check 12.5 => not an integer
primes.py factor 0 => at least 1
primes.py list --to 10000000000000 => too large
primes.py list --from 9 --to 3 => the range is empty
primes.py list --to 10000000 => use --count-only
sequences.py guess 1 4 2 9 8 => no rule explains
sequences.py guess 1 2 => between 4 and 200
sequences.py terms nonsense => there is no sequence `nonsense`
sequences.py terms fibonacci --index -1 => indices from 0
sequences.py terms fibonacci --from-index 470000 --count 900 => ask for fewer
sequences.py terms squares --up-to 99999999999999999 => ask for fewer
bases.py 12 --from 2 --to 10 => `2` is not a digit in base 2
bases.py 5 --to 37 => use 2 to 36
bases.py 300 --to 2 --bits 8 => does not fit
number_stats.py - => there are no numbers
number_stats.py 1 two => `two` is not a number
number_stats.py 1e5000 => more than 1000 digits
number_stats.py --file no/such/file => No such file or directory: no/such/file
number_stats.py 1 --percentile 101 => not between 0 and 100
"""


def run(script, *arguments, stdin=b""):
    """Returns (status, stdout, stderr)."""
    command = [sys.executable, "-B", os.path.join(SCRIPTS, script), *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


class NumberLab(unittest.TestCase):
    def cases(self, lines):
        """Yields the outcome of each command and what is expected."""
        for line in lines.strip().split("\n"):
            command, expected = line.split(" => ")
            with self.subTest(command.strip()):
                yield run(*shlex.split(command)), expected.replace("\\n", "\n").replace("\\t", "\t")

    def test_answers(self):
        for outcome, expected in self.cases(ANSWERS):
            self.assertEqual(outcome, (0, expected + "\n", ""))

    def test_refusals(self):
        for (status, stdout, stderr), expected in self.cases(REFUSALS):
            self.assertEqual((status, stdout, stderr.count("\n")), (1, "", 1), stderr)
            self.assertIn(expected, stderr)

    def test_wrong_usage(self):
        for command in (["primes.py"], ["number_stats.py"], ["bases.py", "1"], ["calc.py", "1", "--digits", "0"]):
            self.assertEqual(run(*command)[:2], (2, ""))

    def test_incomplete_answers_have_their_own_status(self):
        hard = (10**18 + 9) * (10**18 + 3)
        status, stdout, stderr = run("primes.py", "factor", str(hard), "--max-steps", "1000")
        self.assertEqual((status, stdout), (3, f"{hard} = ({hard} not split)\n"))
        self.assertIn("raise --max-steps", stderr)
        self.assertEqual(run("bases.py", "0.000001", "--to", "7")[0], 3)

    def test_large_input_and_results(self):
        self.assertEqual(len(run("calc.py", "10**99999")[1]), 100_001)
        self.assertIn("= 274177 * 67280421310721\t", run("primes.py", "factor", str(2**64 + 1))[1])
        self.assertEqual(run("primes.py", "check", str(2**127 - 1))[1], f"{2**127 - 1}\tprobably prime\n")
        for command in (
            ["primes.py", "check", "9" * 1_002],
            ["calc.py", "(" * 4_000],
            ["bases.py", "1" * 10_001, "--to", "2"],
        ):
            status, _, stderr = run(*command)
            self.assertEqual((status, stderr[:7]), (1, "error: "))

    def test_statistics(self):
        stdout = run("number_stats.py", "2", "4", "4", "4", "5", "5", "7", "9", "--percentile", "90")[1]
        expected = "count 8 sum 40 min 2 max 9 range 7 mean 5 median 4.5 q1 4 q3 5.5 mode 4 variance 4.57142857143"
        expected += " stdev 2.1380899353 pvariance 4 pstdev 2 p90 7.6"
        self.assertEqual(" ".join(stdout.split()), expected)
        self.assertIn("\nsum        1\n", run("number_stats.py", *["0.1"] * 10)[1])
        self.assertIn("\nstdev      7.07106781187E+899\n", run("number_stats.py", "1e900", "0")[1])

    def test_files_and_stdin(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "values.txt"), os.path.join(folder, "out", "stats.txt")
            with open(source, "wb") as file:
                file.write(b"\xef\xbb\xbf1, 2\r\n3;4\n")
            self.assertEqual(run("number_stats.py", "--file", source, "--output", target), (0, "", f"wrote {target}\n"))
            with open(target, encoding="utf-8") as file:
                self.assertEqual(file.read(), run("number_stats.py", "-", stdin=b"1 2 3 4")[1])
        status, _, stderr = run("number_stats.py", "-", stdin=b"1 \xff\xfe 2")
        self.assertEqual((status, "is not a number" in stderr), (1, True))

    def test_help(self):
        for script in ("calc.py", "primes.py", "sequences.py", "bases.py", "number_stats.py"):
            self.assertIn("exit status:", run(script, "--help")[1])


if __name__ == "__main__":
    unittest.main()
