#!/usr/bin/env python3
"""abi_test.py LIBRARY COMPILER [--update]: what a program that is linked to libcellblock-client.so relies on is as it
is recorded in tests/library/abi: its symbols, compared by abidiff, and the layout of each public type. --update
records both anew. Needs Debian's abigail-tools; it is skipped without."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

RECORDED = pathlib.Path(__file__).resolve().parent / "abi"
INCLUDE = RECORDED.parents[2] / "client/include"
LIBRARY, COMPILER = "libcellblock-client.so", "c++"

# Templates over the caller's own executor: nothing of them is in the library.
ON_ASIO = {"session.h", "session_loop.h", "completion_token.h"}
THROWN_INLINE = {"BadExpectedAccess"}  # by the caller's own code
C_STRUCT = re.compile(r"^typedef struct (\w+) \{", re.MULTILINE)
C_ENUM = re.compile(r"^typedef enum (\w+) \{", re.MULTILINE)
CLASS = re.compile(r"(?<!>\n)^(?:struct|class) (?:\[\[nodiscard\]\] )?(?:CELLBLOCK_CLIENT_API )?(\w+)(?: final)?(?: : [^{;]*)? \{",
                   re.MULTILINE)
ENUM = re.compile(r"^enum class (\w+)[^;]*?\{", re.MULTILINE)

TOLD = """{changes}
If that is meant, record it: tests/library/abi_test.py LIBRARY COMPILER --update (CONTRIBUTING.md). A program that was
linked before keeps working only where something was added: for any other change CELLBLOCK_CLIENT_SOVERSION in
client/lib/CMakeLists.txt goes up."""


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def abi_of(library, *more):
    return run("abidw", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed", "--no-architecture",
               *more, library)


# Debug information would make it another one in each kind of build.
def symbols(directory):
    stripped = f"{directory}/library.so"
    run("objcopy", "--strip-debug", LIBRARY, stripped)
    return abi_of(stripped)


def public_headers():
    return [header for header in sorted((INCLUDE / "cellblock").glob("*.h")) if header.name not in ON_ASIO]


def public_types():
    """C++ names of what the headers declare, outside of namespaces of their own."""
    names = set()
    for header in public_headers():
        text = re.sub(r"namespace detail \{.*?\}  // namespace detail", "", header.read_text(), flags=re.DOTALL)
        names.update(f"::{name}" for pattern in (C_STRUCT, C_ENUM) for name in pattern.findall(text))
        names.update(f"::cellblock::client::{name}" for pattern in (CLASS, ENUM) for name in pattern.findall(text)
                     if name not in THROWN_INLINE)
    return sorted(names)


def program_with(types):
    """Its one function has a parameter of each: what abidw describes is what an exported function reaches."""
    included = "".join(f"#include <cellblock/{header.name}>\n" for header in public_headers())
    return f"{included}void use({', '.join(f'const {name}*' for name in types)}) {{}}\n"


def described(element, scope=""):
    """(name, lines) of each type below the element, with bits from the beginning of its object."""
    for child in element:
        name = f"{scope}::{child.get('name')}"
        if child.tag in ("namespace-decl", "abi-instr"):
            yield from described(child, name if child.tag == "namespace-decl" else scope)
        elif child.tag == "class-decl" and child.get("size-in-bits"):
            members = [(member.get("layout-offset-in-bits"), member.find("var-decl").get("name"))
                       for member in child.findall("data-member") if member.get("layout-offset-in-bits")]
            yield name, [f"{child.get('size-in-bits')} bits"] + [f"{offset} {member}" for offset, member in members]
        elif child.tag == "enum-decl":
            yield name, [f"{one.get('value')} {one.get('name')}" for one in child.findall("enumerator")]


def layouts(directory):
    source, shared = pathlib.Path(directory) / "types.cc", f"{directory}/types.so"
    types = public_types()
    source.write_text(program_with(types))
    run(COMPILER, "-std=c++20", "-g", "-fno-eliminate-unused-debug-types", "-O0", "-fPIC", "-shared", f"-I{INCLUDE}", source, "-o", shared)
    known = dict(described(xml.fromstring(abi_of(shared))))
    return "".join(f"{name}\n" + "".join(f"  {line}\n" for line in known.get(name, ["not described"])) for name in types)


class Abi(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def test_of_the_librarys_symbols_is_as_recorded(self):
        now = pathlib.Path(self.directory) / "now.abi"
        now.write_text(symbols(self.directory))
        compared = subprocess.run(["abidiff", RECORDED / "symbols.abi", now], capture_output=True, text=True, check=False)
        self.assertEqual(compared.returncode, 0, TOLD.format(changes=compared.stdout + compared.stderr))

    def test_of_the_public_types_is_as_recorded(self):
        recorded = (RECORDED / "layouts.txt").read_text()
        self.assertEqual(recorded, layouts(self.directory), TOLD.format(changes=""))

    def test_describes_every_public_type(self):
        recorded = (RECORDED / "layouts.txt").read_text()
        self.assertEqual(re.findall(r"(\S+)\n  not described", recorded), [])
        for name in ("::cellblock_call_options", "::cellblock_code", "::cellblock::client::Options", "::cellblock::client::Error"):
            self.assertIn(f"{name}\n", recorded)


def record():
    with tempfile.TemporaryDirectory() as directory:
        (RECORDED / "symbols.abi").write_text(symbols(directory))
        (RECORDED / "layouts.txt").write_text(layouts(directory))


if __name__ == "__main__":
    missing = [tool for tool in ("abidw", "abidiff", "objcopy") if shutil.which(tool) is None]
    if missing:
        print(f"skipped: this machine lacks {' and '.join(missing)} (abigail-tools, binutils)")
        sys.exit(77)
    LIBRARY, COMPILER = sys.argv[1:3]
    if "--update" in sys.argv[3:]:
        record()
    else:
        unittest.main(argv=sys.argv[:1])
