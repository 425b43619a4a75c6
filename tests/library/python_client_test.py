#!/usr/bin/env python3
"""python_client_test.py LIBRARY COMPILER: the package for Python on asyncio, over the library, against a daemon that says what a
test says."""

import asyncio
import contextlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "client/python"))


def runtime_of(library, compiler):
    """Of the address sanitizer, as a library wants it in the program before all else that was built with it; None: it was
    not."""
    wanted = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
    if "__asan_init" not in wanted:
        return None
    for name in (f"libclang_rt.asan-{platform.machine()}.so", "libasan.so"):
        told = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        if os.path.isabs(told):
            return os.path.realpath(told)
    print("skipped: no shared run time of the sanitizer")
    sys.exit(SKIPPED)


def run_with_sanitizer(library, compiler):
    runtime = runtime_of(library, compiler)
    if runtime and "LD_PRELOAD" not in os.environ:
        # Python leaks by itself.
        environment = {**os.environ, "LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def said(text):
    return {"content": [{"type": "text", "text": text}]}


class Peer:
    """The daemon's side of a connection."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def hear(self):
        line = await self.reader.readline()
        return json.loads(line) if line else None

    def say(self, **message):
        self.writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def answer_next(self, result):
        message = await self.hear()
        self.say(id=message["id"], result=result)
        return message

    async def greet(self):
        attach = await self.answer_next({"server": "files", "session": "1"})
        hello = await self.answer_next({"protocolVersion": "2025-11-25", "capabilities": {}})
        await self.hear()  # notifications/initialized
        return attach, hello


async def answering(peer):
    """Every call with its tool's name."""
    await peer.greet()
    while (call := await peer.hear()) is not None:
        if "id" in call:
            peer.say(id=call["id"], result=said(call["params"]["name"]))


@contextlib.asynccontextmanager
async def daemon(*scripts):
    """A daemon whose connections follow one script after the other, and the last one for good."""
    left, failures = list(scripts), []

    async def serve(reader, writer):
        script = left.pop(0) if len(left) > 1 else left[0]
        try:
            await script(Peer(reader, writer))
        except Exception as error:
            failures.append(error)
        finally:
            writer.close()

    with tempfile.TemporaryDirectory(dir=pathlib.Path.home()) as directory:
        path = f"{directory}/cellblock.sock"
        server = await asyncio.start_unix_server(serve, path)
        yield path
        server.close()
    if failures:
        raise failures[0]


class Client(unittest.IsolatedAsyncioTestCase):
    async def test_attaches_lists_and_calls_many_at_once(self):
        greetings = []

        async def script(peer):
            greetings.append(await peer.greet())
            await peer.answer_next({"tools": [{"name": "write", "description": "W", "x": 1}]})
            first, second = await peer.hear(), await peer.hear()
            peer.say(id=second["id"], result=said("second\0x"))
            peer.say(id=first["id"], result={**said("first"), "isError": True})
            await peer.hear()

        async with daemon(script) as path, await cellblock.Client.connect(
                "files", socket=path, labels={"org": "acme"}, on_demand=True, tools="search") as client:
            tools = await client.list_tools()
            self.assertEqual((tools[0].name, tools[0].description, tools[0].definition["x"]), ("write", "W", 1))
            results = await asyncio.gather(client.call_tool("one"), client.call_tool("two", {"path": "/data"}))
        self.assertEqual([(result.text, result.is_error) for result in results], [("first", True), ("second\0x", False)])
        self.assertEqual(greetings[0][0]["params"],
                         {"server": "files", "start": "on_demand", "tools": "search", "labels": {"org": "acme"}})

    async def test_whose_task_is_cancelled_tells_the_server(self):
        called, told = asyncio.Event(), []

        async def script(peer):
            await peer.greet()
            await peer.hear()
            called.set()
            told.append(await peer.hear())
            await peer.answer_next(said("next"))
            await peer.hear()

        async with daemon(script) as path, await cellblock.Client.connect("files", socket=path) as client:
            call = asyncio.create_task(client.call_tool("slow"))
            await called.wait()
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            self.assertEqual((await client.call_tool("x")).text, "next")
        self.assertEqual(told[0]["method"], "notifications/cancelled")

    async def test_answers_questions_in_tasks_while_its_loop_goes_on(self):
        answers = []

        async def script(peer):
            _, hello = await peer.greet()
            self.assertEqual(hello["params"]["capabilities"], {"elicitation": {}})
            call = await peer.hear()
            peer.say(id="q", method="elicitation/create", params={"message": "who?"})
            peer.say(id="r", method="roots/list")
            peer.say(id="s", method="elicitation/create", params={"message": "fail"})
            for _ in range(3):
                answer = await peer.hear()
                answers.append((answer["id"], answer.get("result") or answer["error"]["code"]))
            peer.say(id=call["id"], result=said("done"))
            await peer.hear()

        async def elicit(params):
            await asyncio.sleep(0)
            if params["message"] == "fail":
                raise ValueError("of the host's inside")
            return {"action": "accept", "content": {"name": params["message"]}}

        reports = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context["exception"]))
        async with daemon(script) as path, await cellblock.Client.connect(
                "files", socket=path, requests={"elicitation/create": elicit}) as client:
            self.assertEqual((await client.call_tool("x")).text, "done")
        self.assertEqual(dict(answers), {"q": {"action": "accept", "content": {"name": "who?"}}, "r": -32601, "s": -32603})
        self.assertEqual([str(error) for error in reports], ["of the host's inside"])

    async def test_denies_and_asks_before_a_call_leaves(self):
        seen, released = [], asyncio.Event()

        async def approve(call):
            seen.append(call)
            await released.wait()
            return call.name == "write"

        rules = [cellblock.Rule("delete_*", cellblock.Verdict.DENY, "not by a model"),
                 cellblock.Rule("write*", cellblock.Verdict.ASK, "it writes")]
        async with daemon(answering) as path, await cellblock.Client.connect(
                "files", socket=path, rules=rules, on_approval=approve) as client:
            held = [asyncio.create_task(client.call_tool(name, {"path": "/data"})) for name in ("write", "write_other")]
            self.assertEqual((await client.call_tool("read")).text, "read")
            released.set()
            self.assertEqual((await held[0]).text, "write")
            with self.assertRaises(cellblock.CellblockError) as denied:
                await held[1]
            self.assertEqual(denied.exception.code, "denied_by_host")
            with self.assertRaisesRegex(cellblock.CellblockError, "not by a model"):
                await client.call_tool("delete_all")
        self.assertEqual((seen[0].name, seen[0].reason, json.loads(seen[0].arguments)),
                         ("write", "it writes", {"path": "/data"}))

    async def test_asks_a_function_on_the_spot_and_denies_where_it_fails(self):
        def permit(call):
            if call.name == "fails":
                raise ValueError("oops")
            return cellblock.Verdict.ALLOW

        asyncio.get_running_loop().set_exception_handler(lambda _, context: None)
        async with daemon(answering) as path, await cellblock.Client.connect(
                "files", socket=path, on_permission=permit) as client:
            self.assertEqual((await client.call_tool("good")).text, "good")
            with self.assertRaises(cellblock.CellblockError) as denied:
                await client.call_tool("fails")
            self.assertEqual(denied.exception.code, "denied_by_host")

    async def test_hears_progress_and_notifications(self):
        async def script(peer):
            await peer.greet()
            call = await peer.hear()
            token = call["params"]["_meta"]["progressToken"]
            peer.say(method="notifications/progress", params={"progressToken": token, "progress": 1, "message": "one"})
            peer.say(method="notifications/message", params={"level": "info", "data": "heard"})
            peer.say(id=call["id"], result=said("done"))
            await peer.hear()

        heard, progress = [], []
        async with daemon(script) as path, await cellblock.Client.connect(
                "files", socket=path, on_notification=lambda method, params: heard.append((method, params))) as client:
            await client.call_tool("x", on_progress=progress.append)
        self.assertEqual(progress, [cellblock.Progress(1.0, None, "one")])
        self.assertIn(("notifications/message", {"level": "info", "data": "heard"}), heard)

    async def test_refuses_a_name_with_a_nul_inside_and_cuts_none(self):
        heard = []

        async def script(peer):
            await peer.greet()
            while (message := await peer.hear()) is not None:
                heard.append(message["method"])
                peer.say(id=message["id"], result={"tools": [{"name": "write\0x"}, {"name": "read"}]})

        async with daemon(script) as path, await cellblock.Client.connect(
                "files", socket=path, rules=[cellblock.Rule("write", cellblock.Verdict.DENY)]) as client:
            with self.assertRaisesRegex(ValueError, "NUL"):
                await client.call_tool("write\0x")
            with self.assertRaisesRegex(ValueError, "NUL"):
                await client.request("tools/list\0")
            with self.assertRaises(cellblock.CellblockError) as refused:
                await client.request("tools/call", {"name": "write\0x"})
            self.assertEqual(refused.exception.code, "invalid_argument")
            self.assertEqual([tool.name for tool in await client.list_tools()], ["read"])
            with self.assertRaisesRegex(ValueError, "NUL"):
                await cellblock.Client.connect("files\0x", socket=path)
            for rule in (cellblock.Rule("write\0x"), cellblock.Rule("write", server="files\0x")):
                with self.assertRaisesRegex(ValueError, "NUL"):
                    await cellblock.Client.connect("files", socket=path, rules=[rule])
        self.assertEqual(heard, ["tools/list"])

    async def test_reconnects_and_greets_as_before(self):
        async def dying(peer):
            await peer.greet()
            await peer.hear()

        ended = []
        async with daemon(dying, answering) as path, await cellblock.Client.connect(
                "files", socket=path, on_ended=lambda code, text: ended.append(code)) as client:
            with self.assertRaises(cellblock.CellblockError) as lost:
                await client.call_tool("x")
            self.assertEqual(lost.exception.code, "disconnected")
            await client.reconnect()
            self.assertEqual((await client.call_tool("again")).text, "again")
        self.assertEqual(ended, ["disconnected"])

    async def test_keeps_its_deadlines(self):
        async def silent(peer):
            await peer.greet()
            while await peer.hear() is not None:
                pass

        async with daemon(silent) as path, await cellblock.Client.connect("files", socket=path) as client:
            with self.assertRaises(cellblock.CellblockError) as late:
                await client.call_tool("slow", timeout=0.01)
            self.assertEqual(late.exception.code, "timed_out")

    async def test_gives_a_result_that_fits(self):
        async def script(peer):
            await peer.greet()
            await peer.answer_next(said("x" * 100_000))
            await peer.hear()

        bounds = cellblock.Bounds(max_bytes=4096, keep_bytes=50_000, uri="host://1", reader="read_on")
        async with daemon(script) as path, await cellblock.Client.connect("files", socket=path) as client:
            result = await client.call_tool("x", bounds=bounds)
        self.assertTrue(result.is_bounded)
        self.assertLessEqual(len(result.json), 4096)
        self.assertEqual([(len(part.text), part.size) for part in result.withheld], [(50_000, 100_000)])

    async def test_ends_what_waits_when_it_is_closed(self):
        called = asyncio.Event()

        async def silent(peer):
            await peer.greet()
            await peer.hear()
            called.set()

        async with daemon(silent) as path:
            client = await cellblock.Client.connect("files", socket=path)
            call = asyncio.create_task(client.call_tool("x"))
            await called.wait()
            client.close()
            with self.assertRaises(cellblock.CellblockError):
                await call
            with self.assertRaises(cellblock.CellblockError):
                await client.call_tool("x")
            client.close()

    async def test_says_what_is_wrong_with_its_options_and_why_it_is_refused(self):
        async def refusing(peer):
            attach = await peer.hear()
            peer.say(id=attach["id"], error={"code": -31019, "message": "rests",
                                             "data": {"code": "quarantined", "advice": "ask"}})

        async with daemon(refusing) as path:
            with self.assertRaises(cellblock.CellblockError) as refused:
                await cellblock.Client.connect("files", socket=path)
            with self.assertRaises(cellblock.CellblockError) as wrong:
                await cellblock.Client.connect("files", socket=path, rules=[cellblock.Rule("*crash")])
        error = refused.exception
        self.assertEqual((error.code, error.failure, error.advice), ("refused", "quarantined", "ask"))
        self.assertEqual(wrong.exception.code, "invalid_argument")
        self.assertIn("*crash", str(wrong.exception))


class Package(unittest.TestCase):
    def test_the_program_of_its_page_compiles_and_uses_what_there_is(self):
        page = (ROOT / "docs/client/python.md").read_text()
        program = page.split("```python\n", 1)[1].split("```", 1)[0]
        compile(program, "docs/client/python.md", "exec")
        for name in re.findall(r"cellblock\.(\w+)", program):
            self.assertIn(name, cellblock.__all__)

    def test_declares_every_function_that_it_uses_as_the_headers_do(self):
        headers = "".join((ROOT / "client/include/cellblock" / name).read_text()
                          for name in ("cellblock.h", "cellblock_async.h"))
        for name in cellblock._library._FUNCTIONS:
            with self.subTest(function=name):
                self.assertIn(f"cellblock_{name}(", headers)


if __name__ == "__main__":
    run_with_sanitizer(sys.argv[1], sys.argv[2])
    os.environ["CELLBLOCK_LIBRARY"] = sys.argv[1]
    import cellblock  # of the tree
    import cellblock._library
    unittest.main(argv=sys.argv[:1])
