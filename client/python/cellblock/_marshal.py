"""Values out of handles, and options into structures."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping
from typing import Any, Optional

from ._library import AttachOptions, BoundsOptions, Library, text
from .values import Bounds, CallToApprove, CellblockError, Kind, Tool, ToolResult, WithheldPart

NEVER = 2**64 - 1


def milliseconds(seconds: Optional[float]) -> int:
    """None: never. Less than a millisecond is one."""
    if seconds is None:
        return NEVER
    if seconds < 0:
        raise ValueError("a time is not below 0")
    return min(NEVER, max(1, round(seconds * 1000))) if seconds else 0


def encoded(value: str) -> bytes:
    if "\0" in value:
        raise ValueError("a text has a NUL inside")
    return value.encode()


def optional(value: Optional[str]) -> Optional[bytes]:
    return None if value is None else encoded(value)


def object_text(value: Optional[Mapping[str, Any]]) -> bytes:
    return json.dumps(dict(value or {}), allow_nan=False).encode()


def take_error(library: Library, code: int, handle: Optional[int]) -> CellblockError:
    """Frees the handle."""
    name = text(library.code_name(code))
    if not handle:
        return CellblockError(name, "no memory" if name == "no_memory" else name)
    try:
        return CellblockError(name, text(library.error_text(handle)), advice=text(library.error_advice(handle)),
                              failure=text(library.error_failure(handle)), rpc_code=library.error_rpc_code(handle),
                              data=text(library.error_data(handle)))
    finally:
        library.error_free(handle)


def call_of(library: Library, handle: int) -> CallToApprove:
    def part(name: str) -> str:
        return text(getattr(library, f"call_{name}")(handle))

    return CallToApprove(server=part("server"), kind=Kind(library.call_kind(handle)), method=part("method"),
                         name=part("name"), arguments=part("arguments"), params=part("params"), reason=part("reason"))


def attach_options(timeout: Optional[float], workspace: Optional[str], role: Optional[str], on_demand: bool,
                   labels: Optional[Mapping[str, str]], tools: Optional[str]) -> AttachOptions:
    flat = [encoded(word) for pair in (labels or {}).items() for word in pair]
    array = (ctypes.c_char_p * (len(flat) + 1))(*flat, None)
    return AttachOptions(ctypes.sizeof(AttachOptions), milliseconds(timeout), optional(workspace), optional(role),
                         int(on_demand), ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p)), optional(tools))


def _bounded(library: Library, handle: int, bounds: Bounds) -> int:
    """Another handle."""
    given = BoundsOptions(ctypes.sizeof(BoundsOptions), bounds.max_bytes, bounds.max_item_bytes, bounds.max_media_bytes,
                          bounds.max_items, bounds.keep_bytes, encoded(bounds.uri), encoded(bounds.reader))
    small, error = ctypes.c_void_p(), ctypes.c_void_p()
    code = library.bound_result(handle, ctypes.byref(given), ctypes.byref(small), ctypes.byref(error))
    if code:
        raise take_error(library, code, error.value)
    assert small.value
    return small.value


def _result(library: Library, handle: int) -> ToolResult:
    parts = [WithheldPart(library.bytes_of("result_part", handle, index), library.result_part_bytes(handle, index))
             for index in range(library.result_parts(handle))]
    return ToolResult(text=library.bytes_of("result_text", handle).decode(errors="replace"),
                      json=library.bytes_of("result_json", handle).decode(errors="replace"),
                      is_error=bool(library.result_is_error(handle)), is_bounded=bool(library.result_is_bounded(handle)),
                      tokens=library.result_tokens(handle), withheld=parts)


def take_result(library: Library, handle: int, bounds: Optional[Bounds]) -> ToolResult:
    """Frees the handle."""
    try:
        if bounds is None:
            return _result(library, handle)
        small = _bounded(library, handle, bounds)
        try:
            return _result(library, small)
        finally:
            library.result_free(small)
    finally:
        library.result_free(handle)


def take_tools(library: Library, handle: int) -> list[Tool]:
    """Frees the handle."""
    try:
        return [Tool(text(library.tools_name(handle, index)), text(library.tools_description(handle, index)),
                     json.loads(text(library.tools_json(handle, index))))
                for index in range(library.tools_count(handle))]
    finally:
        library.tools_free(handle)
