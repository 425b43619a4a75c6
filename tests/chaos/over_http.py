"""Sessions over HTTP: each makes its calls, each answered with what was asked for, over as many sessions as that takes."""

import asyncio
import http.client
import json

from host import OPENING, Call, connected, failure_of

REVISION = OPENING["protocolVersion"]
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": REVISION}
BROKEN = (OSError, ValueError, http.client.HTTPException)  # ValueError: an answer that was cut off


def request(daemon, name, uid, verb, path, message=None, **headers):
    """(headers, answer) of one request, over a connection of its own. Made by a thread, but for the connection."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = connected(daemon.directory / "run" / name, uid)

    def ask():
        try:
            body = json.dumps({"jsonrpc": "2.0", **message}) if message else None
            connection.request(verb, path, body, {**HEADERS, **headers})
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status >= 300:
            raise http.client.HTTPException(f"status {response.status}: {text[:200]}")
        return response.headers, text
    return asyncio.to_thread(ask)


def answer_in(text):
    """Of JSON, or of a stream of events."""
    found = [json.loads(line.removeprefix("data:")) for line in text.splitlines() if line.startswith(("{", "data: {"))]
    answers = [message for message in found if "id" in message and "method" not in message]
    if not answers:
        raise http.client.HTTPException("no answer")
    return answers[0]


class HttpSession:
    def __init__(self, daemon, ledger, uid, server, token, pause):
        self.daemon, self.ledger, self.uid, self.path, self.pause = daemon, ledger, uid, f"/mcp/{server}", pause
        self.token, self.headers = token, {}

    def post(self, message):
        return request(self.daemon, "http.sock", self.uid, "POST", self.path, message, **self.headers)

    async def run(self, calls):
        todo = [Call(f"{'x' * 20_000} {self.token}-{number}", "echo", "text") for number in range(calls)]
        while todo:
            try:
                await self.begin()
                while todo:
                    await self.pause()
                    await self.make(todo)
                await request(self.daemon, "http.sock", self.uid, "DELETE", self.path, **self.headers)
            except BROKEN:
                assert not self.daemon.has_failed(), "cellblockd ended by itself"
                self.ledger.outcomes["http broken"] += 1
                await asyncio.sleep(0.1)

    async def begin(self):
        self.headers = {}
        headers, _ = await self.post({"id": 1, "method": "initialize", "params": OPENING})
        self.headers = {"Mcp-Session-Id": headers.get("Mcp-Session-Id") or ""}
        await self.post({"method": "notifications/initialized"})

    async def make(self, todo):
        call = todo[0]
        _, text = await self.post({"id": 2, "method": "tools/call", "params": {"name": call.tool, "arguments": call.arguments}})
        message = answer_in(text)
        if code := failure_of(message):
            self.ledger.outcomes[f"http {code}"] += 1
            await asyncio.sleep(0.1)
            return
        if not message["result"]["content"][0]["text"].endswith(call.text):
            self.ledger.fault(f"over HTTP: asked {call.text[-40:]!r}, answered {text[:300]}")
        self.ledger.outcomes["http ok"] += 1
        self.ledger.answered_digests.add(call.digest())
        todo.pop(0)


async def scrape(daemon, uid):
    """The metrics; empty while nobody answers."""
    try:
        return (await request(daemon, "metrics.sock", uid, "GET", "/metrics"))[1]
    except BROKEN:
        return ""
