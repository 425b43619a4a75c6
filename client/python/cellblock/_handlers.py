"""What the library asks the host: callbacks of C that call functions of Python, at once or in tasks of asyncio."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Optional, Union

from . import _library as c
from ._marshal import call_of
from .values import CallToApprove, Decision, Verdict

Decided = Union[Verdict, Decision, bool]
PermissionHandler = Callable[[CallToApprove], Decided]
ApprovalHandler = Callable[[CallToApprove], Union[Decided, Awaitable[Decided]]]
RequestHandler = Callable[[dict[str, Any]], Union[Mapping[str, Any], Awaitable[Mapping[str, Any]]]]
NotificationHandler = Callable[[str, dict[str, Any]], None]
EndHandler = Callable[[str, str], None]

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603


def decision_of(said: object) -> Decision:
    """True allows; what is no decision denies."""
    if isinstance(said, Decision):
        return said
    if isinstance(said, Verdict):
        return Decision(said)
    return Decision(Verdict.ALLOW) if said is True else Decision(Verdict.DENY)


async def _awaited(said: Any) -> Any:
    return await said if inspect.isawaitable(said) else said


class Handlers:
    """Sets the callbacks of one client's options, and lives as long as the client."""

    def __init__(self, library: c.Library, loop: asyncio.AbstractEventLoop) -> None:
        self._library = library
        self._loop = loop
        self._callbacks: list[object] = []  # what ctypes makes has to outlive what calls it
        self._tasks: set[asyncio.Task[None]] = set()

    def set(self, options: int, permission: Optional[PermissionHandler], approval: Optional[ApprovalHandler],
            requests: Mapping[str, RequestHandler], notification: Optional[NotificationHandler],
            ended: Optional[EndHandler]) -> None:
        if permission is not None:
            self._set("on_permission", options, c.DECIDE(
                lambda _, call, decision: self._guarded(self._permit, permission, call, decision)))
        if approval is not None:
            self._set("on_approval", options, c.DECIDE(
                lambda _, call, decision: self._guarded(self._ask, approval, call, decision)))
        if requests:
            self._set("on_request", options, c.REQUEST(
                lambda _, method, params, reply: self._guarded(self._answer, requests, method, params, reply)))
        if notification is not None:
            self._set("on_notification", options, c.NOTIFICATION(
                lambda _, method, params: self._guarded(self._notify, notification, method, params)))
        if ended is not None:
            self._set("on_ended", options, c.ENDED(
                lambda _, code, why: self._guarded(self._end, ended, code, why)))

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _set(self, name: str, options: int, callback: object) -> None:
        self._callbacks.append(callback)
        getattr(self._library, f"options_{name}")(options, callback, None)

    def _guarded(self, function: Callable[..., None], *arguments: Any) -> None:
        """Nothing may be raised into C. What was not decided is denied, and what was not answered is an error."""
        try:
            function(*arguments)
        except Exception as error:  # pylint: disable=broad-except
            self._report(error)

    def _report(self, error: BaseException) -> None:
        self._loop.call_exception_handler({"message": "a handler of a cellblock client failed", "exception": error})

    def _start(self, task: Awaitable[None]) -> None:
        running = asyncio.ensure_future(task, loop=self._loop)
        self._tasks.add(running)
        running.add_done_callback(self._tasks.discard)

    def _notify(self, handler: NotificationHandler, method: bytes, params: bytes) -> None:
        handler(c.text(method), json.loads(params or b"{}"))

    def _end(self, handler: EndHandler, code: int, why: bytes) -> None:
        handler(c.text(self._library.code_name(code)), c.text(why))

    def _permit(self, handler: PermissionHandler, call: int, decision: int) -> None:
        said = decision_of(handler(call_of(self._library, call)))
        self._library.decide(decision, said.verdict, said.reason.encode())

    def _ask(self, handler: ApprovalHandler, call: int, decision: int) -> None:
        kept = self._library.decision_keep(decision)
        if kept:
            self._start(self._decide(handler, call_of(self._library, call), kept))

    async def _decide(self, handler: ApprovalHandler, call: CallToApprove, kept: int) -> None:
        try:
            said = decision_of(await _awaited(handler(call)))
            self._library.decide(kept, said.verdict, said.reason.encode())
        except Exception as error:  # pylint: disable=broad-except
            self._report(error)
        finally:
            self._library.decision_free(kept)

    def _answer(self, handlers: Mapping[str, RequestHandler], method: bytes, params: bytes, reply: int) -> None:
        handler = handlers.get(c.text(method))
        if handler is None:
            self._library.reply_error(reply, METHOD_NOT_FOUND, b"Method not found")
            return
        kept = self._library.reply_keep(reply)
        if kept:
            self._start(self._reply(handler, json.loads(params or b"{}"), kept))

    async def _reply(self, handler: RequestHandler, params: dict[str, Any], kept: int) -> None:
        try:
            self._library.reply_result(kept, json.dumps(dict(await _awaited(handler(params)))).encode())
        except Exception as error:  # pylint: disable=broad-except
            self._library.reply_error(kept, INTERNAL_ERROR, b"the host failed to answer")
            self._report(error)
        finally:
            self._library.reply_free(kept)
