"""A host in Python against a real server: says on stdout what it has seen, a line of JSON each, and waits for a line on
stdin where the test does something meanwhile.

    python_host.py SERVER
"""

import asyncio
import json
import sys

import cellblock

SERVER = sys.argv[1]


def tell(name, value):
    print(json.dumps([name, value]), flush=True)


async def told_to_go_on():
    await asyncio.to_thread(sys.stdin.readline)


def named(tools, part):
    return next(tool.name for tool in tools if part in tool.name)


async def calls():
    async with await cellblock.Client.connect(SERVER) as client:
        tools = await client.list_tools()
        tell("tools", [tool.name for tool in tools])
        results = await asyncio.gather(*(client.call_tool("echo", {"message": f"m{i}"}) for i in range(20)))
        tell("texts", [result.text for result in results])


async def questions():
    async def elicit(params):
        await asyncio.sleep(0)
        return {"action": "accept", "content": {"name": "Ada"}}

    async with await cellblock.Client.connect(SERVER, requests={"elicitation/create": elicit}) as client:
        result = await client.call_tool(named(await client.list_tools(), "elicitation"))
        tell("elicited", result.json)


async def cancelling():
    progress = asyncio.Event()
    async with await cellblock.Client.connect(SERVER) as client:
        name = named(await client.list_tools(), "long-running")
        call = asyncio.create_task(client.call_tool(name, {"duration": 600, "steps": 6000}, timeout=None,
                                                    on_progress=lambda _: progress.set()))
        await progress.wait()
        call.cancel()
        try:
            await call
        except asyncio.CancelledError:
            tell("cancelled", True)
        tell("after", (await client.call_tool("echo", {"message": "after"})).text)


async def permission():
    asked = []

    async def approve(call):
        asked.append([call.server, call.name, json.loads(call.arguments)])
        return len(asked) == 1

    rules = [cellblock.Rule("echo", cellblock.Verdict.DENY, "not today")]
    async with await cellblock.Client.connect(SERVER, rules=rules, on_approval=approve) as client:
        try:
            await client.call_tool("echo", {"message": "x"})
        except cellblock.CellblockError as error:
            tell("denied", [error.code, error.text])
        first = await client.call_tool("get-sum", {"a": 2, "b": 3})
        try:
            await client.call_tool("get-sum", {"a": 2, "b": 3})
        except cellblock.CellblockError as error:
            tell("asked", [asked[0], first.text, error.code])
    try:
        await cellblock.Client.connect("nothing")
    except cellblock.CellblockError as error:
        tell("refused", [error.code, error.failure, bool(error.advice)])


async def reconnecting():
    ended = asyncio.Event()
    async with await cellblock.Client.connect(SERVER, on_ended=lambda code, text: ended.set()) as client:
        tell("crash", (await client.call_tool("echo", {"message": "one"})).text)
        await told_to_go_on()
        await ended.wait()
        await client.reconnect(100)
        tell("again", (await client.call_tool("echo", {"message": "two"})).text)


async def main():
    for part in (calls, questions, cancelling, permission, reconnecting):
        await part()


asyncio.run(main())
