#!/usr/bin/env python3
"""The tests that docs/assurance.md names exist, and are built and run."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/assurance.md"
GOOGLE_TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.MULTILINE)
NAMED = re.compile(r"`([^`]+)`")


def rows():
    """The cells of each row of a table, without their heads."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    return [row for row in found if "shown by" not in row[-1]]


def google_tests():
    """Those of sources that a CMakeLists.txt names; as Suite.Name."""
    found = set()
    for source in ROOT.glob("tests/*/*_test.cc"):
        if source.stem in (source.parent / "CMakeLists.txt").read_text(encoding="utf-8"):
            found.update(".".join(name) for name in GOOGLE_TEST.findall(source.read_text(encoding="utf-8")))
    return found


class Assurance(unittest.TestCase):
    def test_every_point_names_tests_that_are_built_and_run(self):
        tests = google_tests()
        for row in rows():
            names = NAMED.findall(row[-1])
            self.assertTrue(names, f"no test is named in {row[:2]}")
            for name in names:
                with self.subTest(name=name):
                    suite = name.removeprefix("sdk/")
                    is_suite = suite != name and (ROOT / f"tests/sdk/{suite}.test.mjs").exists()
                    self.assertTrue(is_suite or name in tests, f"{name} is no test")

    def test_all_points_of_the_three_lists_are_there(self):
        self.assertEqual(len(rows()), 9 + 10 + 6)

    def test_every_point_says_how_far_it_is_done(self):
        for row in rows():
            self.assertRegex(" ".join(row[:2]), "[✓◐✗]")


if __name__ == "__main__":
    unittest.main()
