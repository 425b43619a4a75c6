"""One connection to cellblock on asyncio's loop. No thread is started, and nothing blocks."""

from __future__ import annotations

import asyncio
import ctypes
import functools
import json
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Optional

from . import _library as c
from ._handlers import (ApprovalHandler, EndHandler, Handlers, NotificationHandler, PermissionHandler, RequestHandler)
from ._marshal import attach_options, encoded, milliseconds, object_text, optional, take_error, take_result, take_tools
from .values import Bounds, CellblockError, Progress, Rule, Tool, ToolResult, Verdict

ProgressHandler = Callable[[Progress], None]

# The capability that each question of a server needs.
_CAPABILITIES = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


@functools.cache
def _library() -> c.Library:
    return c.Library()


def _capabilities(requests: Mapping[str, RequestHandler], given: Optional[Mapping[str, Any]]) -> dict[str, Any]:
    return dict(given) if given is not None else {_CAPABILITIES[method]: {} for method in requests if method in _CAPABILITIES}


class Client:
    """One connection, and as many calls at once as one likes. Of one loop, and for its thread alone.

    A call whose task is cancelled is cancelled at the server as well. What fails raises CellblockError.
    """

    @classmethod
    async def connect(cls, server: Optional[str] = None, **options: Any) -> Client:
        """Reaches the daemon, starts a cell of that server (None: all that this user may use, as one), and says MCP's
        handshake. `options` are those of __init__() and of attach()."""
        of_attach = {name: options.pop(name) for name in ("workspace", "role", "on_demand", "labels", "tools", "timeout")
                     if name in options}
        client = cls(**options)
        try:
            await client.open()
            await client.attach(server, **of_attach)
            await client.initialize(of_attach.get("timeout", 60.0))
        except BaseException:
            client.close()
            raise
        return client

    def __init__(self, *, socket: Optional[str] = None, name: str = "cellblock-python", version: str = "0.1.0",
                 capabilities: Optional[Mapping[str, Any]] = None, rules: Iterable[Rule] = (),
                 otherwise: Verdict = Verdict.ALLOW, on_permission: Optional[PermissionHandler] = None,
                 on_approval: Optional[ApprovalHandler] = None,
                 requests: Optional[Mapping[str, RequestHandler]] = None,
                 on_notification: Optional[NotificationHandler] = None, on_ended: Optional[EndHandler] = None,
                 longest_message: Optional[int] = None) -> None:
        """`requests`: who answers the server's questions, by method ("elicitation/create"); what has a handler is
        declared, unless `capabilities` says otherwise. These handlers and on_approval may be coroutines; on_permission
        is asked inside the function that makes the call."""
        self._lib = _library()
        self._loop = asyncio.get_running_loop()
        self._client: Optional[int] = None
        self._timer: Optional[asyncio.TimerHandle] = None
        self._waiting: dict[int, Callable[[int, Optional[int], Optional[int]], None]] = {}
        self._next = 1
        self._progress: dict[int, object] = {}
        self._fd = -1
        self._done = c.DONE(lambda user, code, error: self._completed(user, code, None, error))
        self._answered = c.ANSWERED(self._completed)
        self._handlers = Handlers(self._lib, self._loop)
        self._options = self._lib.options_new()
        requests = dict(requests or {})
        self._set(self._lib.options_identity, encoded(name), encoded(version))
        self._set(self._lib.options_capabilities, object_text(_capabilities(requests, capabilities)))
        self._set(self._lib.options_otherwise, int(otherwise))
        if socket is not None:
            self._set(self._lib.options_socket, encoded(socket))
        if longest_message is not None:
            self._set(self._lib.options_longest_message, longest_message)
        for rule in rules:
            self._set(self._lib.options_rule, optional(rule.server or None), int(rule.kind), encoded(rule.name),
                      int(rule.verdict), encoded(rule.reason))
        self._handlers.set(self._options, on_permission, on_approval, requests, on_notification, on_ended)

    def __del__(self) -> None:
        if getattr(self, "_options", None):
            self._lib.options_free(self._options)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.close()

    async def open(self) -> None:
        """Reaches the daemon, and proves who listens before a byte is sent."""
        if self._client is not None:
            raise CellblockError("invalid_argument", "the client is connected already")
        client = ctypes.c_void_p()
        done = self._wait(lambda _: None)
        self._begin(done, self._lib.connect_async, self._options, self._done, done.key, ctypes.byref(client))
        self._client = client.value
        self._fd = self._lib.fd(self._client)
        self._loop.add_reader(self._fd, self._process)
        self._arm()
        await done.future

    async def attach(self, server: Optional[str] = None, *, timeout: Optional[float] = 60.0,
                     workspace: Optional[str] = None, role: Optional[str] = None, on_demand: bool = False,
                     labels: Optional[Mapping[str, str]] = None, tools: Optional[str] = None) -> None:
        """Starts a cell of that server for this connection. Once."""
        given = attach_options(timeout, workspace, role, on_demand, labels, tools)
        done = self._wait(lambda _: None)
        self._start(done, self._lib.attach_async, optional(server), ctypes.byref(given), self._done, done.key)
        await done.future

    async def initialize(self, timeout: Optional[float] = 60.0) -> dict[str, Any]:
        """MCP's handshake: the server's answer."""
        done = self._wait(lambda handle: json.loads(take_result(self._lib, handle, None).json))
        self._start(done, self._lib.initialize_async, milliseconds(timeout), self._answered, done.key)
        answer: dict[str, Any] = await done.future
        return answer

    async def list_tools(self, timeout: Optional[float] = 60.0) -> list[Tool]:
        """All pages, within one deadline."""
        done = self._wait(lambda handle: take_tools(self._lib, handle))
        self._start(done, self._lib.list_tools_async, milliseconds(timeout), self._answered, done.key)
        tools: list[Tool] = await done.future
        return tools

    async def call_tool(self, name: str, arguments: Optional[Mapping[str, Any]] = None, *,
                        timeout: Optional[float] = 60.0, at_most: float = 0.0,
                        on_progress: Optional[ProgressHandler] = None, bounds: Optional[Bounds] = None) -> ToolResult:
        """In seconds from when it is sent; with `at_most` above `timeout` progress gives it that time anew. `bounds`:
        a result that fits into a model's context."""
        done = self._wait(lambda handle: take_result(self._lib, handle, bounds))
        result: ToolResult = await self._call(self._lib.call_tool_async, name, arguments, done, timeout, at_most,
                                              on_progress)
        return result

    async def request(self, method: str, params: Optional[Mapping[str, Any]] = None, *,
                      timeout: Optional[float] = 60.0, at_most: float = 0.0,
                      on_progress: Optional[ProgressHandler] = None) -> dict[str, Any]:
        """Any other request; gives its result."""
        done = self._wait(lambda handle: json.loads(take_result(self._lib, handle, None).json))
        answer: dict[str, Any] = await self._call(self._lib.request_async, method, params, done, timeout, at_most,
                                                  on_progress)
        return answer

    def notify(self, method: str, params: Optional[Mapping[str, Any]] = None) -> None:
        self._start(None, self._lib.notify, encoded(method), object_text(params))

    async def reconnect(self, attempts: int = 0) -> None:
        """After a lost connection: connects, attaches and says the handshake as before, with growing waits (0 attempts:
        as many as the library thinks right). No call is repeated."""
        done = self._wait(lambda _: None)
        self._start(done, self._lib.reconnect_async, attempts, self._done, done.key)
        await done.future

    def close(self) -> None:
        """Ends the connection; what waits raises CellblockError `cancelled`."""
        if self._client is None:
            return
        client, self._client = self._client, None
        self._loop.remove_reader(self._fd)
        if self._timer is not None:
            self._timer.cancel()
        self._handlers.cancel()
        self._lib.client_free(client)

    # --- inside

    class _Waiting:
        """A completion that has not come: its key, which C hands back, and the future that it resolves."""

        def __init__(self, key: int, future: asyncio.Future[Any]) -> None:
            self.key = key
            self.future = future

    def _set(self, setter: Callable[..., int], *arguments: Any) -> None:
        code = setter(self._options, *arguments)
        if code != c.OK:
            raise CellblockError(c.text(self._lib.code_name(code)), f"an option is not valid: {arguments}")

    def _wait(self, take: Callable[[int], Any]) -> _Waiting:
        """`take` makes a value of a handle, which it frees."""
        key, self._next = self._next, self._next + 1
        future: asyncio.Future[Any] = self._loop.create_future()

        def completed(code: int, handle: Optional[int], error: Optional[int]) -> None:
            value: Any = None
            failure: Optional[BaseException] = None
            try:
                if code != c.OK:
                    raise take_error(self._lib, code, error)
                value = take(handle)  # type: ignore[arg-type]
            except Exception as why:  # pylint: disable=broad-except
                failure = why
            if future.done():  # cancelled meanwhile
                return
            if failure is not None:
                future.set_exception(failure)
            else:
                future.set_result(value)

        self._waiting[key] = completed
        return Client._Waiting(key, future)

    def _completed(self, user: int, code: int, handle: Optional[int], error: Optional[int]) -> None:
        self._progress.pop(user, None)
        self._waiting.pop(user)(code, handle, error)

    async def _call(self, function: Callable[..., int], name: str, arguments: Optional[Mapping[str, Any]],
                    done: _Waiting, timeout: Optional[float], at_most: float,
                    on_progress: Optional[ProgressHandler]) -> Any:
        given = c.CallOptions(ctypes.sizeof(c.CallOptions), milliseconds(timeout), milliseconds(at_most))
        if on_progress is not None:
            given.on_progress = self._progress_callback(done.key, on_progress)
        call = ctypes.c_uint64()
        self._start(done, function, encoded(name), object_text(arguments), ctypes.byref(given), self._answered, done.key,
                    ctypes.byref(call))
        try:
            return await done.future
        except asyncio.CancelledError:
            if self._client is not None:
                self._lib.cancel_call(self._client, call.value)
                self._process()  # the server is told before it is told anything else
            raise

    def _progress_callback(self, key: int, handler: ProgressHandler) -> Any:
        def told(_: Any, progress: float, total: float, message: bytes) -> None:
            try:
                handler(Progress(progress, None if total < 0 else total, c.text(message)))
            except Exception as error:  # pylint: disable=broad-except
                self._loop.call_exception_handler({"message": "on_progress failed", "exception": error})

        self._progress[key] = c.PROGRESS(told)
        return self._progress[key]

    def _start(self, done: Optional[_Waiting], function: Callable[..., int], *arguments: Any) -> None:
        if self._client is None:
            raise CellblockError("disconnected", "the client is not connected")
        self._begin(done, function, self._client, *arguments)
        self._arm()

    def _begin(self, done: Optional[_Waiting], function: Callable[..., int], *arguments: Any) -> None:
        """One that is refused has no completion."""
        error = ctypes.c_void_p()
        code = function(*arguments, ctypes.byref(error))
        if code == c.OK:
            return
        if done is not None:
            self._waiting.pop(done.key, None)
        raise take_error(self._lib, code, error.value)

    def _process(self) -> None:
        if self._client is None:
            return
        self._lib.process(self._client, None)
        self._arm()

    def _arm(self) -> None:
        """Asks how long to wait, which each function may have changed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._client is None:
            return
        wait = self._lib.timeout(self._client)
        if wait >= 0:
            self._timer = self._loop.call_later(wait / 1000, self._process)
