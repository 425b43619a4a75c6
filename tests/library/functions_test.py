#!/usr/bin/env python3
"""Every public function of the client library is called by the tests of a host and of servers that do everything wrong
(tests/unit/client_library_every_*_function_test.cc)."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = ROOT / "client/include/cellblock"


def called(kind):
    return (ROOT / f"tests/unit/client_library_every_{kind}_function_test.cc").read_text()


def members(header, name):
    """The public member functions of a class, but for what makes, moves and ends it."""
    text = (HEADERS / header).read_text()
    body = re.search(rf"^class (?:CELLBLOCK_CLIENT_API )?{name} {{\n(.*?)^ private:", text, re.MULTILINE | re.DOTALL)
    functions = set(re.findall(r"^  (?:static )?[\w:<>, ]+[ >](\w+)\(", body.group(1), re.MULTILINE))
    return {function for function in functions - {"operator", name} if not function.endswith("_")}


class Functions(unittest.TestCase):
    def test_of_the_c_interface_are_all_called(self):
        headers = "".join((HEADERS / name).read_text() for name in ("cellblock.h", "cellblock_async.h"))
        declared = set(re.findall(r"CELLBLOCK_CLIENT_API [^;(]*?(cellblock_\w+)\(", headers))
        self.assertGreater(len(declared), 70)
        text = called("c")
        self.assertEqual(sorted(name for name in declared if f"{name}(" not in text), [])

    def test_of_the_classes_are_all_called(self):
        for header, name, kind in (("client.h", "Client", "client"), ("connection.h", "Connection", "connection"),
                                   ("session.h", "Session", "connection")):
            functions = members(header, name)
            self.assertGreater(len(functions), 15, name)
            text = called(kind)
            missing = [function for function in functions if not re.search(rf"(\.|->|::){function}\(", text)]
            self.assertEqual(sorted(missing), [], name)


if __name__ == "__main__":
    unittest.main()
