#!/usr/bin/env python3
"""A source or header includes what declares what it names, itself or through the project's headers, and uses what
it brings in by `using`. Most builds compile the sources of a folder together, where another one's includes would
stand in; each by itself, by a compiler, is `tests/run.sh --lint-all`, and takes half an hour."""

import functools
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
TYPE = re.compile(r"^\s*(?:enum class|class|struct|union|enum|using)\s+(?:\[\[\w+\]\]\s+|CELLBLOCK_CLIENT_API\s+)?([A-Z]\w+)", re.MULTILINE)
TYPE_AT_MARGIN = re.compile(TYPE.pattern.replace(r"^\s*", "^"), re.MULTILINE)
FUNCTION_AT_MARGIN = re.compile(r"^(?!using|return|namespace|#)[A-Za-z_][\w:<>,&*\[\] ]*?[ &*>]([a-z]\w+)\(", re.MULTILINE)
BROUGHT_IN = re.compile(r"^\s*using\s+(?!enum\b)(?:\w*::)+(\w+);|^\s*namespace\s+(\w+)\s*=", re.MULTILINE)
NAMED_TYPE = re.compile(r"(?<![\w.>:])([A-Z]\w+)")
CALLED = re.compile(r"(?<![\w.>:])([a-z]\w+)\(")

# Headers of the standard library that are read once for a whole build, and names that only they declare.
# Any of the headers will do.
STANDARD = {
    r"std::(?:ranges::)?(?:sort|stable_sort|find_if|any_of|all_of|none_of|count_if|copy_if|remove_if|transform"
    r"|lower_bound|upper_bound|max_element|min_element|set_difference|unique)\b": {"algorithm"},
    r"std::(?:array\b|to_array)": {"array", "span"},
    r"std::(?:from_chars|to_chars)\b": {"charconv"},
    r"std::chrono::": {"chrono"},
    r"std::(?:expected|unexpected)\b": {"expected"},
    r"std::(?:function|move_only_function)\b": {"functional"},
    r"std::(?:multi)?map\b": {"map"},
    r"std::(?:unique_ptr|shared_ptr|make_unique|make_shared|weak_ptr)\b": {"memory"},
    r"std::(?:optional|nullopt)\b": {"optional"},
    r"std::(?:multi)?set\b": {"set"},
    r"std::span\b": {"span"},
    r"std::(?:string\b|to_string)": {"string", "fmt/format.h"},
    r"std::string_view\b": {"string_view", "string", "fmt/format.h"},
    r"std::(?:variant|visit|monostate|get_if|holds_alternative)\b": {"variant"},
    r"std::vector\b": {"vector"},
    r"\bfmt::format\b": {"fmt/format.h", "fmt/ranges.h", "fmt/chrono.h", "spdlog/spdlog.h"},
    r"\bspdlog::(?:info|warn|error|debug)\b": {"spdlog/spdlog.h"},
    r"\bnlohmann::": {"nlohmann/json.hpp", "nlohmann/json_fwd.hpp"},
}
STANDARD = {re.compile(pattern): headers for pattern, headers in STANDARD.items()}


def product():
    listed = subprocess.run(["git", "ls-files", "policy", "supervisor", "client"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    return [name for name in listed if name.endswith((".h", ".cc"))]


@functools.cache
def code_of(name):
    return COMMENT_OR_TEXT.sub('""', (ROOT / name).read_text(encoding="utf-8"))


@functools.cache
def direct(name):
    return INCLUDE.findall((ROOT / name).read_text(encoding="utf-8"))


def own(header):
    """Where a header of the project lies, or None for a library's."""
    for place in (header, f"client/include/{header}"):
        if (ROOT / place).is_file():
            return place
    return None


@functools.cache
def reached(name):
    """All that a file includes, by whatever way."""
    found, waiting = set(), [name]
    while waiting:
        for header in direct(waiting.pop()):
            place = own(header) or header
            if place not in found:
                found.add(place)
                if (ROOT / place).is_file():
                    waiting.append(place)
    return frozenset(found)


def may_include(name, header):
    """Whether it is of the same program, or of what all share."""
    part = header.split("/")[:2]
    return part[0] == "policy" or part == name.split("/")[:2] or part[-1] in ("os", "ipc", "log", "include")


class Includes(unittest.TestCase):
    def complain(self, wrong):
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_headers_of_the_standard_library_are_included(self):
        self.complain([f"{name}: {used.group()} wants <{sorted(headers)[0]}>"
                       for name in product() for pattern, headers in STANDARD.items()
                       if (used := pattern.search(code_of(name))) and not headers & reached(name)])

    def test_names_that_are_brought_in_are_used(self):
        self.complain([f"{name}: {brought[0] or brought[1]} is not used"
                       for name in product() for brought in BROUGHT_IN.findall(code_of(name))
                       if len(re.findall(rf"\b{brought[0] or brought[1]}\b", code_of(name))) < 2])

    def declared(self, pattern):
        places = {}
        for name in product():
            if name.endswith(".h"):
                for declared in pattern.findall(code_of(name)):
                    places.setdefault(declared, set()).add(name)
        return places

    def missing(self, places, named, declares):
        for name in product():
            code = code_of(name)
            seen = None
            for used in set(named.findall(code)) & places.keys():
                headers = [one for one in places[used] if may_include(name, one)]
                # A name that many declare is looked up where a template is instantiated.
                if not 0 < len(headers) <= 2 or places[used] & (reached(name) | {name}):
                    continue
                # Of the same name: a member, a local function, one of another program.
                seen = seen or "\n".join([code, *(code_of(one) for one in reached(name) if (ROOT / one).is_file())])
                if not re.search(declares % used, seen):
                    yield f"{name}: {used} wants {sorted(headers)[0]}"

    def test_headers_that_declare_types_are_included(self):
        self.complain(list(self.missing(self.declared(TYPE_AT_MARGIN), NAMED_TYPE,
                                        r"(?:class|struct|enum|using|typename|concept|union)\s+(?:CELLBLOCK_CLIENT_API\s+)?%s\b")))

    def test_headers_that_declare_functions_are_included(self):
        self.complain(list(self.missing(self.declared(FUNCTION_AT_MARGIN), CALLED,
                                        r"(?:[\w>&*\]]\s+|[&*]|\[\]|, )%s\b\s*[({=,]")))


if __name__ == "__main__":
    unittest.main()
