#!/usr/bin/env python3
"""The smallest useful host from another language, over the C interface: cellblock/cellblock.h.

    minimal_host.py SERVER [TOOL [ARGUMENTS]]
"""

import ctypes
import os
import sys

LIBRARY = os.environ.get("CELLBLOCK_LIBRARY", "libcellblock-client.so.0.2")
MINUTE = ctypes.c_uint64(60_000)


class Failed(Exception):
    pass


class Cellblock:
    """One connection. Handles are plain addresses; each is freed where it was made."""

    def __init__(self):
        self.lib = ctypes.CDLL(LIBRARY)
        for name in ("error_text", "tools_name", "result_text"):
            getattr(self.lib, f"cellblock_{name}").restype = ctypes.c_char_p
        self.lib.cellblock_tools_count.restype = ctypes.c_size_t
        self.client = ctypes.c_void_p()
        self._do("connect", None, ctypes.byref(self.client))

    def close(self):
        self.lib.cellblock_client_free(self.client)

    def attach(self, server):
        self._do("attach", self.client, server.encode(), None)
        self._do("initialize", self.client, MINUTE, None)

    def tools(self):
        tools = ctypes.c_void_p()
        self._do("list_tools", self.client, MINUTE, ctypes.byref(tools))
        try:
            count = self.lib.cellblock_tools_count(tools)
            return [self.lib.cellblock_tools_name(tools, ctypes.c_size_t(i)).decode()
                    for i in range(count)]
        finally:
            self.lib.cellblock_tools_free(tools)

    def call(self, tool, arguments="{}"):
        result = ctypes.c_void_p()
        self._do("call_tool", self.client, tool.encode(), arguments.encode(), None,
                 ctypes.byref(result))
        try:
            failed = self.lib.cellblock_result_is_error(result) != 0
            return self.lib.cellblock_result_text(result, None).decode(), failed
        finally:
            self.lib.cellblock_result_free(result)

    def _do(self, name, *arguments):
        error = ctypes.c_void_p()
        if getattr(self.lib, f"cellblock_{name}")(*arguments, ctypes.byref(error)) == 0:
            return
        text = self.lib.cellblock_error_text(error).decode(errors="replace")
        self.lib.cellblock_error_free(error)
        raise Failed(text)


def main(words):
    if len(words) < 2:
        sys.exit("usage: minimal_host.py SERVER [TOOL [ARGUMENTS]]")
    try:
        host = Cellblock()
        host.attach(words[1])
        print("\n".join(host.tools()))
        if len(words) > 2:
            text, failed = host.call(*words[2:4])
            print(text)
            sys.exit(1 if failed else 0)
        host.close()
    except Failed as why:
        sys.exit(f"minimal_host.py: {why}")


if __name__ == "__main__":
    main(sys.argv)
