"""Many sessions at once, each with so many calls to be answered, whatever happens to the daemon meanwhile."""

import asyncio

from daemon import READINGS, USERS
from host import Call, Ended, Host, Reading

IN_FLIGHT = 4
SIZES = [0, 0, 0, 20_000, 200_000]
TOOLS = {"npm": ("echo", "message")}


async def no_pause():
    pass


class Session:
    """Goes on until all its calls are answered, over as many connections as that takes."""

    def __init__(self, daemon, ledger, number, random, servers, sizes, pause):
        self.daemon, self.ledger, self.random, self.pause = daemon, ledger, random, pause
        self.server = random.choice(servers)
        self.aggregate = random.random() < 0.2
        self.label = f"session {number} of {self.server}{' among all' if self.aggregate else ''}"
        self.options = {"user": random.choice(USERS), "server": "" if self.aggregate else self.server,
                        "era": random.choice(["legacy", "modern"]), "bridge": random.random() < 0.25}
        self.size = random.choice(sizes)
        self.label += f", {self.size} bytes"
        self.token = f"{number}-{random.getrandbits(64):x}"

    def make_call(self, number):
        if self.server == "files":
            tool, path, text = self.random.choice(READINGS)
            return Reading(path, text, f"files__{tool}" if self.aggregate else tool)
        tool, argument = TOOLS.get(self.server, ("echo", "text"))
        return Call(f"{'x' * self.size} {self.token}-{number}", f"{self.server}__{tool}" if self.aggregate else tool,
                    argument)

    async def run(self, calls):
        todo = [self.make_call(number) for number in range(calls)]
        while todo:
            host = Host(self.daemon, self.ledger, self.label, **self.options)
            try:
                await host.open()
                while todo:
                    await self.pause()
                    await self.make_some(host, todo)
            except (Ended, OSError):
                assert not self.daemon.has_failed(), "cellblockd ended by itself"
                await asyncio.sleep(0.05)
            finally:
                await host.close()

    async def make_some(self, host, todo):
        """A few at once; those that are answered are done."""
        results = await asyncio.gather(*(self.make(host, call, todo) for call in todo[:IN_FLIGHT]), return_exceptions=True)
        for error in filter(None, results):
            raise error

    async def make(self, host, call, todo):
        if await host.call(call) is None:
            todo.remove(call)


class Load:
    def __init__(self, daemon, ledger, random, sessions, calls, *, sizes=SIZES, pause=no_pause):
        servers = list(daemon.servers)
        self.ledger, self.calls = ledger, calls
        self.goal = sessions * calls
        self.before = ledger.answered
        self.sessions = [Session(daemon, ledger, number, random, servers, sizes, pause) for number in range(sessions)]

    async def run(self):
        await asyncio.gather(*(session.run(self.calls) for session in self.sessions))

    def is_past(self, share):
        return self.ledger.answered - self.before >= share * self.goal
