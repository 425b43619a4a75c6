"""The C interface of libcellblock-client (cellblock/cellblock.h, cellblock_async.h), as ctypes has it."""

from __future__ import annotations

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_short, c_size_t, c_uint, c_uint64,
                    c_void_p)
from typing import Any

SONAME = "libcellblock-client.so.0.2"
OK = 0


class AttachOptions(Structure):
    _fields_ = [("size", c_size_t), ("timeout_ms", c_uint64), ("workspace", c_char_p), ("role", c_char_p),
                ("on_demand", c_int), ("labels", POINTER(c_char_p)), ("tools", c_char_p)]


PROGRESS = CFUNCTYPE(None, c_void_p, c_double, c_double, c_char_p)


class CallOptions(Structure):
    _fields_ = [("size", c_size_t), ("timeout_ms", c_uint64), ("at_most_ms", c_uint64), ("on_progress", PROGRESS),
                ("user", c_void_p)]


class BoundsOptions(Structure):
    _fields_ = [("size", c_size_t), ("max_bytes", c_uint64), ("max_item_bytes", c_uint64),
                ("max_media_bytes", c_uint64), ("max_items", c_uint64), ("keep_bytes", c_uint64), ("uri", c_char_p),
                ("reader", c_char_p)]


DONE = CFUNCTYPE(None, c_void_p, c_int, c_void_p)
ANSWERED = CFUNCTYPE(None, c_void_p, c_int, c_void_p, c_void_p)  # of results, and of tools
DECIDE = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
NOTIFICATION = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)
REQUEST = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_void_p)
ENDED = CFUNCTYPE(None, c_void_p, c_int, c_char_p)

_ERROR = POINTER(c_void_p)
_TEXT = c_char_p
_SIZE = POINTER(c_size_t)

# name: (result, arguments)
_FUNCTIONS = {
    "code_name": (_TEXT, [c_int]),
    "version": (_TEXT, []),
    "error_code": (c_int, [c_void_p]),
    "error_text": (_TEXT, [c_void_p]),
    "error_advice": (_TEXT, [c_void_p]),
    "error_failure": (_TEXT, [c_void_p]),
    "error_rpc_code": (c_int, [c_void_p]),
    "error_data": (_TEXT, [c_void_p]),
    "error_free": (None, [c_void_p]),
    "call_server": (_TEXT, [c_void_p]),
    "call_kind": (c_int, [c_void_p]),
    "call_method": (_TEXT, [c_void_p]),
    "call_name": (_TEXT, [c_void_p]),
    "call_arguments": (_TEXT, [c_void_p]),
    "call_params": (_TEXT, [c_void_p]),
    "call_reason": (_TEXT, [c_void_p]),
    "decide": (None, [c_void_p, c_int, _TEXT]),
    "decision_keep": (c_void_p, [c_void_p]),
    "decision_free": (None, [c_void_p]),
    "reply_result": (None, [c_void_p, _TEXT]),
    "reply_error": (None, [c_void_p, c_int, _TEXT]),
    "reply_keep": (c_void_p, [c_void_p]),
    "reply_free": (None, [c_void_p]),
    "options_new": (c_void_p, []),
    "options_free": (None, [c_void_p]),
    "options_socket": (c_int, [c_void_p, _TEXT]),
    "options_identity": (c_int, [c_void_p, _TEXT, _TEXT]),
    "options_capabilities": (c_int, [c_void_p, _TEXT]),
    "options_longest_message": (c_int, [c_void_p, c_size_t]),
    "options_rule": (c_int, [c_void_p, _TEXT, c_int, _TEXT, c_int, _TEXT]),
    "options_otherwise": (c_int, [c_void_p, c_int]),
    "options_on_permission": (c_int, [c_void_p, DECIDE, c_void_p]),
    "options_on_approval": (c_int, [c_void_p, DECIDE, c_void_p]),
    "options_on_notification": (c_int, [c_void_p, NOTIFICATION, c_void_p]),
    "options_on_request": (c_int, [c_void_p, REQUEST, c_void_p]),
    "options_on_ended": (c_int, [c_void_p, ENDED, c_void_p]),
    "client_free": (None, [c_void_p]),
    "notify": (c_int, [c_void_p, _TEXT, _TEXT, _ERROR]),
    "fd": (c_int, [c_void_p]),
    "events": (c_short, [c_void_p]),
    "timeout": (c_int, [c_void_p]),
    "process": (c_int, [c_void_p, _ERROR]),
    "connect_async": (c_int, [c_void_p, DONE, c_void_p, POINTER(c_void_p), _ERROR]),
    "attach_async": (c_int, [c_void_p, _TEXT, POINTER(AttachOptions), DONE, c_void_p, _ERROR]),
    "initialize_async": (c_int, [c_void_p, c_uint64, ANSWERED, c_void_p, _ERROR]),
    "list_tools_async": (c_int, [c_void_p, c_uint64, ANSWERED, c_void_p, _ERROR]),
    "call_tool_async": (c_int, [c_void_p, _TEXT, _TEXT, POINTER(CallOptions), ANSWERED, c_void_p, POINTER(c_uint64),
                                _ERROR]),
    "request_async": (c_int, [c_void_p, _TEXT, _TEXT, POINTER(CallOptions), ANSWERED, c_void_p, POINTER(c_uint64),
                              _ERROR]),
    "reconnect_async": (c_int, [c_void_p, c_uint, DONE, c_void_p, _ERROR]),
    "cancel_call": (None, [c_void_p, c_uint64]),
    "result_json": (c_void_p, [c_void_p, _SIZE]),
    "result_text": (c_void_p, [c_void_p, _SIZE]),
    "result_is_error": (c_int, [c_void_p]),
    "result_is_bounded": (c_int, [c_void_p]),
    "result_tokens": (c_size_t, [c_void_p]),
    "result_parts": (c_size_t, [c_void_p]),
    "result_part": (c_void_p, [c_void_p, c_size_t, _SIZE]),
    "result_part_bytes": (c_uint64, [c_void_p, c_size_t]),
    "result_free": (None, [c_void_p]),
    "bound_result": (c_int, [c_void_p, POINTER(BoundsOptions), POINTER(c_void_p), _ERROR]),
    "tools_count": (c_size_t, [c_void_p]),
    "tools_name": (_TEXT, [c_void_p, c_size_t]),
    "tools_description": (_TEXT, [c_void_p, c_size_t]),
    "tools_json": (_TEXT, [c_void_p, c_size_t]),
    "tools_free": (None, [c_void_p]),
}


class Library:
    """Its functions, by their names without `cellblock_`."""

    def __init__(self) -> None:
        shared = ctypes.CDLL(os.environ.get("CELLBLOCK_LIBRARY", SONAME))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(shared, f"cellblock_{name}")
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        """For what is none of them: each of the others is an attribute."""
        raise AttributeError(f"libcellblock-client has no cellblock_{name}")

    def bytes_of(self, getter: str, handle: int, *more: int) -> bytes:
        """Of a getter that tells the size, since the text may have a NUL inside."""
        size = c_size_t()
        address = getattr(self, getter)(handle, *more, ctypes.byref(size))
        return ctypes.string_at(address, size.value) if address else b""


def text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")
