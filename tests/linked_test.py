#!/usr/bin/env python3
"""What each process of cellblock is made of: lines of its own code and libraries of others, counted over the sources that
its main file reaches by what they include. The table of docs/security.md is held to it.

`linked_test.py --table` prints the table, `--files PROGRAM` each source with its lines."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/security.md"
MARKS = ("<!-- linked -->\n", "<!-- /linked -->")
OWN = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
OTHERS = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# By what the headers' names begin with. Headers alone are no less code of others.
LIBRARIES = {
    "toml++/": "toml++", "CLI/": "CLI11", "nlohmann/": "nlohmann-json", "simdjson": "simdjson", "re2/": "RE2",
    "openssl/": "libcrypto", "seccomp.h": "libseccomp", "boost/": "Boost", "spdlog/": "spdlog", "fmt/": "fmt", "ares": "c-ares",
    "prometheus/": "prometheus-cpp", "archive": "libarchive",
}
PROGRAMS = ["cellblockd", "cellblock-supervisor", "cellblock-launcher", "cellblock-gateway", "cellblock-audit", "cellblock-egress",
            "cellblock-http", "cellblock-metrics"]
MAY_DIFFER_BY = 0.05  # the page says how much it is, not each line


def main_file(program):
    for path in ROOT.glob("supervisor/**/CMakeLists.txt"):
        found = re.search(rf"cellblock_program\({program} (\S+)", path.read_text())
        if found:
            return path.parent / found.group(1)
    raise LookupError(program)


def parts_of(header):
    """The sources that define what a header declares: its own, and those that are named after it and have no header."""
    own = header.with_suffix(".cc")
    found = [own] if own.exists() else []
    for source in header.parent.glob(header.stem + "_*.cc"):
        if source.with_suffix(".h").exists():
            continue
        owners = [h for h in header.parent.glob("*.h") if source.stem.startswith(h.stem + "_")]
        if max(owners, key=lambda h: len(h.stem)) == header:
            found.append(source)
    return found


def reached(program):
    waiting = [main_file(program)]
    found = set(waiting)
    while waiting:
        for name in OWN.findall(waiting.pop().read_text()):
            header = ROOT / name
            if not header.exists():
                continue  # generated
            for file in [header, *parts_of(header)]:
                if file not in found:
                    found.add(file)
                    waiting.append(file)
    return found


def lines_of(file):
    text = COMMENT.sub("", file.read_text())
    return sum(1 for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))


def libraries_of(files):
    names = {name for file in files for name in OTHERS.findall(file.read_text())}
    return sorted({library for begin, library in LIBRARIES.items() if any(n.startswith(begin) for n in names)},
                  key=str.lower)


def row_of(program):
    files = reached(program)
    return program, sum(map(lines_of, files)), libraries_of(files)


def table(rows):
    text = "| program | lines | libraries of others |\n|---|---|---|\n"
    for program, lines, libraries in rows:
        text += f"| `{program}` | {lines} | {', '.join(libraries)} |\n"
    return text


def rows_of_page():
    begin, end = MARKS
    text = PAGE.read_text().split(begin, 1)[1].split(end, 1)[0]
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines()[2:]]
    return [(program.strip("`"), int(lines), libraries.split(", ")) for program, lines, libraries in cells]


class Linked(unittest.TestCase):
    def test_the_table_of_the_page_is_what_the_programs_are_made_of(self):
        page = {program: (lines, libraries) for program, lines, libraries in rows_of_page()}
        self.assertEqual(list(page), PROGRAMS)
        for program in PROGRAMS:
            _, lines, libraries = row_of(program)
            with self.subTest(program=program, update="python3 tests/linked_test.py --table"):
                self.assertEqual(page[program][1], libraries)
                self.assertAlmostEqual(page[program][0], lines, delta=MAY_DIFFER_BY * lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        print(table(map(row_of, PROGRAMS)), end="")
    elif sys.argv[1:2] == ["--files"]:
        for file in sorted(reached(sys.argv[2]), key=lines_of):
            print(lines_of(file), file.relative_to(ROOT))
    else:
        unittest.main()
