#!/usr/bin/env python3
"""The tree checks itself: who may include whom, how long files are, that the documentation's list of
set-up steps is the code's, and that nothing names a machine or a registry."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_FILE = 400
LONGEST_TEST = 600  # tables of cases
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)

# Folder -> the project's folders that it may include from. Everything else is forbidden.
MAY_INCLUDE = {
    "policy": ["policy"],
    "client": ["policy", "client", "cellblock"],
    "supervisor/kernel": ["policy", "supervisor/kernel"],
    "supervisor/launcher": ["policy", "supervisor/kernel", "supervisor/launcher", "supervisor/init"],
    "supervisor/gateway": ["policy", "supervisor/kernel", "supervisor/gateway"],
    "supervisor/audit": ["policy", "supervisor/kernel", "supervisor/audit"],
    "supervisor/daemon": ["policy", "supervisor/kernel", "supervisor/daemon"],
}
PROJECT_FOLDERS = ("policy/", "supervisor/", "client/", "cellblock/", "tests/", "examples/")

# Values only: no descriptor, clock, thread, Asio, libseccomp or libcap.
NOT_IN_POLICY = re.compile(
    r"^(boost/|spdlog/|seccomp\.h|sys/capability\.h|unistd\.h|fcntl\.h|poll\.h|thread$|mutex$|"
    r"condition_variable$|atomic$|future$|fstream$|filesystem$|iostream$|CLI/)")
# Constants of the kernel's interface, which a table of system calls has to name.
POLICY_EXCEPTIONS = {"policy/internal_syscalls.cc": {"fcntl.h"},
                     "policy/syscall_arguments.h": {"fcntl.h"},
                     "policy/syscall_arguments.cc": {"fcntl.h"},
                     "policy/syscall_groups.cc": {"fcntl.h"}}

# Pure machines of the supervisor: decided by hand-fed events, so they know values only.
MACHINES = [
    "supervisor/gateway/call_table", "supervisor/gateway/cell_lifetime",
    "supervisor/gateway/client_features", "supervisor/gateway/control_request",
    "supervisor/gateway/conversation", "supervisor/gateway/noise_budget",
    "supervisor/gateway/replies", "supervisor/gateway/session",
]
NOT_IN_MACHINES = re.compile(r"^(boost/|sys/|unistd\.h|fcntl\.h|poll\.h|spdlog/|thread$|mutex$)")

FORBIDDEN_WORDS = re.compile(
    r"(?<!\w)/work/(main|shared)|/\.library/|registry\.npmjs|npmmirror|deb\.debian\.org|pypi\.org|"
    r"crates\.io|proxy\.golang")
TEXT = {".h", ".cc", ".md", ".sh", ".mjs", ".json", ".toml", ".txt", ".py", ".in", ".service", ""}


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in names.stdout.splitlines() if (ROOT / name).is_file()]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def sources(prefix=""):
    return [n for n in tracked() if n.endswith((".h", ".cc")) and n.startswith(prefix)]


class Includes(unittest.TestCase):
    def test_folders_include_only_what_they_may(self):
        for folder, allowed in MAY_INCLUDE.items():
            for name in sources(folder + "/"):
                for include in INCLUDE.findall(read(name)):
                    if not include.startswith(PROJECT_FOLDERS):
                        continue
                    with self.subTest(file=name, include=include):
                        self.assertTrue(any(include.startswith(a + "/") for a in allowed))

    def test_policy_holds_values_only(self):
        for name in sources("policy/"):
            for include in INCLUDE.findall(read(name)):
                if include in POLICY_EXCEPTIONS.get(name, ()):
                    continue
                with self.subTest(file=name, include=include):
                    self.assertIsNone(NOT_IN_POLICY.match(include))

    def test_machines_do_no_input_or_output(self):
        for machine in MACHINES:
            files = [name for name in (machine + ".h", machine + ".cc") if (ROOT / name).exists()]
            self.assertTrue(files, machine)
            for name in files:
                for include in INCLUDE.findall(read(name)):
                    with self.subTest(file=name, include=include):
                        self.assertIsNone(NOT_IN_MACHINES.match(include))

    def test_product_code_includes_no_test(self):
        for name in sources():
            if name.startswith("tests/"):
                continue
            for include in INCLUDE.findall(read(name)):
                with self.subTest(file=name, include=include):
                    self.assertFalse(include.startswith("tests/"))

    def test_headers_are_guarded(self):
        for name in sources():
            if name.endswith(".h"):
                with self.subTest(file=name):
                    self.assertTrue(read(name).startswith("#pragma once\n"))


class Shape(unittest.TestCase):
    def test_files_hold_one_idea(self):
        for name in sources():
            with self.subTest(file=name):
                longest = LONGEST_TEST if name.startswith("tests/") else LONGEST_FILE
                self.assertLessEqual(read(name).count("\n"), longest)


class Documentation(unittest.TestCase):
    def test_architecture_lists_the_set_up_steps_of_the_code(self):
        code = re.search(r"step_names = \{(.*?)\};", read("policy/setup_step.cc"), re.DOTALL)
        steps = [step for step in re.findall(r'"(\w+)"', code.group(1)) if step != "none"]
        text = read("docs/architecture.md")
        listed = re.findall(r"^(?:\d+\.\s+|\|\s*(?:\d+\s*\|\s*)?|- )`(\w+)`", text, re.MULTILINE)
        known = [step for step in listed if step in set(steps)]
        self.assertEqual(known, steps)

    def test_protocol_lists_the_failure_codes_of_the_code(self):
        header = re.search(r"enum class FailureCode.*?\{(.*?)\};", read("policy/failure.h"), re.DOTALL)
        codes = re.findall(r"^\s*(\w+),", header.group(1), re.MULTILINE)
        table = re.findall(r"^\| `(\w+)` \| (-\d+) \|", read("docs/protocol.md"), re.MULTILINE)
        self.assertEqual([name for name, _ in table], codes)
        self.assertEqual([int(code) for _, code in table],
                         [-31001 - index for index in range(len(codes))])


class Words(unittest.TestCase):
    def test_nothing_names_a_machine_or_a_registry(self):
        own = pathlib.Path(__file__).resolve().relative_to(ROOT).as_posix()
        for name in tracked():
            if name == own or pathlib.Path(name).suffix not in TEXT:
                continue
            found = FORBIDDEN_WORDS.search(read(name))
            with self.subTest(file=name):
                self.assertIsNone(found, found and found.group())

    def test_the_lockfile_names_no_host(self):
        self.assertNotIn('"resolved"', read("tests/fixtures/package-lock.json"))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
