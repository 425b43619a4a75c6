#!/usr/bin/env python3
"""clang-tidy over every source file of the product: lint.py BUILD_DIR [--all] [--within SECONDS]

Most of clang-tidy's time goes into the headers of the libraries, and each file brings the same ones.
So files are read together, as one that includes them, where that changes nothing: no file of such a
batch mentions a name that another one keeps for itself. A batch that does not compile is taken apart:
what the errors are in is read by itself. Checks that look at the main file alone see nothing in a batch: tests/includes_test.py
looks for what is brought in and not used. What it had nothing to say about is not read again while nothing of it changes
(lint_record.py).

--all: the tests and examples as well, the checks that take longest too, and each file by itself.
--within: after so many seconds nothing more is begun; what was left unread is said, and the exit status is 77 if there
is nothing to say of the rest."""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from lint_record import LintRecord

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRODUCT = ["policy/*.cc", "supervisor/*.cc", "client/*.cc"]
EVERYTHING = PRODUCT + ["tests/*.cc", "examples/*.cc"]
LARGEST_BATCH = 16  # a larger one is hardly cheaper, and takes longer when it has to be taken apart
# Compilers' warnings are the builds' concern; in a batch, one file's header shadows another's name.
OPTIONS = ["--quiet", f"--config-file={ROOT}/.clang-tidy",
           "--header-filter=/(policy|supervisor|client|examples|tests)/.*\\.(h|cc)$",
           "--extra-arg=-w"]
# The analyzer is three quarters of the time, the last one a third of the rest; the others see nothing in a batch.
QUICK_CHECKS = ("--checks=-clang-analyzer-*,-misc-unused-using-decls,-misc-unused-alias-decls,"
                "-performance-unnecessary-value-param")

COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
# What a line at the margin declares: a type, a function, a constant.
DECLARED = re.compile(r"\b(?:struct|class|enum|union)\s+(\w+)"
                      r"|\b([A-Za-z_]\w*)\s*[({=;\[]")
# Another name for what is declared elsewhere; several files may say the same.
ALIAS = re.compile(r"^\s*(?:using|namespace)\s+(\w+)\s*=.*;$|^\s*using\s+(?:[\w:]*::)?(\w+);$", re.MULTILINE)
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# A macro, main.
BROUGHT_IN = re.compile(r"^(?:#\s*define|int(?= main))\s+(\w+)", re.MULTILINE)
# Not what is looked for in a value or another namespace: x.name, x->name, space::name.
MENTIONED = re.compile(r"(?<![\w.:>])\w+")
NO_NAME = {"class", "constexpr", "decltype", "alignas", "requires", "noexcept", "sizeof", "operator", "bool",
           "static_assert", "using"}


class Source:
    """One entry of the compile database."""

    def __init__(self, name, arguments, output):
        self.name = name
        self.arguments = arguments
        self.output = output
        written = (ROOT / name).read_text(encoding="utf-8")
        text = COMMENT_OR_STRING.sub(" ", written)
        self.own = own_names(written)
        self.aliases = aliases(written)
        self.words = set(MENTIONED.findall(text))
        self.from_headers = in_headers(names_of, included(written))
        self.aliases_in_headers = in_headers(aliases_of, included(written))

    def goes_with(self, others):
        return not any(self.disturbs(other) or other.disturbs(self) for other in others)

    def disturbs(self, other):
        """Whether a name of its own is another thing in the other, or in a header that only the other one includes."""
        return (not self.own.isdisjoint(other.words) or not self.own.isdisjoint(other.from_headers - self.from_headers)
                or any(name in other.words and other.aliases.get(name) != meant and meant not in other.aliases_in_headers
                       for name, meant in self.aliases.items()))


def own_names(written):
    found = set()
    for body in UNNAMED.findall(written):  # its end is known by the comment
        for line in COMMENT_OR_STRING.sub(" ", body).splitlines():
            if line and not line[0].isspace() and line[0] not in "}#)" and not line.startswith(("using ", "namespace ")):
                names = [a or b for a, b in DECLARED.findall(line)]
                found.update([name for name in names if name not in NO_NAME][:1])
    found.update(BROUGHT_IN.findall(written))
    return found


def included(written):
    return frozenset(INCLUDED.findall(written))


@functools.cache
def in_headers(what_of, headers):
    """What what_of finds in these headers of the product, and in what they include."""
    return frozenset().union(*(in_header(what_of, header) for header in headers))


@functools.cache
def in_header(what_of, header):
    for place in (ROOT / header, ROOT / "client/include" / header):
        if place.is_file():
            written = place.read_text(encoding="utf-8")
            return what_of(written).union(in_headers(what_of, included(written)))
    return frozenset()


def names_of(written):
    """What a header declares at the margin."""
    lines = [line for line in COMMENT_OR_STRING.sub(" ", written).splitlines() if line and not line[0].isspace()]
    names = {a or b for line in lines for a, b in DECLARED.findall(line)[:1]}
    return frozenset(names - NO_NAME)


def aliases_of(written):
    return frozenset(aliases(written).values())


def aliases(written):
    """What each of its aliases stands for."""
    return {found[1] or found[2]: " ".join(found[0].split()) for found in ALIAS.finditer(written)}


def without_output(command):
    """The compiler's options: no ccache before it, no -o, no -c, no file; and the output."""
    words = shlex.split(command)
    while "ccache" in words[0]:
        words = words[1:]
    place = words.index("-o")
    kept = [word for word in words[:place] + words[place + 2:-1] if word != "-c"]
    return kept, words[place + 1]


def sources(build, patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True,
                            text=True).stdout.split()
    entries = json.loads((build / "compile_commands.json").read_text())
    wanted = {str(ROOT / name): name for name in listed}
    found = [Source(wanted[entry["file"]], *without_output(entry["command"]))
             for entry in entries if entry["file"] in wanted]
    # What several programs compile for themselves is read once.
    return list({(source.name, kind(source)): source for source in found}.values())


def kind(source):
    """What must not differ within a batch: the library's Asio is not the daemon's, and the launcher's
    code is there with and without faults."""
    return source.name.startswith("client/"), "-DCELLBLOCK_FAULT_INJECTION" in source.arguments


def batches(found, largest):
    made = []
    for source in sorted(found, key=lambda source: len(source.words), reverse=True):
        for batch in made:
            if (len(batch) < largest and kind(batch[0]) == kind(source) and source.goes_with(batch)):
                batch.append(source)
                break
        else:
            made.append([source])
    return sorted(made, key=len, reverse=True)  # the longest first, so that the last one is short


def write(batch, number, directory):
    """The batch as one file, and the compile database entry for it."""
    file = directory / f"{batch[0].name.replace('/', '_')}_{number}.cc"
    if len(batch) == 1:
        file = ROOT / batch[0].name
    else:
        # Whoever includes a .cc is told so, but for this.
        file.write_text("".join(f'#include "{ROOT / source.name}"  // NOLINT\n' for source in batch))
    arguments = list(batch[0].arguments)
    for source in batch[1:]:
        arguments += [word for word in source.arguments if word not in arguments]
    home = directory / str(number)
    home.mkdir(parents=True, exist_ok=True)
    (home / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(directory), "file": str(file), "arguments": [*arguments, "-c", str(file)]}]))
    return home, file


def tidy(home, file, checks):
    run = subprocess.run(["clang-tidy-19", "-p", home, *OPTIONS, *checks, file], capture_output=True,
                         text=True)
    return run.returncode, run.stdout or run.stderr


def parts_of(batch, said):
    """A batch that does not compile: those that the errors are in, each by itself, and the rest; or halves."""
    blamed = [source for source in batch if re.search(rf"/{re.escape(source.name)}:\d+:\d+: error:", said)]
    rest = [source for source in batch if source not in blamed]
    if blamed and rest:
        return [rest, *([source] for source in blamed)]
    middle = len(batch) // 2
    return [batch[:middle], batch[middle:]]


def read_batch(batch, number, directory, checks):
    """What clang-tidy says of the batch; empty when it is content."""
    code, said = tidy(*write(batch, number, directory), checks)
    if len(batch) > 1 and "clang-diagnostic" in said:
        print(f"apart: {' '.join(source.name for source in batch)}", flush=True)
        return "".join(read_batch(part, f"{number}.{place}", directory, checks)
                       for place, part in enumerate(parts_of(batch, said)))
    return f"{said}{batch[0].name}: clang-tidy ended with {code}\n" if code != 0 else ""


def work_of(found, everything):
    """Pairs of a batch and the checks for it."""
    if everything:
        return [([source], []) for source in found]
    return [(batch, [QUICK_CHECKS]) for batch in batches(found, LARGEST_BATCH)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--within", type=int, metavar="SECONDS")
    chosen = parser.parse_args()
    found = sources(chosen.build, EVERYTHING if chosen.all else PRODUCT)
    if not found:
        sys.exit(f"{chosen.build} compiles none of the files")
    directory = (chosen.build / "lint").resolve()
    directory.mkdir(exist_ok=True)
    record = LintRecord(ROOT, chosen.build, [OPTIONS[2:], QUICK_CHECKS, chosen.all])
    unread = [source for source in found if not record.knows(source)]
    made = work_of(unread, chosen.all)
    print(f"{len(found)} files, {len(found) - len(unread)} of them read before as they are; "
          f"the others are read by {len(made)} runs of clang-tidy", flush=True)
    sys.exit(read_all(made, directory, record, chosen.within))


def read_all(made, directory, record, within=None):
    """0: clang-tidy is content with all of it; 77: with what there was time for."""
    end = time.monotonic() + within if within is not None else None
    missing = collections.Counter(source for batch, _ in made for source in batch)
    unread = 0

    def read(batch, number, checks):
        if end is not None and time.monotonic() > end:
            return None
        return read_batch(batch, number, directory, checks)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        runs = {pool.submit(read, batch, number, checks): batch
                for number, (batch, checks) in enumerate(made)}
        for run in concurrent.futures.as_completed(runs):
            if run.result() is None:
                missing.subtract(runs[run])
                unread += len(runs[run])
                continue
            if run.result():
                print(run.result(), flush=True)
                continue
            missing.subtract(runs[run])
            for source in runs[run]:
                if missing[source] == 0:
                    record.add(source)
    if unread:
        print(f"{unread} files were left unread after {within} s", flush=True)
    return 1 if any(missing.values()) else 77 if unread else 0


if __name__ == "__main__":
    main()
