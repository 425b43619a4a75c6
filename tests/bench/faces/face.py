"""face.py SERVER: rounds of calls by the package for Python, for cellblock-bench (round.h)."""

import asyncio
import sys
import time

import cellblock


async def run(client, in_flight, calls):
    left = calls
    latencies = []

    async def call():
        nonlocal left
        while left > 0:
            left -= 1
            began = time.perf_counter_ns()
            result = await client.call_tool("echo", {"text": "hello, world"})
            latencies.append(time.perf_counter_ns() - began)
            assert "hello, world" in result.text

    began = time.perf_counter_ns()
    await asyncio.gather(*(call() for _ in range(in_flight)))
    return [time.perf_counter_ns() - began, *latencies]


async def main():
    async with await cellblock.Client.connect(sys.argv[1]) as client:
        for line in sys.stdin:
            print(*await run(client, *map(int, line.split())), flush=True)


asyncio.run(main())
