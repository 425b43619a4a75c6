#!/usr/bin/env python3
"""The tree checks itself: who may include whom, how long files and functions are, that the documentation's list of
set-up steps is the code's, that links and named files are there, and that nothing names a machine or a registry."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_FILE = 600
LONGEST_HEADER = 400
LONGEST_TEST = 600  # tables of cases
LONGEST_BLOCK = 60
LONGEST_PAGE = 300  # lines of a document
# One row a command, one row an attempt, one row a key.
LONG_PAGES = {"docs/cli.md", "docs/comparison.md", "docs/configuration/reference.md"}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)

# Folder -> the project's folders that it may include from. Everything else is forbidden.
SHARED = ["policy", "supervisor/os", "supervisor/ipc", "supervisor/log"]
HANDED_OVER = ["supervisor/process", "supervisor/activation", "supervisor/handover"]
MAY_INCLUDE = {
    "policy": ["policy"],
    "client": ["policy", "client", "cellblock"],
    "supervisor/os": ["policy", "supervisor/os"],
    "supervisor/ipc": ["policy", "supervisor/os", "supervisor/ipc"],
    "supervisor/log": ["policy", "supervisor/os", "supervisor/log"],
    "supervisor/seccomp": ["policy", "supervisor/os", "supervisor/seccomp"],
    "supervisor/launcher": [*SHARED, "supervisor/seccomp", "supervisor/launcher"],
    "supervisor/gateway": [*SHARED, "supervisor/gateway"],
    "supervisor/egress": [*SHARED, "supervisor/egress"],
    "supervisor/probe": ["policy", "supervisor/probe"],
    "supervisor/http_connection": [*SHARED, "supervisor/http_connection"],
    "supervisor/http": [*SHARED, "supervisor/http_connection", "supervisor/http"],
    "supervisor/metrics": [*SHARED, "supervisor/http_connection", "supervisor/metrics"],
    "supervisor/audit": [*SHARED, "supervisor/audit"],
    "supervisor/process": [*SHARED, "supervisor/process"],
    "supervisor/activation": [*SHARED, "supervisor/activation"],
    "supervisor/handover": [*SHARED, *HANDED_OVER],
    # The program that reads the configuration, and the one that it becomes.
    "supervisor/loader": [*SHARED, *HANDED_OVER, "supervisor/seccomp", "supervisor/loader"],
    "supervisor/daemon": [*SHARED, *HANDED_OVER, "supervisor/daemon"],
}
# Headers of libraries that are compiled by definitions of their target: without them a source would have, say, a log
# of its own.
LIBRARIES = {
    "spdlog/": "spdlog::spdlog", "fmt/": "fmt::fmt", "boost/asio": "asio", "nlohmann/": "nlohmann_json::nlohmann_json",
    "simdjson": "simdjson::simdjson", "re2/": "PkgConfig::re2", "toml++/": "PkgConfig::tomlplusplus",
    "CLI/": "CLI11::CLI11", "prometheus/": "PkgConfig::prometheus", "openssl/": "PkgConfig::libcrypto",
    "seccomp.h": "PkgConfig::seccomp", "ares": "PkgConfig::cares", "archive": "PkgConfig::libarchive",
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
    "policy/base/internet_address.cc": {"arpa/inet.h"},  # inet_pton: text to bytes, nothing else
    "policy/syscalls/internal_syscalls.cc": {
        "fcntl.h", "linux/prctl.h", "linux/sched.h", "sys/socket.h"},
    "policy/syscalls/launcher_syscalls.cc": {"linux/keyctl.h"},
    "policy/syscalls/syscall_arguments.h": {
        "asm/ioctls.h", "fcntl.h", "linux/fs.h", "linux/netlink.h", "linux/prctl.h",
        "linux/sched.h", "linux/seccomp.h", "netinet/in.h", "sys/mman.h", "sys/shm.h",
        "sys/socket.h", "sys/stat.h"},
    "policy/syscalls/syscall_policy.h": {"linux/audit.h"},
    "policy/syscalls/syscall_numbers.cc": {"sys/syscall.h"},
    "policy/failures/errno_and_signal_names.cc": {"linux/audit.h"},
    "policy/syscalls/syscall_table.cc": {"sys/syscall.h"},
}

# The inside of a unit, in files of its own.
KNOWN_UNIT_RINGS = [
    ["policy/jsonrpc/jsonrpc", "policy/jsonrpc/jsonrpc_walk"],
    ["client/lib/connection_core", "client/lib/reconnecting"],
]

# Where everything is a pure machine, decided by hand-fed events, but the adaptors named here, which
# carry out what a machine decides.
MACHINE_FOLDERS = {
    "supervisor/egress": {
        "connection", "dialer", "dns_sockets", "event_sender", "flow", "helper", "deferred_work",
        "main", "relay", "resolver", "socket_io", "egress_context"},
    "supervisor/gateway/aggregate": set(),
    "supervisor/gateway/catalogue": {
        "catalogue_runner", "catalogue_store", "kept_files", "pin_keeper"},
    "supervisor/gateway/cell": {
        "cell_runner", "gateway_services", "launcher_channel", "shared_cells", "spare_cells",
        "start_queue"},
    "supervisor/gateway/checks": set(),
    "supervisor/gateway/message": set(),
    "supervisor/gateway/records": {"audit_channel", "meter"},
    "supervisor/gateway/route": set(),
    "supervisor/gateway/session": {"host_link", "session_journal", "session_runner"},
    "supervisor/gateway/translate": set(),
    "supervisor/gateway/upstream": set(),
    "supervisor/metrics": {"main", "server", "totals"},
    "supervisor/http_connection": {"connection", "outbox", "request_parser"},
    "supervisor/http": {"backend", "main", "server", "supervisor_link"},
}
# Machines in folders that are mostly none.
MACHINES = [
    "supervisor/audit/audit_line", "supervisor/loader/load/cgroup_text", "supervisor/daemon/status/reload_refusal",
    "supervisor/activation/service_offer", "supervisor/daemon/status/service_status", "supervisor/activation/socket_match",
    "supervisor/loader/identity/subordinate_ids", "supervisor/daemon/users/user_table",
    "supervisor/launcher/run/cell_bounds", "supervisor/launcher/run/cell_end",
    "supervisor/launcher/prepare/cell_identity", "supervisor/launcher/run/denial_counts",
    "supervisor/launcher/prepare/group_files", "supervisor/launcher/child/landlock_ruleset",
    "supervisor/seccomp/denied_call_errno", "supervisor/launcher/child/root_plan", "supervisor/probe/expected",
    "supervisor/probe/mcp_server",
]
# The macros that take a wait status apart, and the type of a process id.
MACHINE_EXCEPTIONS = {"supervisor/launcher/run/cell_end.cc": {"sys/wait.h"},
                      "supervisor/launcher/run/cell_end.h": {"sys/types.h"}}
NOT_IN_MACHINES = re.compile(r"^(boost/|sys/|unistd\.h|fcntl\.h|poll\.h|spdlog/|thread$|mutex$)")

FORBIDDEN_WORDS = re.compile(
    r"(?<!\w)/work/(main|shared)|/\.library/|registry\.npmjs|npmmirror|deb\.debian\.org|pypi\.org|"
    r"crates\.io|proxy\.golang")
# Files that comments name and that are none of this tree's.
OUTSIDE_FILES = {"include/uapi/linux/landlock.h"}
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


def target_of(folder):
    """The library of a folder: its path, but for the two that are built as one."""
    if folder in ("client/lib", "client/c", "client/include/cellblock"):
        return "cellblock-client"
    return folder.replace("/", "_")


def rings(edges):
    """Groups of nodes that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            ring = []
            while not ring or ring[-1] != node:
                ring.append(stack.pop())
            if len(ring) > 1:
                found.append(sorted(ring))

    sys.setrecursionlimit(10_000)
    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


class Folders(unittest.TestCase):
    """A folder is one target. Its CMakeLists.txt states what it links; the linker forgives what headers
    alone take."""

    def setUp(self):
        self.units, self.public, self.private = {}, {}, {}
        for name in tracked():
            if not name.startswith(("policy/", "supervisor/", "client/")) or not name.endswith("CMakeLists.txt"):
                continue
            folder = name.rsplit("/", 1)[0]
            text = re.sub(r"#.*", "", read(name))
            for variable, words in re.findall(r"set\((\w+)\s([^)]*)\)", text):
                text = text.replace("${" + variable + "}", words)
            call = re.search(r"cellblock_folder\(([^)]*)\)", text)
            if call:
                lists = {"UNITS": [], "PUBLIC": [], "PRIVATE": []}
                for word in call.group(1).split():
                    if word in lists:
                        kind = lists[word]
                    else:
                        kind.append(word)
                self.units[folder] = set(lists["UNITS"])
                self.public[target_of(folder)] = set(lists["PUBLIC"])
                self.private[target_of(folder)] = set(lists["PRIVATE"])
        self.edges = {}  # folder -> folders, by includes; likewise units
        self.unit_edges = {}
        files = set(sources())
        for name in files:
            if not name.startswith(("policy/", "supervisor/", "client/")):
                continue
            if unit_of(name).endswith(("/main", "/manual_main")):
                continue  # the program's own, which links what it likes
            for include in INCLUDE.findall(read(name)):
                if include in files and unit_of(include) != unit_of(name):
                    self.unit_edges.setdefault(unit_of(name), set()).add(unit_of(include))
                    here, there = name.rsplit("/", 1)[0], include.rsplit("/", 1)[0]
                    if here != there:
                        self.edges.setdefault(here, set()).add(there)

    def reachable(self, target):
        found, waiting = {target}, [*self.public[target], *self.private[target]]
        while waiting:
            other = waiting.pop()
            if other not in found:
                found.add(other)
                waiting.extend(self.public.get(other, ()))
        return found

    def test_every_file_is_a_unit_of_its_folder(self):
        self.assertGreater(len(self.units), 40)
        for name in sources():
            folder, file = name.rsplit("/", 1)
            if folder in self.units and unit_of(file) not in ("main", "manual_main"):
                with self.subTest(file=name):
                    self.assertIn(unit_of(file), self.units[folder])

    def test_a_folder_includes_only_what_it_links(self):
        for folder, used in self.edges.items():
            if target_of(folder) not in self.public:
                continue
            reachable = self.reachable(target_of(folder))
            for other in used:
                with self.subTest(folder=folder, includes=other):
                    self.assertIn(target_of(other), reachable)

    def test_a_folder_links_no_folder_that_it_does_not_include(self):
        for folder in self.units:
            target = target_of(folder)
            used = {target_of(other) for other in self.edges.get(folder, ())}
            folders = (self.public[target] | self.private[target]) & set(map(target_of, self.units))
            with self.subTest(folder=folder):
                self.assertEqual(folders - used, set())

    def test_a_folder_links_the_libraries_whose_headers_it_includes(self):
        for name in sources():
            target = target_of(name.rsplit("/", 1)[0])
            if target not in self.public:
                continue
            linked = {"asio" if library == "client_asio" else library for library in self.reachable(target)}
            for include in INCLUDE.findall(read(name)):
                for prefix, library in LIBRARIES.items():
                    if include.startswith(prefix):
                        with self.subTest(file=name, includes=include):
                            self.assertIn(library, linked)

    def test_no_two_folders_include_each_other(self):
        self.assertEqual(rings(self.edges), [])

    def test_no_two_folders_link_each_other(self):
        self.assertEqual(rings({t: self.public[t] | self.private[t] for t in self.public}), [])

    def test_no_two_units_include_each_other(self):
        self.assertEqual([ring for ring in rings(self.unit_edges) if ring not in KNOWN_UNIT_RINGS], [])


class Shape(unittest.TestCase):
    def test_files_hold_one_idea(self):
        for name in sources():
            with self.subTest(file=name):
                longest = (LONGEST_TEST if name.startswith("tests/") else
                           LONGEST_HEADER if name.endswith(".h") else LONGEST_FILE)
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


# What names which keys, the table of a visit_keys() or another function, and under which heading the pages of
# docs/configuration tell them.
NAMED_IN = {
    "DaemonTable": "## `[daemon]`", "Listen": "## `[socket]`", "Kernel": "## `[sandbox]`",
    "HttpListen HttpText": "## `[listen.http]`", "MetricsListen": "## `[metrics]`",
    "HttpToken": "### `[[listen.http.token]]`",
    "AuditRules": "## `[audit]`", "CatalogueRules": "## `[catalogue]`", "AggregateRules": "## `[aggregate]`", "FlowRules FlowRulesText": "## `[flows]`", "FlowRuleText": "## `[[flows.rule]]`", "FlowsText": "## `flows`", "ProfileText": "## `[profile.NAME]`",
    "visit_program visit_files visit_variables visit_fences visit_bounds visit_rights":
        "## `[server.NAME]`",
    "WorkspaceText": "### `workspace`", "EgressText": "## `network`, `egress`",
    "SecretText": "### Where a secret's value comes from",
    "Limits": "## `limits`", "LineLimits": "## `lines`", "AllowText": "## `allow`",
    "RuleText": "## `[[server.NAME.rule]]`",
    "ConditionText": "### `[server.NAME.rule.arguments]`", "RoleText": "## `[role.NAME]`",
    "StartTable": "## `start`, `stop` start.", "StopTable": "## `start`, `stop` stop.",
    "RestartRules": "## `restart`", "HealthRules": "## `health`",
    "UserCalls": "## `[calls]`", "ServerCalls CallTime CallBoundsTable": "## `calls`",
    "ToolCalls CallTime CallBoundsTable ToolText": "## `[server.NAME.tool.TOOL]`",
    "RedactionText": "## `[redaction]`", "RedactionChoiceText": "### Directions",
    "ExpressionText": "### `[redaction.expressions.NAME]`",
    "ResultsTable ResultBounds": "## `[results]`", "ResultBounds": "## `results`",
}
KEYS = ["policy/config/installation_keys.h", "policy/config/server_keys.h", "policy/config/server_keys.h",
        "policy/config/server_keys.h", "policy/config_reader/text_keys.h"]


def body_of(function, name):
    found = re.search(rf"^[\w:<>\[\] ]*\b{function}\([^;{{]*\{{(.*?)(?:^\}}|\}}$)", read(name),
                      re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def keys_of(table):
    """What the visit_keys() of a table names, or another function of that name."""
    keys = []
    for name in KEYS:
        for body in re.findall(rf"^void (?:visit_keys\(Keys& k, {table}&? (?:v|/\*v\*/)|{table}\(Keys& k, \w+& v)\) \{{$(.*?)^\}}",
                               read(name), re.DOTALL | re.MULTILINE):
            keys += re.findall(r'\bk\.\w+\("(\w+)"', body)
            keys += ["rate", "burst"] if "k.rate(" in body else []
    return keys


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
        code = re.search(r"step_names = \{(.*?)\};", read("policy/failures/setup_step.cc"), re.DOTALL)
        self.steps = re.findall(r'"(\w+)"', code.group(1))

    def test_the_names_of_the_set_up_steps_are_those_of_the_code(self):
        header = re.search(r"enum class SetupStep.*?\{(.*?)\};", read("policy/failures/setup_step.h"), re.DOTALL)
        self.assertEqual(re.findall(r"^\s*(\w+)(?: = 0)?,", header.group(1), re.MULTILINE), self.steps)

    def test_the_page_about_cells_lists_the_set_up_steps_with_their_exit_codes(self):
        listed = re.findall(r"^\| (\d+) \| `(\w+)` \|", read("docs/cells.md"), re.MULTILINE)
        self.assertEqual(listed, [(str(64 + place), step) for place, step in enumerate(self.steps)][1:])

    def test_a_cell_is_set_up_in_the_order_of_the_list(self):
        setup, execution = "supervisor/launcher/child/child_setup.cc", "supervisor/launcher/child/child_exec.cc"
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
        text = "".join(read(page) for page in tracked() if page.startswith("docs/configuration/")
                       and page != "docs/configuration/reference.md")
        for tables, place in NAMED_IN.items():
            heading, _, prefix = place.rpartition(" ")
            if not prefix.endswith("."):
                heading, prefix = place, ""
            asked = set()
            for table in tables.split():
                asked.update(keys_of(table))
            with self.subTest(heading=heading):
                self.assertTrue(asked)
                self.assertEqual(told_keys(section_of(text, heading), prefix), asked)

    def test_the_manual_of_the_daemon_has_its_options(self):
        options = re.findall(r'"--([a-z-]+)"', read("supervisor/loader/start/options.cc"))
        page = read("docs/man/cellblockd.8.in")
        self.assertGreater(len(options), 6)
        for option in options:
            with self.subTest(option=option):
                self.assertIn("\\fB\\-\\-" + option.replace("-", "\\-"), page)

    def test_every_function_that_names_keys_is_compared(self):
        known = set(" ".join(NAMED_IN).split())
        known |= {"IdRangeTable"}  # told in the row of daemon.id_range
        known |= {"ServerText", "visit_installation", "visit_servers"}  # their tables have headings
        for name in KEYS:
            for table in re.findall(r"^void visit_keys\(Keys& k, (\w+)", read(name), re.MULTILINE):
                with self.subTest(table=table):
                    self.assertIn(table, known)
            for function in re.findall(r"^void (visit_(?!keys)\w+)\(", read(name), re.MULTILINE):
                with self.subTest(function=function):
                    self.assertIn(function, known)

    def test_configuration_lists_the_weakenings_of_the_code(self):
        code = set(re.findall(r'(?:emplace_back|push_back|format)\(\s*"([a-z_.-]+)(?= =| \()',
                              read("policy/sandbox/weakenings.cc")))
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
        body = re.search(r"bool is_on_purpose.*?\n}\n\nbool is_crash.*?\n}", read("policy/failures/verdict.cc"), re.DOTALL)
        no_crashes = re.findall(r"Verdict::(\w+)", body.group(0))
        left_out = re.search(r'verdict!~"([^"]*)"', read("examples/metrics/alerts.yaml"))
        self.assertEqual(sorted(left_out.group(1).split("|")), sorted(no_crashes))

    def test_the_page_about_troubleshooting_has_a_section_for_each_failure_code_and_verdict_and_no_other(self):
        header = re.search(r"enum class FailureCode.*?\{(.*?)\};", read("policy/failures/failure_code.h"), re.DOTALL)
        codes = re.findall(r"^\s*(\w+),", header.group(1), re.MULTILINE)
        verdicts = re.search(r"verdict_names = \{(.*?)\};", read("policy/failures/verdict.cc"), re.DOTALL)
        connection = ["unreachable", "no_access", "untrusted_listener", "disconnected"]  # topic_of() in advice.cc
        sections = re.findall(r"^### (.*)$", read("docs/troubleshooting.md"), re.MULTILINE)
        self.assertEqual(sorted(sections), sorted({*codes, *re.findall(r'"(\w+)"', verdicts.group(1)), *connection}))

    def test_the_page_about_errors_lists_the_failure_codes_of_the_code(self):
        header = re.search(r"enum class FailureCode.*?\{(.*?)\};", read("policy/failures/failure_code.h"), re.DOTALL)
        codes = re.findall(r"^\s*(\w+),", header.group(1), re.MULTILINE)
        table = re.findall(r"^\| `(\w+)` \| (-\d+) \|", read("docs/errors.md"), re.MULTILINE)
        self.assertEqual([name for name, _ in table], codes)
        self.assertEqual([int(code) for _, code in table],
                         [-31001 - index for index in range(len(codes))])


def pages():
    """The documents that a reader is led through."""
    return [name for name in tracked() if name.endswith(".md") and (name.startswith("docs/") or "/" not in name)]


def fenced(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def anchors_of(page):
    """As GitHub makes them of headings: of several with one text the second ends with -1."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.append(re.sub(r"[^\w -]", "", text.lower()).strip().replace(" ", "-"))
    return {name if found[:place].count(name) == 0 else f"{name}-{found[:place].count(name)}" for place, name in enumerate(found)}


def links_of(page):
    """The target of each relative link: a path from the root of the tree, and an anchor or nothing."""
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page, anchor


def named_files(name):
    """The files of this tree that comments of a source name, by their path or the end of it."""
    comments = "\n".join(re.findall(r"^\s*//.*$|\s//.*$", read(name), re.MULTILINE))
    comments = re.sub(r"\n\s*///? ", " ", comments)
    return re.findall(r"(?<![\w./*<$~-])((?:[\w-]+/)*[\w-]+\.(?:h|cc|md|py|sh|mjs))(?![\w.])", comments)


class TestCommand(unittest.TestCase):
    def test_every_check_of_the_test_command_is_a_function_or_a_file(self):
        text = (ROOT / "tests/run.sh").read_text()
        functions = set(re.findall(r"^(\w+)\(\) ?\{", text, re.MULTILINE))
        commands = re.findall(r'\bcheck "[^"]+" ([\w./]+)', text)
        self.assertGreater(len(commands), 4)
        for command in commands:
            with self.subTest(command=command):
                self.assertTrue(command in functions or (ROOT / command).is_file(), "the shell does not know it")


def definition_of(function, texts):
    """The text of Class::name: its definition, or its line in the class."""
    cls, name = function.split("::")
    for text in texts:
        if cls not in text or name not in text:
            continue
        found = re.search(rf"^\S[^\n;]*\b{function}\([^;]*?\{{\n.*?^\}}", text, re.MULTILINE | re.DOTALL)
        if not found and re.search(rf"^class {cls}\b", text, re.MULTILINE):
            found = re.search(rf"^  [^\n]*\b{name}\([^\n]*\{{ [^\n]*\}}$", text, re.MULTILINE)
        if found:
            return found.group(0)
    return ""


class Walk(unittest.TestCase):
    def test_each_function_of_the_walk_is_called_by_one_above_it(self):
        texts = [read(name) for name in sources("supervisor/gateway/")]
        for part in read("docs/walk-of-a-call.md").split("## Its answer"):
            cells = [row.split("|")[1] for row in part.splitlines() if row.startswith("|")]
            walk = re.findall(r"`(\w+::\w+)`", "\n".join(cells))
            self.assertGreater(len(walk), 10)
            above = ""
            for function in walk:
                definition = definition_of(function, texts)
                with self.subTest(function=function):
                    self.assertTrue(definition)
                    if above:
                        self.assertTrue(re.search(rf"\b{function.split('::')[1]}\b", above), "none above calls it")
                above += definition


class Links(unittest.TestCase):
    def test_every_link_and_anchor_of_a_page_leads_to_something(self):
        followed = 0
        for page in (name for name in tracked() if name.endswith(".md") and "node_modules" not in name):
            for path, anchor in links_of(page):
                followed += 1
                with self.subTest(page=page, path=path, anchor=anchor):
                    self.assertTrue((ROOT / path).exists())
                    if anchor:
                        self.assertIn(anchor, anchors_of(path))
        self.assertGreater(followed, 200)

    def test_every_file_that_a_comment_names_is_there(self):
        paths = {"/" + name for name in tracked()}
        ends = {path[place:] for path in paths for place, letter in enumerate(path) if letter == "/"}
        checked = 0
        for name in sources():
            for file in named_files(name):
                checked += 1
                with self.subTest(source=name, named=file):
                    self.assertTrue("/" + file in ends or file in OUTSIDE_FILES)
        self.assertGreater(checked, 30)

    def test_every_source_that_coverage_of_a_fuzz_target_counts_is_there(self):
        targets = [name.rsplit("/", 1)[-1].removesuffix("_fuzz.cc") for name in tracked()
                   if name.startswith("tests/fuzz/") and name.endswith("_fuzz.cc")]
        self.assertGreater(len(targets), 10)
        for target in targets:
            told = subprocess.run(["tests/fuzz/coverage.sh", "--sources", target], cwd=ROOT, capture_output=True,
                                  text=True)
            with self.subTest(target=target):
                self.assertEqual(told.returncode, 0, told.stderr)
                self.assertEqual([file for file in told.stdout.split() if not (ROOT / file).is_file()], [])


class Packages(unittest.TestCase):
    def test_of_other_languages_have_the_version_of_the_project(self):
        version = re.search(r"project\(cellblock VERSION ([\d.]+)", read("CMakeLists.txt")).group(1)
        self.assertEqual(tomllib.loads(read("client/python/pyproject.toml"))["project"]["version"], version)
        self.assertIn(f'version: str = "{version}"', read("client/python/cellblock/client.py"))
        self.assertIn(f'"version": "{version}"', read("client/node/package.json"))


class Recipes(unittest.TestCase):
    def test_every_toml_block_of_a_page_is_valid_toml(self):
        for name in pages():
            for number, block in enumerate(fenced(read(name), "toml")):
                with self.subTest(page=name, block=number):
                    tomllib.loads(block)

    def test_the_page_of_recipes_is_made_of_them(self):
        made = subprocess.run([sys.executable, ROOT / "tests/documents/recipes.py"], capture_output=True, text=True, check=True).stdout
        self.assertEqual((ROOT / "docs/recipes.md").read_text(), made, "tests/documents/recipes.py >docs/recipes.md")

    def test_every_recipe_is_a_whole_table_of_one_server(self):
        recipes = fenced(read("docs/configuration.md"), "toml")
        names = [name for recipe in recipes for name in tomllib.loads(recipe).get("server", {})]
        self.assertEqual(len(set(names)), len(recipes))
        for recipe in recipes:
            for name, server in tomllib.loads(recipe)["server"].items():
                with self.subTest(server=name):
                    self.assertLessEqual({"command", "program", "allow"}, set(server))

    def test_pages_are_short_enough_to_be_read(self):
        for name in pages():
            if name.startswith("docs/") and name not in LONG_PAGES:
                with self.subTest(page=name):
                    self.assertLessEqual(read(name).count("\n"), LONGEST_PAGE)


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
