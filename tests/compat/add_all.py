#!/usr/bin/env python3
"""Which of the most used servers one command brings into a cell: add_all.py BIN [PACKAGE...]

Each server of servers.json (the 55 most downloaded of npm that speak over stdio) is added rootless, as an ordinary user, with the
line that hosts have for it, made-up keys and no edit: `cellblock add NAME --yes -- npx -y PACKAGE ARGUMENTS`. Prints a table as
Markdown: whether it lists its tools, how many, whether its harmless call answers where one is named, the seconds, and the first
line of what went wrong. Needs npm, its registry, and a user other than root (as root it takes the account named by SUDO_USER)."""

import json
import os
import pathlib
import pwd
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
KEY = "sk_test_0123456789abcdef0123456789abcdef"


class Place:
    """A home of its own, below the user's, and a daemon for it."""

    def __init__(self, programs):
        account = pwd.getpwnam(os.environ["SUDO_USER"]) if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        self.lower = ["setpriv", "--reuid", str(account.pw_uid), "--regid", str(account.pw_gid), "--init-groups"] if os.geteuid() == 0 else []
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="cellblock-compat-", dir="/var/tmp"))
        self.environment = {"HOME": str(self.home), "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                            "XDG_RUNTIME_DIR": str(self.home / "run"), "USER": account.pw_name}
        self.project = self.home / "project"
        for directory in (self.home, self.home / "run", self.project):
            directory.mkdir(mode=0o700, exist_ok=True)
            os.chown(directory, account.pw_uid, account.pw_gid)
        (self.home / ".config/cellblock").mkdir(parents=True)
        (self.home / ".config/cellblock/cellblock.toml").touch()
        for path in self.home.rglob("*"):
            os.chown(path, account.pw_uid, account.pw_gid)
        self.daemon = subprocess.Popen([*self.lower, "cellblockd", "--user"], env=self.environment, cwd=self.home, stderr=subprocess.PIPE, text=True)
        for line in self.daemon.stderr:
            if "ready on" in line:
                break

    def run(self, *command):
        return subprocess.run([*self.lower, *command], env=self.environment, cwd=self.home, capture_output=True, text=True, check=False)

    def end(self):
        self.daemon.terminate()
        self.daemon.wait()


def filled(value, place):
    return json.loads(json.dumps(value).replace("PROJECT", str(place.project)))


def reason(text):
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("cellblock: installing", "cellblock: starting"))]
    return lines[0][:160].replace("|", "\\|") if lines else ""


def row(server, place):
    name = re.sub(r"[^a-z0-9]+", "-", server["package"].lower()).strip("-")
    command = ["cellblock", "--json", "add", name, "--yes", *server.get("options", [])]
    for variable in server.get("env", []):
        command += ["--env", f"{variable}={KEY}"]
    began = time.monotonic()
    added = place.run(*command, "--", "npx", "-y", server["package"], *filled(server.get("arguments", []), place))
    seconds = time.monotonic() - began
    if added.returncode != 0:
        return False, None, f"| `{server['package']}` | no | | {seconds:.0f} | {reason(added.stderr)} |"
    tools = len(json.loads(added.stdout)["tools"])
    answered, note = None, ""
    if "call" in server:
        tool, arguments = filled(server["call"], place)
        called = place.run("cellblock", "--user", "call", name, tool, json.dumps(arguments))
        answered = called.returncode == 0
        note = "" if answered else reason(called.stderr or called.stdout)
    place.run("cellblock", "remove", name)
    call = {None: "", True: "yes", False: "no"}[answered]
    return True, answered, f"| `{server['package']}` | {tools} tools | {call} | {seconds:.0f} | {note} |"


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    chosen = set(sys.argv[2:])
    servers = [one for one in json.loads((HERE / "servers.json").read_text()) if not chosen or one["package"] in chosen]
    place = Place(programs)
    print("| package | lists | call | seconds | what went wrong |\n|---|---|---|---|---|")
    listed = called = calls = 0
    try:
        for server in servers:
            is_listed, answered, line = row(server, place)
            listed += is_listed
            calls += answered is not None
            called += bool(answered)
            print(line, flush=True)
    finally:
        place.end()
    print(f"\n{listed} of {len(servers)} list their tools; {called} of {calls} harmless calls answer. Left: {place.home}")


if __name__ == "__main__":
    main()
