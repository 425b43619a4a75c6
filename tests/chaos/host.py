"""A host that counts: every request that it sends is answered once, with what was asked for or with a failure of
cellblock's that has a code, or its connection ends. Everything else is a fault."""

import asyncio
import collections
import contextlib
import fcntl
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import termios

from apart import end_with_parent
from daemon import HOSTS_GROUP, PATIENCE, as_user

PREFIX = "io.modelcontextprotocol/"
ENVELOPE = {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientCapabilities": {},
            PREFIX + "clientInfo": {"name": "chaos", "version": "1"}}
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "chaos", "version": "1"}}
LONGEST_LINE = 32 << 20


class Ledger:
    """What became of all requests of all hosts."""

    def __init__(self):
        self.asked = 0
        self.outcomes = collections.Counter()
        self.cut = self.torn = 0
        self.ignored = []  # read by the daemon, and neither answered nor refused before the connection's end
        self.cut_lines = []  # behind a bridge, of gateways that were killed in the midst of one
        self.faults = []
        self.answered_digests = set()

    def fault(self, text):
        self.faults.append(text)

    @property
    def answered(self):
        return self.outcomes["ok"]

    @property
    def settled(self):
        return sum(self.outcomes.values()) + self.cut


class Ended(Exception):
    """The connection's end, or a session that did not come about: then with the code of the failure."""

    def __init__(self, label, code="ended"):
        super().__init__(f"{label}: {code}")
        self.code = code


class Call:
    def __init__(self, text, tool, argument):
        self.text, self.tool, self.argument = text, tool, argument

    @property
    def arguments(self):
        return {self.argument: self.text}

    def digest(self):
        return hashlib.sha256(json.dumps(self.arguments, separators=(",", ":")).encode()).hexdigest()


class Reading(Call):
    """What it answers is known otherwise than by what it asks."""

    def __init__(self, path, text, tool):
        super().__init__(text, tool, "path")
        self.path = path

    @property
    def arguments(self):
        return {"path": self.path}


def failure_of(message):
    """The code of cellblock's failure, or None of an answer that is none."""
    if "error" in message:
        return (message["error"].get("data") or {}).get("code") or f"error {message['error'].get('code')}"
    result = message.get("result") or {}
    if result.get("isError"):
        return ((result.get("_meta") or {}).get("cellblock/error") or {}).get("code", "error of the server")
    return None


def pause_after(message):
    data = (message.get("error") or {}).get("data") or {}
    meta = ((message.get("result") or {}).get("_meta") or {}).get("cellblock/error") or {}
    return min((data.get("retry_after_ms") or meta.get("retry_after_ms") or 50) / 1000, 5)


def connected(path, uid):
    """A connection by somebody else: the kernel notes who it is at connect."""
    connection = socket.socket(socket.AF_UNIX)
    groups = os.getgroups()
    os.setgroups([HOSTS_GROUP])
    os.setegid(uid)
    os.seteuid(uid)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
        end_with_parent()
    return connection


async def dial(path, uid):
    connection = connected(path, uid)
    connection.setblocking(False)
    return await asyncio.open_unix_connection(sock=connection, limit=LONGEST_LINE)


class Host:
    """One connection: over the socket, or through `cellblock connect`."""

    def __init__(self, daemon, ledger, label, *, user, server="", era="legacy", bridge=False):
        self.daemon, self.ledger, self.label = daemon, ledger, label
        self.user, self.server, self.era, self.bridge = user, server, era, bridge
        self.process = self.task = None
        self.waiting, self.known, self.next_id = {}, set(), 0
        self.last_error = None
        self.reset = False

    async def open(self):
        if self.bridge:
            await self.start_bridge()
        else:
            self.reader, self.writer = await dial(self.daemon.socket, self.user)
        self.task = asyncio.create_task(self.listen())
        if not self.bridge and self.server:
            await self.expect("cellblock/attach", {"server": self.server, "start": "on_demand"})
        if self.era == "legacy":
            await self.expect("initialize", OPENING)
            self.send({"method": "notifications/initialized"})

    async def start_bridge(self):
        names = [self.server] if self.server else []
        self.process = await asyncio.create_subprocess_exec(
            *as_user(self.user), str(self.daemon.directory / "bin/cellblock"), "connect", *names,
            env={"PATH": "/usr/bin:/bin", "CELLBLOCK_SOCKET": str(self.daemon.socket)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, limit=LONGEST_LINE)
        self.reader, self.writer = self.process.stdout, self.process.stdin

    def send(self, message):
        self.writer.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())

    def request(self, method, params):
        """A future of the answer, or of Ended."""
        if self.task.done() or self.writer.is_closing():
            raise Ended(self.label)
        self.next_id += 1
        future = asyncio.get_running_loop().create_future()
        self.waiting[self.next_id] = (f"{method} {self.next_id}", future)
        self.known.add(self.next_id)
        self.ledger.asked += 1
        if self.era == "modern" and not method.startswith("cellblock/"):
            params = {**params, "_meta": ENVELOPE}
        self.send({"id": self.next_id, "method": method, "params": params})
        return future

    async def answer(self, future, what):
        try:
            return await asyncio.wait_for(future, PATIENCE)
        except asyncio.TimeoutError:
            self.ledger.fault(f"{self.label}: {what} was never answered")
            raise Ended(self.label) from None

    async def expect(self, method, params):
        """What a session cannot begin without."""
        message = await self.answer(self.request(method, params), method)
        code = failure_of(message)
        self.ledger.outcomes[code or "begun"] += 1
        if code:
            await asyncio.sleep(pause_after(message))
            raise Ended(self.label, code)

    async def call(self, call):
        """None when it was answered with what was asked for; else the code of the failure."""
        message = await self.answer(self.request("tools/call", {"name": call.tool, "arguments": call.arguments}), call.tool)
        code = failure_of(message)
        self.ledger.outcomes[code or "ok"] += 1
        if code:
            self.last_error = message
            await asyncio.sleep(pause_after(message))
            return code
        content = message["result"].get("content") or [{}]
        if not str(content[0].get("text", "")).endswith(call.text):
            self.ledger.fault(f"{self.label}: asked {call.text[:40]!r}, answered {json.dumps(message)[:300]}")
        self.ledger.answered_digests.add(call.digest())
        return None

    async def listen(self):
        try:
            while line := await self.reader.readline():
                self.hear(line)
        except OSError:
            self.reset = True
        except ValueError as error:
            self.ledger.fault(f"{self.label}: a line that is no message: {error}")
        finally:
            self.end()

    def hear(self, line):
        if not line.endswith(b"\n"):
            self.ledger.torn += 1  # its writer was killed in the middle of it
            return
        try:
            message = json.loads(line)
        except ValueError as error:
            if not self.bridge:
                raise
            self.ledger.cut_lines.append(f"{self.label}: {error}")  # with a newline from the bridge: decision 53
            return
        if "method" in message:
            if "id" in message:
                self.send({"id": message["id"], "error": {"code": -32601, "message": "no"}})
            return
        number = message.get("id")
        _, future = self.waiting.pop(number, (None, None))
        if future and not future.done():
            future.set_result(message)
        elif number in self.known:
            self.ledger.fault(f"{self.label}: answered twice: {line[:300]!r}")
        elif number is not None:
            self.ledger.fault(f"{self.label}: answered what was never asked: {line[:300]!r}")
        else:
            self.last_error = message

    def end(self):
        """What is still waited for was cut off. That is no fault where the other side had not read it: it cannot answer then."""
        waiting, self.waiting = self.waiting, {}
        unread = self.bridge or self.reset or self.is_unwritten() or self.unread_bytes() > 0
        for what, future in waiting.values():
            self.ledger.cut += 1
            if not unread:
                self.ledger.ignored.append(f"{self.label}, {self.era}: {what} of {self.next_id}, which had been read")
            if not future.done():
                future.set_exception(Ended(self.label))
                future.exception()  # it may be that nobody asks any more
        self.writer.close()

    def is_unwritten(self):
        """Also where writing has failed, and the error comes after the end that was read."""
        return self.writer.is_closing() or self.writer.transport.get_write_buffer_size() > 0

    def unread_bytes(self):
        try:
            answer = fcntl.ioctl(self.writer.get_extra_info("socket").fileno(), termios.TIOCOUTQ, b"\0" * 4)
        except OSError:
            return 1  # closed meanwhile
        return int.from_bytes(answer, sys.byteorder)

    async def close(self):
        if self.task:
            self.writer.close()
            if self.process:
                await self.close_bridge()
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
        try:
            await self.writer.wait_closed()
        except (OSError, AttributeError):
            pass

    async def close_bridge(self):
        try:
            await asyncio.wait_for(self.process.wait(), 2)  # as the SDKs do it
        except asyncio.TimeoutError:
            with contextlib.suppress(ProcessLookupError):  # it has ended just now
                self.process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(self.process.wait(), PATIENCE)
