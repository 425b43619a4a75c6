"""The audit log against what hosts saw: each call that was answered is in it, and each that is in it has its end."""

import collections
import json


def files_of(log):
    """(when it was written last, file), from the oldest to the one that is written."""
    return sorted((path.stat().st_mtime_ns, path) for path in log.parent.glob(f"{log.name}*"))


def lines_of(paths):
    for path in paths:
        for line in path.read_bytes().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                pass  # torn when its writer was killed, or written just now: `verify` judges that


class AuditView:
    """Reads on: old lines make room for new ones."""

    def __init__(self, daemon, ledger):
        self.daemon, self.ledger = daemon, ledger
        self.seen = self.calls = self.written = 0
        self.open = collections.Counter()
        self.digests = set()

    def read_on(self):
        last = self.seen
        files, since = files_of(self.daemon.audit_log), self.written
        for line in lines_of(path for when, path in files if when >= since):
            if line.get("seq", 0) > last:
                self.take(line)
                self.seen = max(self.seen, line["seq"])
        self.written = max((when for when, _ in files), default=since)

    def take(self, line):
        key = tuple(line.get(name) for name in ["uid", "gateway", "session", "cell", "call"])
        if line.get("kind") == "call" and line["outcome"] == "ok":
            self.calls += 1
            self.open[key] += 1
            self.digests.add(line.get("arguments_sha256"))
        if line.get("kind") == "call_ended":
            self.open[key] -= 1

    def missing_calls(self):
        """Of those that were answered since it was asked last."""
        self.read_on()
        missing = self.ledger.answered_digests - self.digests
        self.ledger.answered_digests.clear()
        self.digests.clear()
        return [f"audit log: {len(missing)} calls were answered and are not in it"] if missing else []

    def uneven(self):
        """Calls that do not have just one end."""
        self.read_on()
        return [f"{count:+} of call {key}" for key, count in self.open.items() if count]

    async def verify(self):
        code, output = await self.daemon.command("audit", "verify", "--log", str(self.daemon.audit_log))
        return ([] if code == 0 else [f"cellblock audit verify: {code}"]), output.strip()
