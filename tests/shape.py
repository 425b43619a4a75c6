#!/usr/bin/env python3
"""Prints the shape of the product's code: folders, targets, files, lines, headers with one user, the largest classes.

  tests/shape.py            of the working tree
  tests/shape.py COMMIT     of a commit, beside the working tree
"""

import collections
import re
import statistics
import subprocess
import sys

PRODUCT = ("policy/", "supervisor/", "client/")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
TARGET = re.compile(r"^\s*(?:cellblock_(?:unit|folder|program)|add_library|add_executable)\((?![\w${}]*name)", re.MULTILINE)
CLASS = re.compile(r"^(?:class|struct) (\w+)[^;{]*\{(.*?)^\};", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"^  (?!return|using|friend|static_assert|//)[\w:<>,&*~ \[\]]*?\b(?:operator.{1,3}|~?\w+)\(", re.MULTILINE)


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def tree(commit):
    """Path -> text, of the product's sources and of CMake's lists."""
    def is_wanted(name):
        product = name.startswith(PRODUCT) and name.endswith((".h", ".cc"))
        lists = name.rsplit("/", 1)[-1] == "CMakeLists.txt" and not name.startswith(("tests/", "examples/"))
        return product or lists

    if commit is None:
        names = [n for n in git("ls-files").splitlines() if is_wanted(n)]
        return {name: open(name, encoding="utf-8").read() for name in names}
    names = [n for n in git("ls-tree", "-r", "--name-only", commit).splitlines() if is_wanted(n)]
    request = "".join(f"{commit}:{name}\n" for name in names).encode()
    out = subprocess.run(["git", "cat-file", "--batch"], input=request, check=True, capture_output=True).stdout
    texts, at = {}, 0
    for name in names:
        end = out.index(b"\n", at)
        size = int(out[at:end].split()[2])
        texts[name] = out[end + 1:end + 1 + size].decode()
        at = end + 1 + size + 1
    return texts


def shape(texts):
    files = {name: text for name, text in texts.items() if name.endswith((".h", ".cc"))}
    lines = sorted(text.count("\n") for text in files.values())
    users = collections.defaultdict(set)
    for name, text in files.items():
        for include in INCLUDE.findall(text):
            for path in (include, "client/include/" + include):
                if path in files and path.rsplit(".", 1)[0] != name.rsplit(".", 1)[0]:
                    users[path].add(name.rsplit(".", 1)[0])
    headers = [name for name in files if name.endswith(".h")]
    classes = sorted(((len(FUNCTION.findall(body)), name) for text in files.values()
                      for name, body in CLASS.findall(text)), reverse=True)
    lists = {name: text for name, text in texts.items() if name.endswith("CMakeLists.txt")}
    folders = {name.rsplit("/", 1)[0] for name in files}
    return {
        "folders": len(folders),
        "CMake lists": len(lists),
        "lines of the top list": lists["CMakeLists.txt"].count("\n"),
        "targets of the product": sum(len(TARGET.findall(re.split(r"^# --- tests", text, flags=re.M)[0])) for text in lists.values()),
        "files": len(files),
        "lines": sum(lines),
        "median lines of a file": int(statistics.median(lines)),
        "files below 40 lines": sum(count < 40 for count in lines),
        "headers of one user": sum(len(users[name]) == 1 for name in headers),
        "most files in a folder": max(collections.Counter(n.rsplit("/", 1)[0] for n in files).values()),
        "largest classes (functions)": ", ".join(f"{name} {count}" for count, name in classes[:6]),
    }


def main():
    commits = [*sys.argv[1:2], None]
    columns = [shape(tree(commit)) for commit in commits]
    width = max(len(row) for row in columns[0])
    for row in columns[0]:
        print(f"{row:<{width}}  " + "  ->  ".join(str(column[row]) for column in columns))


if __name__ == "__main__":
    main()
