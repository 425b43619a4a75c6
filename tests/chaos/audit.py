"""The audit log against what hosts saw: each call that was answered is in it, and each that is in it has its end."""

import collections
import json


def lines_of(log):
    for path in sorted(log.parent.glob(f"{log.name}*")):
        for line in path.read_bytes().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                pass  # torn when its writer was killed: `verify` judges that


async def differences(daemon, ledger, may_lose):
    code, output = await daemon.command("audit", "verify", "--log", str(daemon.audit_log))
    found = [f"cellblock audit verify: {code}\n{output}"] if code not in ([0, 10] if may_lose else [0]) else []
    begun, ended, digests = collections.Counter(), collections.Counter(), set()
    for line in lines_of(daemon.audit_log):
        key = tuple(line.get(name) for name in ["uid", "gateway", "session", "cell", "call"])
        if line.get("kind") == "call" and line["outcome"] == "ok":
            begun[key] += 1
            digests.add(line.get("arguments_sha256"))
        if line.get("kind") == "call_ended":
            ended[key] += 1
    missing = ledger.answered_digests - digests
    if missing:
        found.append(f"{len(missing)} calls were answered and are not in the log")
    if not may_lose and begun != ended:
        found.append(f"calls without their end: {list((begun - ended).items())[:5]}, "
                     f"ends without their call: {list((ended - begun).items())[:5]}")
    return found, sum(begun.values()), output
