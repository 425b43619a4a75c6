"""What must be as it was when nobody uses the daemon: its processes, descriptors, mounts, control groups and files."""

import asyncio
import collections
import os
import pathlib

import machine
from daemon import PATIENCE, USERS, is_own
from host import Call, Ended, Host


async def come_to_rest(daemon, ledger):
    """Every user's gateway runs, and no cell of a server."""
    for user in USERS:
        await touch(daemon, ledger, user)
    for user in USERS:
        for server in daemon.servers:
            await daemon.command("stop", server, user=user)


async def touch(daemon, ledger, user):
    """Until a call is answered: after whatever was done to the daemon it has to be good again."""
    code = "never asked"
    for attempt in range(PATIENCE):
        host = Host(daemon, ledger, f"touch of {user}", user=user, server="echo")
        try:
            await host.open()
            if not (code := await host.call(Call(f"touch {user} {attempt}", "echo", "text"))):
                return
        except (Ended, OSError) as error:
            code = repr(error)
            await asyncio.sleep(0.05)
        finally:
            await host.close()
    raise AssertionError(f"user {user} cannot call: {code}")


class Census:
    """Everything that is counted, as a table of names to numbers."""

    def __init__(self, daemon):
        self.counts = collections.Counter()
        own = machine.of_users(is_own)
        self.processes = [machine.describe(pid) for pid in own]
        for pid in own:
            self.counts[f"process {machine.name(pid)}"] += 1
        self.add_descriptors("supervisor", daemon.process.pid)
        self.add_descriptors("launcher", daemon.launcher())
        self.counts["mount of the launcher"] = len(machine.mounts(daemon.launcher()))
        self.counts["mount here"] = mounts_of(daemon.directory)
        self.counts["control group"] = groups_of(daemon.group)
        for path in sorted((daemon.directory / "run").iterdir()):
            self.counts[f"file {path.name}"] += 1
        for place in ["/dev/shm", "/tmp"]:
            self.counts[f"file in {place}"] = len(machine.files_of(place, is_own))

    def add_descriptors(self, whose, pid):
        for kind, count in machine.descriptors(pid).items():
            self.counts[f"{kind} of the {whose}"] += count

    def beyond(self, before):
        """What there is more of."""
        return [f"{name}: {count}, was {before.counts[name]}" for name, count in sorted(self.counts.items())
                if count > before.counts[name]]


def mounts_of(directory):
    return sum(str(directory) in line for line in machine.mounts("self"))


def groups_of(group):
    return sum(len(folders) for _, folders, _ in os.walk(group)) if group else 0


async def settled_census(daemon):
    """When it has come to rest: three counts that are alike."""
    seen = [Census(daemon)]
    while len(seen) < 3 or seen[-1].counts != seen[-3].counts or seen[-1].counts != seen[-2].counts:
        await asyncio.sleep(1)
        seen.append(Census(daemon))
    return seen[-1]


async def nothing_beyond(daemon, before):
    """What there still is more of when it does not go away."""
    more = ["never looked"]
    for _ in range(PATIENCE * 5):
        try:
            census = Census(daemon)
            if not (more := census.beyond(before)):
                return []
        except (AssertionError, OSError):
            pass  # something ended while it was looked at
        await asyncio.sleep(0.2)
    return more + census.processes


def left_behind(daemon):
    """After its end."""
    left = [f"process {machine.describe(pid)}" for pid in machine.of_users(is_own)]
    left += [f"file {path}" for path in sorted(pathlib.Path(daemon.directory, "run").glob("*"))]
    left += [f"file {path}" for place in ["/dev/shm", "/tmp"] for path in machine.files_of(place, is_own)]
    if mounts_of(daemon.directory) != len(daemon.disks):
        left.append("mounts: " + "; ".join(line for line in machine.mounts("self") if str(daemon.directory) in line))
    if daemon.group and (daemon.group / "cells").is_dir():
        left += [f"control group {path}" for path in (daemon.group / "cells").iterdir() if path.is_dir()]
    return left
