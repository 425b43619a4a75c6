#!/usr/bin/env python3
"""The tree checks itself: who may include whom, how long files and functions are, that the documentation's list of
set-up steps is the code's, and that nothing names a machine or a registry."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_FILE = 400
LONGEST_TEST = 600  # tables of cases
LONGEST_BLOCK = 60
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)

# Folder -> the project's folders that it may include from. Everything else is forbidden.
MAY_INCLUDE = {
    "policy": ["policy"],
    "client": ["policy", "client", "cellblock"],
    "supervisor/kernel": ["policy", "supervisor/kernel"],
    "supervisor/launcher": ["policy", "supervisor/kernel", "supervisor/launcher"],
    "supervisor/gateway": ["policy", "supervisor/kernel", "supervisor/gateway"],
    "supervisor/egress": ["policy", "supervisor/kernel", "supervisor/egress"],
    "supervisor/probe": ["policy", "supervisor/probe"],
    "supervisor/http": ["policy", "supervisor/kernel", "supervisor/http"],
    "supervisor/metrics": ["policy", "supervisor/kernel", "supervisor/http", "supervisor/metrics"],
    "supervisor/audit": ["policy", "supervisor/kernel", "supervisor/audit"],
    "supervisor/daemon": ["policy", "supervisor/kernel", "supervisor/daemon"],
}
PROJECT_FOLDERS = ("policy/", "supervisor/", "client/", "cellblock/", "tests/", "examples/")

# Values only: no descriptor, clock, thread, Asio, libseccomp or libcap.
NOT_IN_POLICY = re.compile(
    r"^(boost/(?!pfr/)|spdlog/|CLI/|sys/|linux/|asm/|net/|netinet/|arpa/|seccomp\.h|unistd\.h|fcntl\.h|"
    r"poll\.h|sched\.h|dirent\.h|pthread\.h|thread$|mutex$|condition_variable$|atomic$|future$|"
    r"fstream$|filesystem$|iostream$)")
# Constants of the kernel's interface, which tables of system calls and of their arguments have to
# name.
POLICY_EXCEPTIONS = {
    "policy/internet_address.cc": {"arpa/inet.h"},  # inet_pton: text to bytes, nothing else
    "policy/internal_syscalls.cc": {
        "fcntl.h", "linux/prctl.h", "linux/sched.h", "sys/socket.h"},
    "policy/syscall_arguments.h": {
        "asm/ioctls.h", "fcntl.h", "linux/fs.h", "linux/netlink.h", "linux/prctl.h",
        "linux/sched.h", "linux/seccomp.h", "netinet/in.h", "sys/mman.h", "sys/shm.h",
        "sys/socket.h", "sys/stat.h"},
    "policy/native_calls.h": {"linux/audit.h"},
    "policy/syscall_numbers.cc": {"sys/syscall.h"},
    "policy/system_names.cc": {"linux/audit.h"},
    "policy/telling_words.cc": {"sys/syscall.h"},
}

# Where everything is a pure machine, decided by hand-fed events, but the adaptors named here, which
# carry out what a machine decides.
MACHINE_FOLDERS = {
    "supervisor/egress": {
        "connection", "dialer", "dns_lookups", "dns_sockets", "event_sender", "flow", "helper", "later",
        "main", "relay", "resolver", "socket_io", "surroundings"},
    "supervisor/gateway/aggregate": set(),
    "supervisor/gateway/audit": {"audit_channel"},
    "supervisor/gateway/catalogue": {"catalogue_runner", "catalogue_store", "kept_files", "pin_keeper", "pin_store", "survey_runner"},
    "supervisor/gateway/cell": {"cell_link", "cell_runner", "launcher_channel", "shared_cells", "spare_cells"},
    "supervisor/gateway/conversation": set(),
    "supervisor/gateway/era": set(),
    "supervisor/gateway/leg": set(),
    "supervisor/gateway/life": {"start_gate"},
    "supervisor/gateway/message": set(),
    "supervisor/gateway/metrics": {"meter"},
    "supervisor/gateway/policy": set(),
    "supervisor/gateway/results": set(),
    "supervisor/gateway/session": {"host_link", "session_journal", "session_runner"},
    "supervisor/metrics": {"main", "server", "totals"},
    "supervisor/http": {
        "backend", "connection", "main", "outbox", "request_parser", "server", "server_places",
        "socket_io", "supervisor_link"},
}
# Machines in folders that are mostly none.
MACHINES = [
    "supervisor/audit/audit_line", "supervisor/daemon/cgroup_view", "supervisor/daemon/explain_end",
    "supervisor/daemon/service_offer", "supervisor/daemon/service_status", "supervisor/daemon/socket_match",
    "supervisor/daemon/subordinate_ids", "supervisor/daemon/user_table",
    "supervisor/launcher/cell_bounds", "supervisor/launcher/cell_end",
    "supervisor/launcher/cell_identity", "supervisor/launcher/denial_counts",
    "supervisor/launcher/group_files", "supervisor/launcher/id_pool",
    "supervisor/launcher/landlock_ruleset", "supervisor/launcher/rate_budget",
    "supervisor/launcher/refusals", "supervisor/launcher/root_plan", "supervisor/probe/expected",
    "supervisor/probe/mcp_server",
]
# The macros that take a wait status apart, and the type of a process id.
MACHINE_EXCEPTIONS = {"supervisor/launcher/cell_end.cc": {"sys/wait.h"},
                      "supervisor/launcher/cell_end.h": {"sys/types.h"}}
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


def unit_of(name):
    return name.rsplit(".", 1)[0]


def begins(line, indent_and_brace):
    text = line.lstrip()
    return text != "" and not text.startswith("#") and len(line) - len(text) < indent_and_brace


def sources(prefix=""):
    return [n for n in tracked() if n.endswith((".h", ".cc")) and n.startswith(prefix)]


def outside_includes(name):
    return [include for include in INCLUDE.findall(read(name))
            if NOT_IN_MACHINES.match(include) and include not in MACHINE_EXCEPTIONS.get(name, ())]


def units_that_reach_outside():
    """Of the supervisor: by what they include themselves, or by what that includes."""
    uses, reaching = {}, set()
    for name in sources("supervisor/"):
        uses.setdefault(unit_of(name), set()).update(map(unit_of, INCLUDE.findall(read(name))))
        if outside_includes(name):
            reaching.add(unit_of(name))
    while more := {unit for unit in uses if unit not in reaching and uses[unit] & reaching}:
        reaching |= more
    return reaching


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
                with self.subTest(file=name):
                    self.assertEqual(outside_includes(name), [])

    def test_folders_of_machines_hold_machines_and_the_adaptors_that_are_named(self):
        reaching = units_that_reach_outside()
        for folder, adaptors in MACHINE_FOLDERS.items():
            units = {unit_of(name) for name in sources(folder + "/")}
            self.assertTrue(units, folder)
            with self.subTest(folder=folder):
                self.assertEqual({unit for unit in units if unit in reaching},
                                 {f"{folder}/{adaptor}" for adaptor in adaptors})

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


# The inside of a unit, in files of its own: takes the unit's types from the unit's header.
INSIDE_OF = {"policy/jsonrpc_walk": "policy/jsonrpc", "policy/jsonrpc_members": "policy/jsonrpc_walk"}


class Links(unittest.TestCase):
    """CMakeLists.txt states which unit links which; the linker forgives what headers alone take."""

    def setUp(self):
        text = re.sub(r"#.*", "", read("CMakeLists.txt"))
        text = text.replace("${gateway}", "supervisor/gateway")
        self.files, self.public, self.private = {}, {}, {}
        for call in re.findall(r"cellblock_unit\(([^)]*)\)", text):
            path, *words = call.split()
            if path != "path":
                self.add(path.replace("/", "_"), [path + ".h", path + ".cc"], words)
        for call in re.findall(r"cellblock_program\(([^)]*)\)", text):
            name, main, *words = call.split()
            if not main.startswith("$"):
                self.add(name, [main], ["PRIVATE", *words])
        for call in re.findall(r"target_link_libraries\(([^)]*)\)", text):
            name, *words = call.split()
            if name in self.files:
                self.private[name].update(words)

    def add(self, name, files, words):
        self.files[name] = [file for file in files if (ROOT / file).is_file()]
        self.public[name], self.private[name] = set(), set()
        for word in words:
            if word in ("PUBLIC", "PRIVATE"):
                edges = self.public[name] if word == "PUBLIC" else self.private[name]
            else:
                edges.add(word)

    def reachable(self, name):
        found, waiting = {name}, [*self.public[name], *self.private[name]]
        while waiting:
            unit = waiting.pop()
            if unit not in found:
                found.add(unit)
                waiting.extend(self.public.get(unit, ()))
        return found

    def test_the_units_were_found(self):
        self.assertGreater(len(self.files), 100)
        self.assertIn("supervisor/daemon/main.cc", self.files["cellblockd"])

    def test_a_unit_includes_only_what_it_links(self):
        for name, files in self.files.items():
            reachable = self.reachable(name)
            for file in files:
                for include in INCLUDE.findall(read(file)):
                    unit = include.removesuffix(".h")
                    if INSIDE_OF.get(file.rsplit(".", 1)[0]) == unit:
                        continue
                    unit = unit.replace("/", "_")
                    with self.subTest(file=file, include=include):
                        self.assertTrue(unit not in self.files or unit in reachable)


class Shape(unittest.TestCase):
    def test_files_hold_one_idea(self):
        for name in sources():
            with self.subTest(file=name):
                longest = LONGEST_TEST if name.startswith("tests/") else LONGEST_FILE
                self.assertLessEqual(read(name).count("\n"), longest)

    def test_functions_are_short(self):
        # By clang-format's indentation: a block ends with a lone brace below the line it began with.
        # Classes end with "};", namespaces with a comment.
        counted = 0
        for name in sources():
            if name.startswith("tests/"):
                continue
            lines = read(name).split("\n")
            for end, line in enumerate(lines):
                if line.strip() != "}":
                    continue
                counted += 1
                start = end - 1
                while start > 0 and not begins(lines[start], len(line)):
                    start -= 1
                with self.subTest(file=name, line=start + 1):
                    self.assertLessEqual(end - start + 1, LONGEST_BLOCK)
        self.assertGreater(counted, 1000)


# Who asks for which keys, and under which heading docs/configuration.md tells them.
ASKED_IN = {
    "read_daemon": "## `[daemon]`", "read_socket": "## `[socket]`", "read_sandbox": "## `[sandbox]`",
    "read_http": "## `[listen.http]`", "read_metrics": "## `[metrics]`", "read_token": "### `[[listen.http.token]]`",
    "read_audit": "## `[audit]`", "read_catalogue": "## `[catalogue]`", "read_profile": "## `[profile.NAME]`",
    "read_program read_files read_variables read_fences read_bounds read_rights":
        "## `[server.NAME]`",
    "read_workspace": "### `workspace`", "read_egress": "### `network`, `egress`",
    "read_secret": "#### Where a secret's value comes from",
    "read_limits": "### `limits`", "read_lines": "### `lines`", "read_allow": "### `allow`",
    "read_rule": "### `[[server.NAME.rule]]`",
    "read_condition": "#### `[server.NAME.rule.arguments]`", "read_role": "## `[role.NAME]`",
    "read_start": "### `start`, `stop` start.", "read_stop": "### `start`, `stop` stop.",
    "read_restart": "### `restart`", "read_health": "### `health`",
    "read_user_calls": "## `[calls]`", "read_server_calls read_call_bounds": "### `calls`",
    "read_tool read_call_bounds": "### `[server.NAME.tool.TOOL]`",
    "read_redaction": "## `[redaction]`", "read_directions": "### Directions",
    "read_expression": "### `[redaction.expressions.NAME]`",
    "read_results read_result_bounds": "## `[results]`", "read_result_bounds": "### `results`",
}


def readers():
    """The files that ask for keys."""
    return ["policy/config_text.cc", *(name for name in sources("policy/")
                                       if name.endswith("_reader.cc") and unit_of(name) != "policy/toml_reader")]


def body_of(function, name):
    found = re.search(rf"^[\w:<>\[\] ]*\b{function}\([^;{{]*\{{(.*?)(?:^\}}|\}}$)", read(name),
                      re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def section_of(text, heading):
    """Up to the next heading."""
    start = text.index("\n" + heading) + 1
    return re.split(r"^#+ ", text[start + len(heading):], maxsplit=1, flags=re.MULTILINE)[0]


def told_keys(section, prefix):
    """The first columns of tables of keys, and those of an example `name = { key = ... }`."""
    keys = set()
    for table in re.findall(r"^\| key \|.*\n\|[-| ]*\n((?:\|.*\n)*)", section, re.MULTILINE):
        for row in table.splitlines():
            keys.update(re.findall(r"`([\w.]+)`", row.split("|")[1]))
    for example in re.findall(r"^\w+ += \{(.*?)\}", section, re.MULTILINE | re.DOTALL):
        keys.update(re.findall(r"(\w+) = ", example))
    return {key.removeprefix(prefix) for key in keys if key.startswith(prefix)}


class Documentation(unittest.TestCase):
    def setUp(self):
        code = re.search(r"step_names = \{(.*?)\};", read("policy/setup_step.cc"), re.DOTALL)
        self.steps = re.findall(r'"(\w+)"', code.group(1))

    def test_the_names_of_the_set_up_steps_are_those_of_the_code(self):
        header = re.search(r"enum class SetupStep.*?\{(.*?)\};", read("policy/setup_step.h"), re.DOTALL)
        self.assertEqual(re.findall(r"^\s*(\w+)(?: = 0)?,", header.group(1), re.MULTILINE), self.steps)

    def test_architecture_lists_the_set_up_steps_with_their_exit_codes(self):
        listed = re.findall(r"^\| (\d+) \| `(\w+)` \|", read("docs/architecture.md"), re.MULTILINE)
        self.assertEqual(listed, [(str(64 + place), step) for place, step in enumerate(self.steps)][1:])

    def test_a_cell_is_set_up_in_the_order_of_the_list(self):
        setup, execution = "supervisor/launcher/child_setup.cc", "supervisor/launcher/child_exec.cc"
        files = {"start_guardian": setup, "become_guardian": setup, "give_up_privilege": setup,
                 "start_server": setup, "exec_server": execution}

        def steps_of(function, name):
            steps = []
            for step, called in re.findall(r"SetupStep::(\w+)|\b(\w+)\(plan\)", body_of(function, name)):
                if called in files:
                    steps += steps_of(called, files[called])
                    if called in ("become_guardian", "exec_server"):
                        break  # they do not come back
                elif step and step not in steps:
                    steps.append(step)
            return steps

        taken = steps_of("run_child", setup)
        self.assertEqual(taken.count("die_with_launcher"), 2)  # of init, then of the guardian
        again = len(taken) - 1 - taken[::-1].index("die_with_launcher")
        del taken[again]
        self.assertEqual(taken, self.steps[self.steps.index("wait_for_launcher"):])

    def test_configuration_tells_every_key_that_is_read_and_no_other(self):
        text = read("docs/configuration.md")
        for functions, place in ASKED_IN.items():
            heading, _, prefix = place.rpartition(" ")
            if not prefix.endswith("."):
                heading, prefix = place, ""
            asked = set()
            for function in functions.split():
                code = next(filter(None, (body_of(function, name) for name in readers())), "")
                asked.update(re.findall(r'reader\.\w+\("(\w+)"\)', code))
            with self.subTest(heading=heading):
                self.assertTrue(asked)
                self.assertEqual(told_keys(section_of(text, heading), prefix), asked)

    def test_the_manual_of_the_daemon_has_its_options(self):
        options = re.findall(r'"--([a-z-]+)"', read("supervisor/daemon/options.cc"))
        page = read("docs/man/cellblockd.8.in")
        self.assertGreater(len(options), 6)
        for option in options:
            with self.subTest(option=option):
                self.assertIn("\\fB\\-\\-" + option.replace("-", "\\-"), page)

    def test_every_function_that_reads_keys_is_compared(self):
        known = set(" ".join(ASKED_IN).split())
        known |= {"read_id_range"}  # told in the row of daemon.id_range
        for name in readers():
            for function in re.findall(r"\b(read_\w+)\(", read(name)):
                if re.search(r'reader\.(?!table)\w+\("', body_of(function, name)):
                    with self.subTest(function=function):
                        self.assertIn(function, known | {"read_file", "read_installation"})

    def test_configuration_lists_the_weakenings_of_the_code(self):
        code = set(re.findall(r'(?:emplace_back|push_back|format)\(\s*"([a-z_.-]+)(?= =| \()',
                              read("policy/weakenings.cc")))
        section = section_of(read("docs/configuration.md"), "## Weakenings")
        listed = "".join(re.split(r"^- ", section, flags=re.MULTILINE)[1:])
        told = set(re.findall(r"`([a-z_.-]+)(?=[ `])", listed))
        self.assertGreater(len(code), 10)
        self.assertEqual(told, code)

    def test_metrics_are_documented_shown_and_alerted_on_by_the_names_of_the_code(self):
        metric = re.compile(r"\bcellblock_[a-z_]+")
        code = re.findall(r'"(cellblock_[a-z_]+)"', read("policy/metrics/families.cc"))
        told = re.findall(r"^\| `(cellblock_\w+)` \|", read("docs/metrics.md"), re.MULTILINE)
        self.assertGreater(len(code), 20)
        self.assertEqual(told, code)
        dashboard = json.loads(read("examples/metrics/grafana-dashboard.json"))
        queries = " ".join(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
        self.assertEqual({name.removesuffix("_bucket") for name in metric.findall(queries)}, set(code))
        rules = re.findall(r"expr: (.*?)\n +(?:for|labels):", read("examples/metrics/alerts.yaml"), re.DOTALL)
        alerted = {name.removesuffix("_bucket") for name in metric.findall(" ".join(rules))}
        self.assertGreater(len(alerted), 5)
        self.assertLessEqual(alerted, set(code))

    def test_the_alert_about_crashes_leaves_out_the_ends_that_are_none(self):
        body = re.search(r"bool is_on_purpose.*?\n}\n\nbool is_crash.*?\n}", read("policy/crash_verdict.cc"), re.DOTALL)
        no_crashes = re.findall(r"Verdict::(\w+)", body.group(0))
        left_out = re.search(r'verdict!~"([^"]*)"', read("examples/metrics/alerts.yaml"))
        self.assertEqual(sorted(left_out.group(1).split("|")), sorted(no_crashes))

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
