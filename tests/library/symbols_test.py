#!/usr/bin/env python3
"""symbols_test.py LIBRARY HEADER: what libcellblock-client.so shows is its own interface: nothing of Boost, of the
standard library or of the project's inside, which a host may have in another version."""

import pathlib
import re
import subprocess
import sys
import unittest

LIBRARY, HEADER = pathlib.Path("libcellblock-client.so"), pathlib.Path("cellblock.h")


def shown():
    listed = subprocess.run(["nm", "-D", "-C", "--defined-only", LIBRARY], check=True, capture_output=True, text=True)
    return [line.split(" ", 2)[2] for line in listed.stdout.splitlines()]


class Symbols(unittest.TestCase):
    def test_are_the_librarys_own_alone(self):
        names = shown()
        self.assertGreater(len(names), 100)
        self.assertEqual([name for name in names if not re.match(r"cellblock_\w+$|cellblock::client::", name)], [])

    def test_of_the_c_interface_are_what_its_header_declares(self):
        headers = "".join(header.read_text() for header in (HEADER, HEADER.with_name("cellblock_async.h")))
        declared = re.findall(r"CELLBLOCK_CLIENT_API [^;(]*?(cellblock_\w+)\(", headers)
        self.assertGreater(len(declared), 70)
        self.assertEqual(sorted(name for name in shown() if name.startswith("cellblock_")), sorted(declared))

    def test_have_no_inside_of_the_library(self):
        inside = re.compile(r"cellblock::client::(Channel|Reactor|Conversation|HostPermissions|\w+::Impl::|list_all|\(anonymous)")
        self.assertEqual([name for name in shown() if inside.match(name)], [])

    def test_belong_to_the_soname_that_the_headers_documentation_names(self):
        read = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True, text=True).stdout
        soname = re.search(r"Library soname: \[(.*)\]", read).group(1)
        page = (pathlib.Path(__file__).resolve().parent.parent.parent / "docs/client/cpp.md").read_text()
        self.assertIn(f"`{soname}`", page)


if __name__ == "__main__":
    LIBRARY, HEADER = (pathlib.Path(name) for name in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
