#!/usr/bin/env python3
"""What a reader of the documents types and writes: blocks.py ROOT OUT

Of each document in DOCUMENTS the steps, in order, are written to OUT/NN-PART-NETWORK-name.steps, one after the other: label,
kind, argument and text, each ended by a NUL. A step is one command of an `sh` block (kind `run`, argument the status that it
has to end with), a file (`write` or `append`, argument its path), or what is not done here (`skip`, argument the reason). A
file is a block in another language whose first line names it in a comment: `# /etc/x.toml`, or `# /etc/x.toml, below …` if it
goes below what is there."""

import dataclasses
import itertools
import pathlib
import re
import subprocess
import sys

# Documents in the order in which they are tried, all on one machine. `host`: the commands reach the network, but no port of
# the machine's own; `own`: the other way round, but for the installation of packages.
DOCUMENTS = [
    ("README.md", "host"),
    ("docs/configuration/installation.md", "host"),
    ("docs/configuration/server.md", "host"),
    ("docs/configuration/network-and-secrets.md", "host"),
    ("docs/http.md", "own"),
    ("docs/metrics.md", "own"),
    ("docs/client-library.md", "host"),
    ("docs/client/cpp.md", "host"),
    ("docs/client/c.md", "host"),
    ("docs/client/python.md", "host"),
    ("docs/client/rust.md", "host"),
    ("docs/client/node.md", "host"),
    ("examples/agent_host/README.md", "host"),
    ("docs/systemd.md", "host"),
    ("docs/containers.md", "own"),
    ("docs/audit.md", "own"),
    ("examples/README.md", "host"),
]

# (Document, beginning of a command or file): what is not done, and why. One that no document has is an error.
SKIPPED = {
    ("README.md", "examples/quickstart.sh"): "run at the end, by examples/README.md: it installs more packages than Install does",
    ("README.md", "tests/run.sh"): "runs all tests",
    ("README.md", "cellblock inspect files"): "needs a terminal",
    ("README.md", "cellblock status --watch"): "needs a terminal",
    ("README.md", "cellblock ui"): "serves a page until it is interrupted",
    ("docs/configuration/installation.md", 'echo "+memory +cpu +pids +io"'): "for machines without a service manager",
    ("docs/configuration/installation.md", "mkdir /sys/fs/cgroup/cellblock"): "for machines without a service manager",
    ("docs/configuration/server.md", "sudo python3 -m venv"): "needs Python's package index",
    ("docs/configuration/network-and-secrets.md", "# /etc/systemd/system/cellblock.service.d/"): "names secrets that nobody has made",
    ("docs/client-library.md", "c++ -std=c++20 first_host.cc"): "the program is on the page: tests/library/headers_test.py compiles it",
    ("docs/audit.md", "sudo install -d -m 0700"): "needs a log of some days: tests/unit/cli_audit_test.cc signs and checks one",
    ("docs/audit.md", "sudo openssl"): "needs a log of some days: tests/unit/cli_audit_test.cc signs and checks one",
    ("docs/audit.md", "sudo cellblock audit verify --sign"): "needs a log of some days: tests/unit/cli_audit_test.cc signs and checks one",
    ("docs/audit.md", "cellblock audit verify --public-key"): "needs a log of some days: tests/unit/cli_audit_test.cc signs and checks one",
    ("docs/containers.md", "podman"): "needs Podman: tests/containers/run.sh does it",
    ("docs/containers.md", "/usr/share/cellblock/container"): "needs Podman: tests/containers/run.sh does it",
    ("docs/containers.md", "mkdir context"): "needs Podman: tests/containers/run.sh does it",
    ("docs/client/python.md", "pip install"): "needs Python's package index, or more packages: tests/library/python_client_test.py runs it from the tree",
    ("docs/client/rust.md", "cargo build"): "needs Debian's crates: tests/sdk/rust_client.test.mjs builds and runs it from the tree",
    ("docs/client/node.md", "npm install"): "needs npm: tests/sdk/node_client.test.mjs runs it from the tree",
    ("examples/agent_host/README.md", "./agent_host"): "needs two servers of cellblock's tests",
}

# (Document, beginning of a command): the status that it ends with where that is not 0.
STATUS = {
    ("README.md", "cellblock explain alice files write_file"): 11,  # needs an approval
}

FENCE = re.compile(r"^```(\w*)$")
FILE = re.compile(r"^# (/[\w./-]+)(, below )?")


@dataclasses.dataclass
class Block:
    line: int  # of its first line of text, from 1
    language: str
    text: str


@dataclasses.dataclass
class Step:
    label: str
    kind: str
    argument: str
    text: str


def blocks(document):
    """The fenced blocks of a Markdown text."""
    found, begun = [], None
    for number, line in enumerate(document.splitlines(), 1):
        fence = FENCE.match(line)
        if begun is None:
            if fence:
                begun = Block(number + 1, fence.group(1), "")
        elif fence:
            found.append(begun)
            begun = None
        else:
            begun.text += line + "\n"
    if begun is not None:
        raise ValueError(f"line {begun.line - 1}: the block is not closed; add ```")
    return found


def is_complete(text):
    if text.rstrip("\n").endswith("\\"):
        return False
    return subprocess.run(["bash", "-n"], input=text, text=True, stderr=subprocess.DEVNULL).returncode == 0


def commands(text):
    """The commands of a block, each with the number of its first line, from 0. Lines of comments alone are none."""
    found, begun, command = [], 0, ""
    for number, line in enumerate(text.splitlines()):
        if not command:
            begun = number
        command += line + "\n"
        if not is_complete(command):
            continue
        if any(part.strip() and not part.lstrip().startswith("#") for part in command.splitlines()):
            found.append((begun, command))
        command = ""
    if command:
        raise ValueError(f"not a whole command: {command}")
    return found


def entry_of(table, name, text):
    return next((key for key in table if key[0] == name and text.startswith(key[1])), None)


def unless_skipped(name, step):
    key = entry_of(SKIPPED, name, step.text)
    return Step(step.label, "skip", SKIPPED[key], step.text) if key else step


def step_of_command(name, line, text):
    return Step(f"{name}:{line}", "run", str(STATUS.get(entry_of(STATUS, name, text), 0)), text)


def step_of_file(label, text):
    path, below = FILE.match(text).groups()
    return Step(label, "append" if below else "write", path, "\n" + text if below else text)


def steps(name, document):
    """All steps of a document."""
    found = []
    for block in blocks(document):
        if block.language == "sh":
            found += [step_of_command(name, block.line + line, command) for line, command in commands(block.text)]
        elif FILE.match(block.text):
            found.append(step_of_file(f"{name}:{block.line}", block.text))
    return [unless_skipped(name, step) for step in found]


def parts(found, network):
    """The steps in groups of one network each. Packages are always installed with the host's."""
    groups = itertools.groupby(found, lambda step: "host" if step.text.startswith("sudo apt-get ") else network)
    return [(where, list(some)) for where, some in groups]


def unused_exceptions(all_steps):
    used = {entry_of(table, step.label.rpartition(":")[0], step.text) for step in all_steps for table in (SKIPPED, STATUS)}
    return [" ".join(key) for key in (*SKIPPED, *STATUS) if key not in used]


def main():
    root, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    everything = []
    for number, (name, network) in enumerate(DOCUMENTS):
        found = steps(name, (root / name).read_text())
        everything += found
        for part, (where, some) in enumerate(parts(found, network)):
            fields = [field for step in some for field in (step.label, step.kind, step.argument, step.text)]
            file = out / f"{number:02}-{part}-{where}-{name.replace('/', '-')}.steps"
            file.write_text("".join(field + "\0" for field in fields))
    if unused := unused_exceptions(everything):
        sys.exit(f"blocks.py: SKIPPED or STATUS names what no document has: {', '.join(unused)}; remove them")


if __name__ == "__main__":
    main()
