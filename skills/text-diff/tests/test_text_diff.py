"""Compares small files, good and bad, and checks whole outputs."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class TextDiff(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def compare(self, old, new, *options, status=0):
        """Returns stdout; stderr is kept in `self.notes`."""
        for name, content in (("old", old), ("new", new)):
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        return self.run_script("old", "new", *options, status=status)

    def run_script(self, *arguments, status=0):
        command = [sys.executable, "-B", os.path.join(ROOT, "scripts", "text_diff.py"), *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=120)
        self.notes = done.stderr.decode("utf-8")
        self.assertNotIn("Traceback", self.notes)
        self.assertEqual(done.returncode, status, self.notes)
        return done.stdout.decode("utf-8")

    def test_report(self):
        self.assertEqual(
            self.compare("a\nworkers = 4\nlevel = info\nz\n", "a\nworkers = 8\nlevel = info\ntimeout = 30\nz\n"),
            "old -> new: 1 lines changed, 1 added, 0 removed (67% alike)\n"
            "\n"
            "@@ old line 1, new line 1 @@\n"
            "  a\n"
            "~ workers = [-4-]{+8+}\n"
            "  level = info\n"
            "+ timeout = 30\n"
            "  z\n",
        )

    def test_distant_changes_are_separate(self):
        old = "".join(f"{n}\n" for n in range(1, 31))
        new = old.replace("3\n", "three\n", 1).replace("29\n", "")
        self.assertEqual(
            self.compare(old, new, "--context", "1").split("\n")[2:-1],
            ["@@ old line 2, new line 2 @@", "  2", "- 3", "+ three", "  4", ""]
            + ["@@ old line 28, new line 28 @@", "  28", "- 29", "  30"],
        )

    def test_html_is_escaped_and_written_to_a_folder(self):
        self.compare("x <b>1</b>\n", "x <b>2</b>\n", "--format", "html", "--output", "out/diff.html")
        with open(os.path.join(self.folder, "out", "diff.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("x &lt;b&gt;<del>1</del>&lt;/b&gt;", page)
        self.assertNotIn("<b>", page)

    def test_equal_files(self):
        self.assertEqual(self.compare("a\n", "a\n"), "old -> new: 0 lines changed, 0 added, 0 removed (100% alike)\n")
        self.assertIn("(100% alike)", self.compare("", ""))
        self.assertIn("(100% alike)", self.compare(b"\xef\xbb\xbfa\r\n", "a"))
        self.assertIn("only line endings", self.notes)
        self.assertIn("(100% alike)", self.compare("A  b\n", "a b \n", "--ignore-case", "--ignore-space"))

    def test_an_empty_side(self):
        self.assertIn("0 lines changed, 2 added, 0 removed (0% alike)", self.compare("", "a\nb\n"))
        self.assertIn("0 lines changed, 0 added, 1 removed (0% alike)", self.compare("a\n", ""))

    def test_control_codes_do_not_reach_the_terminal(self):
        self.assertIn("+ \\x1b[31mred", self.compare("", "\x1b[31mred\n"))

    def test_large_repetitive_files(self):
        old = "{\n}\n" * 20_000
        self.assertIn("1 lines changed", self.compare(old, old[:40_000] + "x\n" + old[40_002:]))

    def test_limit(self):
        output = self.compare("a\nb\nc\nd\ne\n", "1\nb\n2\nd\n3\n", "--limit", "2", status=3)
        self.assertEqual(output.count("\n+"), 2)
        self.assertIn("1 more changes are not shown", self.notes)

    def test_bad_input(self):
        for content, message in (
            (b"Zo\xeb", "old is not utf-8-sig at byte 2: try --encoding cp1252"),
            (b"a\0b", "old is not a text file"),
            (b"\n" * 200_002, "more than 200000 lines"),
            (b"x" * (16 * 1024 * 1024 + 1), "larger than"),
        ):
            with self.subTest(message):
                self.assertEqual(self.compare(content, "", status=1), "")
                self.assertIn(message, self.notes)
        self.compare("a", "a", "--encoding", "klingon", status=1)
        self.assertIn("no encoding `klingon`", self.notes)
        self.run_script("no/such", "new", status=1)
        self.assertEqual(self.notes, "error: No such file or directory: no/such\n")
        self.run_script("old", status=2)

    def test_help(self):
        self.assertIn("exit status:", self.run_script("--help"))


if __name__ == "__main__":
    unittest.main()
