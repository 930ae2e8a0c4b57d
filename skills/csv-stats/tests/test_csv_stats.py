"""Runs the scripts on small files, good and bad, and compares outputs."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SALES = os.path.join(ROOT, "assets", "sales.csv")
ALL_TYPES = (
    "int,num,bool,day,time,text,code,mixed,empty,bad_day\n"
    '1,"1,234.5",yes,2025-01-31,2025-01-31T10:00:00Z,a,007,1,,2025-02-30\n'
    "-2,.5,No,2025-02-28,2025-02-28 11:00,b,010,x,NA,2025-02-29\n"
)

NUMBERS = "n\n2\n4\n4\n4\n5\n5\n7\n9\n"
MANY = "n\n" + "".join(f"{n}\n" for n in range(120_000))

# file, options, expected members of the profile; members of a column have its name and a dot
PROFILES = (
    (ALL_TYPES, [], {"int.type": "integer", "num.type": "number", "bool.type": "boolean", "day.type": "date"}),
    (ALL_TYPES, [], {"time.type": "datetime", "text.type": "text", "code.type": "text", "mixed.type": "mixed"}),
    (ALL_TYPES, [], {"empty.type": "empty", "bad_day.type": "text", "day.earliest": "2025-01-31", "num.sum": 1235}),
    (NUMBERS, [], {"n.count": 8, "n.sum": 40, "n.min": 2, "n.q1": 4, "n.median": 4.5, "n.mean": 5}),
    (NUMBERS, [], {"n.q3": 5.5, "n.max": 9, "n.stdev": 2.138089935299395, "n.sampled": False}),
    ("n\n" + "0.1\n" * 10, [], {"n.sum": 1, "n.distinct": 1}),
    ("n\n1e300\n1e999\n2\n", [], {"n.kinds": {"integer": 2, "text": 1}}),
    ("a;b\n1,5;2\n", [], {"delimiter": ";", "columns": 2}),
    ("a\tb\n1\t2\n", [], {"delimiter": "\t"}),
    ("a|b\n1|2\n", [], {"delimiter": "|"}),
    ("a\n1\n", [], {"delimiter": ",", "columns": 1}),
    ("a;b\n1.234,5;2\n", ["--decimal", ","], {"a.sum": 1234.5}),
    (b"\xef\xbb\xbfname,n\nZo\xc3\xab,1\n", [], {"name.top": [["Zoë", 1]], "n.type": "integer"}),
    ("name,n\nZoë,1\n".encode("utf-16"), [], {"name.top": [["Zoë", 1]], "n.type": "integer"}),
    (b"name\nZo\xeb\n", ["--encoding", "latin-1"], {"name.top": [["Zoë", 1]]}),
    ('a,b\r\n"two\r\nlines, ""so""",1\r\nx,2\r\n', ["--top", "1"], {"rows": 2, "a.top": [['two\r\nlines, "so"', 1]]}),
    ("a,b,c\n1,2\n1,2,3,4\n\n1,2,3\n", [], {"rows": 3, "short_rows": 1, "long_rows": 1, "c.missing": 1}),
    ("a,,a\n1,2,3\n", [], {"a.sum": 1, "column_2.sum": 2, "a_2.sum": 3}),
    ("1,2\n3,4\n", ["--no-header"], {"rows": 2, "column_2.sum": 6}),
    ("a,b\n", [], {"rows": 0, "a.type": "empty"}),
    ("c\nNA\n-\nDE\n", ["--missing", "na,-"], {"c.missing": 2}),
    ("c\nNA\nDE\n", ["--missing", ""], {"c.missing": 0}),
    (MANY, [], {"n.distinct": 100_000, "n.distinct_exact": False, "n.sum": 7_199_940_000, "n.median": 59_999.5}),
)

REFUSALS = (
    (b"", [], "is empty"),
    (b",,\n", [], "has no rows"),
    (b"name\nZo\xeb\n", [], "try --encoding cp1252"),
    (b"a,b\n1\x00,2\n", [], "zero bytes"),
    (b'a,b\n"' + b"x" * 1_100_000, [], "is a quote left open?"),
    (b"a," * 2_001, [], "more than 2000 columns"),
    (b"a\n1\n", ["--column", "b"], "the columns are: a"),
    (b"a\n1\n", ["--encoding", "klingon"], "there is no encoding"),
    (b"a\n1\n", ["--delimiter", "ab"], "is not a delimiter"),
    (b"a\n1\n", ["--where", "a"], "is not a condition"),
    (b"a\n1\n", ["--where", "a>x"], "only = and != compare text"),
)


class CsvStats(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, content):
        path = os.path.join(self.folder, "data.csv")
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def run_script(self, script, *arguments, stdin=b"", status=0):
        """Returns stdout; stderr is kept in `self.notes`."""
        command = [sys.executable, "-B", os.path.join(ROOT, "scripts", script), *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=300)
        self.notes = done.stderr.decode("utf-8")
        self.assertNotIn("Traceback", self.notes)
        self.assertEqual(done.returncode, status, self.notes)
        return done.stdout.decode("utf-8")

    def profile(self, *arguments, **options):
        return self.run_script("csv_stats.py", "profile", *arguments, **options)

    def group(self, *arguments, **options):
        return self.run_script("csv_stats.py", "group", *arguments, **options)

    def draw(self, *arguments, status=0):
        """Returns the chart's elements by tag."""
        output = os.path.join(self.folder, "out", "chart.svg")
        self.assertEqual(self.run_script("csv_chart.py", *arguments, "--output", output, status=status), "")
        tags = {}
        for element in ElementTree.parse(output).iter():
            tags.setdefault(element.tag.split("}")[1], []).append(element)
        return tags

    def test_profiles(self):
        for content, options, expected in PROFILES:
            facts = json.loads(self.profile(self.file(content), "--format", "json", *options))
            for column in facts.pop("profile"):
                members = {**column, **column.get("numbers", {})}
                facts.update({f"{column['name']}.{name}": value for name, value in members.items()})
            with self.subTest(content[:40]):
                self.assertEqual({name: facts[name] for name in expected}, expected)

    def test_the_example_table(self):
        self.assertEqual(
            self.profile(SALES, "--column", "region", "--column", "units").split("\n", 2)[2],
            "column  type     missing  distinct  most frequent\n"
            "------  -------  -------  --------  ------------------------------\n"
            "region  text           0         3  North (5), South (4), West (3)\n"
            "units   integer        0        11  3 (2), 12 (1), 7 (1)\n"
            "\n"
            "column  min  q1  median  mean    q3  max    stdev  sum\n"
            "------  ---  --  ------  ----  ----  ---  -------  ---\n"
            "units     1   3     5.5  6.25  8.25   15  4.20227   75\n",
        )

    def test_cells_in_tables(self):
        self.assertIn("123456789012345678902", self.profile(self.file("n\n123456789012345678901\n1\n")))
        self.assertIn("\\x1b[31mred (2)", self.profile(self.file("a\n\x1b[31mred\n\x1b[31mred\n")))

    def test_notes_and_stdin(self):
        self.assertIn("1 rows, 2 columns", self.profile("-", stdin=b"a;b\n1\n"))
        self.assertIn("1 of 1 rows are shorter than the header", self.notes)
        self.profile("-", stdin=b"a;b\n")
        self.assertIn("no data", self.notes)

    def test_bad_input(self):
        for content, options, message in REFUSALS:
            with self.subTest(message):
                self.profile(self.file(content), *options, status=1)
                self.assertIn(message, self.notes)
        self.profile("no/such.csv", status=1)
        self.assertEqual(self.notes, "error: No such file or directory: no/such.csv\n")
        self.profile(self.folder, status=1)

    def test_groups(self):
        self.assertEqual(
            self.group(SALES, "--by", "Region", "--sum", "amount", "--mean", "units", "--sort", "sum_amount"),
            "region  count  sum_amount  mean_units\n"
            "------  -----  ----------  ----------\n"
            "North       5     2204.65         8.2\n"
            "West        3     1610.55           6\n"
            "South       4       538.4           4\n",
        )
        options = [
            "--by",
            "product",
            "--sum",
            "units",
            "--where",
            "region=North",
            "--where",
            "units>=4",
            "--limit",
            "1",
        ]
        self.assertEqual(
            self.group(SALES, *options, "--format", "csv", status=3), "product,count,sum_units\nChair,2,12\n"
        )
        self.assertIn("1 of 2 groups are not shown", self.notes)

    def test_group_formats(self):
        options = self.file("k,v\na|b,1\nc,2.5\nc,x\nd,\n"), "--by", "k", "--sum", "v", "--format"
        self.assertEqual(self.group(*options, "csv"), "k,count,sum_v\na|b,1,1\nc,2,2.5\nd,1,\n")
        self.assertEqual(self.notes, "note: 1 values of `v` are not numbers and were skipped\n")
        expected = "| k | count | sum_v |\n|---|---:|---:|\n| a\\|b | 1 | 1 |\n| c | 2 | 2.5 |\n| d | 1 |  |\n"
        self.assertEqual(self.group(*options, "markdown"), expected)
        self.assertEqual(json.loads(self.group(*options, "json"))[1], {"k": "c", "count": 2, "sum_v": 2.5})

    def test_bad_groups(self):
        self.group(SALES, "--by", "region", "--sort", "total", status=1)
        self.assertIn("use one of: count", self.notes)
        self.group(SALES, status=2)
        self.assertEqual(self.group(self.file("k,v\n"), "--by", "k", "--format", "csv"), "k,count\n")

    def test_bars(self):
        tags = self.draw(SALES, "--x", "region", "--y", "amount", "--sort", "value")
        titles = ["sum of amount by region", "North, amount: 2204.65", "West, amount: 1610.55", "South, amount: 538.4"]
        self.assertEqual([title.text for title in tags["title"]], titles)
        self.assertEqual([bar.get("height") for bar in tags["rect"][1:]], ["255.7", "186.8", "62.5"])
        self.assertEqual(len(self.draw(SALES, "--x", "product", "--agg", "count")["rect"]), 5)
        self.assertEqual(len(self.draw(self.file("k,v\na,-2\nb,4\n"), "--x", "k", "--y", "v")["rect"]), 3)
        tags = self.draw(self.file("k,v\n<b>&amp;,1\n"), "--x", "k", "--y", "v", "--title", "<script>")
        self.assertEqual((tags["title"][0].text, "script" in tags), ("<script>", False))

    def test_a_line_is_ordered_by_date(self):
        path = self.file("d,v\n2025-01-03,1\n2025-01-01,2\n2025-01-02,3\n")
        points = self.draw(path, "--kind", "line", "--x", "d", "--y", "v")["polyline"][0].get("points")
        self.assertEqual(points, "90.0,205.0 430.0,60.0 770.0,350.0")
        self.draw(self.file("k,v\na,5\nb,5\n"), "--kind", "line", "--x", "k", "--y", "v")

    def test_too_much_or_nothing_to_draw(self):
        path = self.file("k,v\n" + "".join(f"k{n},{n}\n" for n in range(2_500)))
        self.assertEqual(len(self.draw(path, "--x", "k", "--y", "v", status=3)["rect"]), 41)
        for content, message in ((None, "group the rows first"), ("k,v\n", "nothing to draw")):
            path = self.file(content) if content else path
            self.run_script("csv_chart.py", path, "--kind", "line", "--x", "k", "--y", "v", status=1)
            self.assertIn(message, self.notes)
        self.run_script("csv_chart.py", SALES, "--x", "region", status=2)

    def test_help(self):
        for script in ("csv_stats.py", "csv_chart.py"):
            self.assertIn("exit status:", self.run_script(script, "--help"))


if __name__ == "__main__":
    unittest.main()
