"""What goes wrong. Each event does it, waits until it has been noticed, and puts right what it can; the load then has to
get through. Whether hosts may lose their connection without an answer to each request is said of each event."""

import asyncio
import contextlib
import os
import re
import signal

import machine
from daemon import USERS, until
from host import Call, Ended, Host, dial


class World:
    """What events act on."""

    def __init__(self, daemon, ledger, load, random, spared=frozenset()):
        self.daemon, self.ledger, self.load, self.random = daemon, ledger, load, random
        self.spared = spared  # programs in cells that have to live on
        self.kills = 0

    def cells_of(self, is_wanted):
        return [cell for cell in self.daemon.cells_of(is_wanted) if cell[2] not in self.spared]

    def kill(self, pid):
        self.kills += 1
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    async def kill_and_wait(self, pids):
        for pid in pids:
            self.kill(pid)
        for pid in pids:
            await until(lambda pid=pid: not machine.is_alive(pid), f"the end of {pid}")

    def some(self, found, most=3):
        return self.random.sample(found, min(most, len(found)))

    async def make_calls(self, count, user=USERS[0], server="echo"):
        """By a host of its own, each once; gives the codes of the failures."""
        failures = []
        host = Host(self.daemon, self.ledger, "the event's host", user=user, server=server)
        try:
            await host.open()
            for number in range(count):
                failures.append(await host.call(Call(f"event {self.random.getrandbits(64):x} {number}", "echo", "text")))
        except Ended as end:
            failures.append(end.code)
        except OSError:
            failures.append("no connection")
        finally:
            await host.close()
        return [code for code in failures if code]

    async def until_calls(self, is_wanted, what, server="echo"):
        while not is_wanted(await self.make_calls(1, server=server)):
            assert not self.daemon.has_failed(), f"cellblockd ended by itself before {what}"
            await asyncio.sleep(0.05)


# --- kills ---

async def found_in_use(world, find, server="echo"):
    """Also where the load has ended before the event looked: a session of its own has a cell meanwhile."""
    while not (found := find()):
        assert not world.daemon.has_failed(), "cellblockd ended by itself"
        host = Host(world.daemon, world.ledger, "the event's host", user=USERS[0], server=server)
        try:
            await host.open()
            await host.call(Call(f"event {world.random.getrandbits(64):x}", "echo", "text"))
            if found := find():
                return found
        except (Ended, OSError):
            await asyncio.sleep(0.05)
        finally:
            await host.close()
    return found


def of_cells(index):
    async def kill(world):
        await found_in_use(world, world.daemon.servers_cells)
        await world.kill_and_wait([cell[index] for cell in world.some(world.daemon.servers_cells())])
    return kill


def of_program(program, index):
    async def kill(world):
        found = await found_in_use(world, lambda: world.cells_of(lambda words: program in words), "reaching")
        await world.kill_and_wait([world.random.choice(found)[index]])
    return kill


def of_everything(find):
    async def kill(world):
        world.daemon.is_to_end = True
        await world.kill_and_wait([find(world.daemon)])
        await world.daemon.ended()
        await world.daemon.start()
    return kill


async def kill_many_things_at_once(world):
    cells = world.cells_of(lambda words: True)
    await world.kill_and_wait([world.random.choice(cell) for cell in world.some(cells, 6)])


# --- what administrators and users do ---

async def stop_the_daemon(world):
    await world.daemon.stop()
    await world.daemon.ended()
    await world.daemon.start()


async def must(world, *words, user=None):
    code, output = await world.daemon.command(*words, user=user)
    assert code == 0, f"cellblock {' '.join(words)}: {code}\n{output}"


async def restart_servers(world):
    for server in world.some(sorted(world.daemon.servers)):
        for user in USERS:
            await must(world, "restart", server, user=user)


async def reload(world):
    """Another server, which is called, and other spare cells; then as it was but for those."""
    echo, more = world.daemon.servers["echo"]
    world.daemon.servers["echo"] = (echo, f"start = {{ warm = {world.random.randrange(3)} }}\n")
    for tables in [world.daemon.table("added", (echo, "")), ""]:
        world.daemon.configure(tables)
        await must(world, "reload", "--config", str(world.daemon.config))
        if tables:
            await world.until_calls(lambda failures: not failures, "a call of a server that a reload added", "added")
    world.daemon.servers["echo"] = (echo, more)


async def switch_off_and_on(world):
    await must(world, "disable", "--reason", "chaos")
    failures = await world.make_calls(1)
    assert failures, "a call was made while everything was switched off"
    await must(world, "enable")


# --- what runs out ---

def full(index):
    async def fill(world):
        filler = world.daemon.disks[index] / "filler"
        fill_up(filler)
        try:
            if index == 0:
                await world.until_calls(lambda failures: "audit_unavailable" in failures, "a refusal")
            else:
                for user in USERS:
                    await world.make_calls(3, user=user)
        finally:
            filler.unlink()
        await world.until_calls(lambda failures: not failures, "the audit log's return")
    return fill


def fill_up(path):
    with open(path, "wb", buffering=0) as file:
        for size in [1 << 20, 4096, 1]:
            with contextlib.suppress(OSError):
                while file.write(b"x" * size):
                    pass


async def limit_descriptors(pid, soft, hard):
    """By somebody of the same id: also root may lack the right to do it to others. False where that process has ended."""
    ids = [machine.field(pid, key).split()[:1] for key in ["Uid", "Gid"]]
    if not all(ids):
        return False
    process = await asyncio.create_subprocess_exec(
        "setpriv", "--reuid", *ids[0], "--regid", *ids[1], "--clear-groups", "--",
        "prlimit", "--pid", str(pid), f"--nofile={soft}:{hard}", stderr=asyncio.subprocess.DEVNULL)
    return await process.wait() == 0


def without_descriptors(find):
    async def exhaust(world):
        pid = find(world)
        limits = re.search(r"^Max open files +(\d+) +(\d+)", machine.read(f"/proc/{pid}/limits"), re.MULTILINE)
        assert await limit_descriptors(pid, sum(machine.descriptors(pid).values()), limits[2]), "prlimit failed"
        # Those that fail do so now; hosts that nobody has accepted wait until there is room again.
        hosts = [asyncio.create_task(world.make_calls(2, user=user)) for user in USERS for _ in range(2)]
        try:
            for _ in range(5):
                await world.daemon.command("version")
        finally:
            put_back = await limit_descriptors(pid, limits[1], limits[2])
        assert put_back or not machine.is_alive(pid), "prlimit failed"
        await asyncio.gather(*hosts)
    return exhaust


def any_gateway(world):
    cells = world.cells_of(lambda words: "cellblock-gateway" in words or "cellblock-gatew" in words)
    return world.random.choice(cells)[2]


# --- what stands still ---

def stopped(find):
    async def stop(world):
        pids = await found_in_use(world, lambda: find(world))
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        try:
            tasks = [asyncio.create_task(world.make_calls(5, user=user)) for user in USERS]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        await asyncio.gather(*tasks)
    return stop


# --- hosts that do not behave ---

def attach_line(server):
    return (b'{"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"%s","start":"on_demand"}}\n'
            b'{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
            b'"clientInfo":{"name":"bad","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
            % server.encode())


def call_line(number, text):
    return (b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}\n'
            % (number, text))


async def bad_host(world, data, server=None):
    reader, writer = await dial(world.daemon.socket, world.random.choice(USERS))
    writer.write((attach_line(server) if server else b"") + data)
    return reader, writer


async def hosts_die_in_mid_line(world):
    for server in world.some(["echo", "shared", "legacy", "modern"]):
        lines = b"".join(call_line(number, b"half") for number in range(3, 9))
        _, writer = await bad_host(world, lines + b'{"jsonrpc":"2.0","id":99,"meth', server)
        with contextlib.suppress(OSError):
            await writer.drain()
        writer.transport.abort()


async def hosts_do_not_read(world):
    """For as long as the load takes."""
    lines = b"".join(call_line(number, b"y" * 100_000) for number in range(3, 100))
    held = [await bad_host(world, lines, server) for server in ["echo", "shared", "modern"]]
    for reader, _ in held:
        with contextlib.suppress(RuntimeError):
            reader._transport.pause_reading()
    await until(lambda: world.load.is_past(0.9), "the load to go on beside hosts that do not read")
    for _, writer in held:
        writer.transport.abort()


async def hosts_flood(world):
    floods = [b"x" * (1 << 20), b"[" * 200_000 + b"\n", b"\n" * 100_000, b'{"jsonrpc":"2.0","method":"a/b"}\n' * 20_000,
              b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number for number in range(5000)),
              b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"' + b"n" * (9 << 20) + b'"}}\n']
    for flood in floods:
        with contextlib.suppress(OSError):
            reader, writer = await bad_host(world, flood, world.random.choice(["echo", "shared", None]))
            writer.write_eof()
            while await reader.read(1 << 20):
                pass
            writer.transport.abort()


class Event:
    def __init__(self, name, act, cuts=False, loses_audit=False, ends_what_all_share=False):
        self.name, self.act, self.cuts, self.loses_audit = name, act, cuts, loses_audit
        self.ends_what_all_share = ends_what_all_share


EVENTS = [
    Event("kill servers", of_cells(2)),
    Event("kill the guardians of servers", of_cells(1)),
    Event("kill the inits of servers", of_cells(0)),
    Event("kill a gateway", of_program("cellblock-gatew", 2), cuts=True, loses_audit=True),
    Event("kill the guardian of a gateway", of_program("cellblock-gatew", 1), cuts=True, loses_audit=True),
    Event("kill the audit writer", of_program("cellblock-audit", 2), ends_what_all_share=True),
    Event("kill the init of the audit writer", of_program("cellblock-audit", 0), ends_what_all_share=True),
    Event("kill an egress helper", of_program("cellblock-egres", 2)),
    Event("kill whoever parses HTTP", of_program("cellblock-http", 2), ends_what_all_share=True),
    Event("kill whoever answers scrapes", of_program("cellblock-metri", 2), ends_what_all_share=True),
    Event("kill several things at once", kill_many_things_at_once, cuts=True, loses_audit=True),
    Event("kill the launcher", of_everything(lambda daemon: daemon.launcher()), cuts=True, loses_audit=True,
          ends_what_all_share=True),
    Event("kill the supervisor", of_everything(lambda daemon: daemon.process.pid), cuts=True, loses_audit=True,
          ends_what_all_share=True),
    Event("stop and start the daemon", stop_the_daemon, cuts=True, ends_what_all_share=True),
    Event("restart servers", restart_servers),
    Event("reload", reload),
    Event("switch everything off and on", switch_off_and_on, cuts=True, ends_what_all_share=True),
    Event("fill the disk of the audit log", full(0)),
    Event("fill the disk of the state", full(1)),
    Event("exhaust the descriptors of a gateway", without_descriptors(any_gateway), cuts=True, loses_audit=True),
    Event("exhaust the descriptors of the supervisor", without_descriptors(lambda world: world.daemon.process.pid), cuts=True),
    Event("exhaust the descriptors of the launcher", without_descriptors(lambda world: world.daemon.launcher()), cuts=True),
    Event("stop servers for a while", stopped(lambda world: [cell[2] for cell in world.some(world.daemon.servers_cells())])),
    Event("stop a gateway for a while", stopped(lambda world: [any_gateway(world)])),
    Event("hosts die in mid-line", hosts_die_in_mid_line),
    Event("hosts do not read", hosts_do_not_read),
    Event("hosts flood", hosts_flood),
]
