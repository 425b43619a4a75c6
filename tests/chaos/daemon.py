"""A cellblockd of the chaos test's own, as root: in a directory of its own, with ids that nobody else has. Its state and
its audit log lie on small disks, which can be filled."""

import asyncio
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import machine

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"
BIN = pathlib.Path(os.environ.get("CELLBLOCK_TEST_BIN", HERE.parent.parent / "build/dev/bin"))
PROGRAMS = ["cellblockd", "cellblock-supervisor", "cellblock-launcher", "cellblock-gateway", "cellblock-audit", "cellblock-http",
            "cellblock-metrics", "cellblock-egress", "cellblock-probe", "cellblock", "cellblock-tools",
            "libcellblock-client.so.0.2", "echo_server", "misbehaving_server"]
OWN_ID = 64011
HOSTS_GROUP = 64110
USERS = [64111, 64112, 64113, 64114]
FIRST_ID, IDS = 1900000000, 65536
# Fewer than the sessions of a user need together: idle cells give way all the time.
CELLS_PER_USER = 12
PATIENCE = 600  # seconds; far beyond what anything takes on the slowest machine

# What a server that is killed again and again needs to be tried at once each time.
RESTART = 'restart = { pause = "0ms", max_pause = "0ms", failures = 1000, trials = 1000 }'
STOP = 'stop = { end_of_input = "200ms", terminate = "200ms" }'
MORE_OF = {
    "echo": ("echo_server", "start = { warm = 1 }\n"),
    "shared": ("echo_server", 'cells = "per-user"\n'),
    "legacy": ("echo_server", 'era = "legacy"\nstart = { when = "session" }\n'),
    "modern": ("echo_server", 'era = "modern"\nstart = { warm = 2 }\n'),
    "reaching": ("echo_server", 'network = "egress"\negress = { allow = ["example.org:443"] }\n'),
    "littering": ("misbehaving_server leave-a-child", ""),
    "noisy": ("misbehaving_server greet-before-json", 'pin = "off"\n'),
}


# What is read of the npm file server: a file of megabytes, and a long list. Each with the end of its text.
LARGE_FILE = 1_500_000
LISTED_FILES = 2000
READINGS = [("read_text_file", "/data/large.txt", "the end of the large file"),
            ("list_directory_with_sizes", "/data/many", f"Total: {LISTED_FILES} files, 0 directories\nCombined size: 0 B")]


def is_own(uid):
    """Of this daemon or one of its cells."""
    return uid == OWN_ID or FIRST_ID <= uid < FIRST_ID + IDS


def as_user(uid):
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--groups", str(HOSTS_GROUP), "--"]


async def until(condition, what):
    """Waits for something that must come."""
    for _ in range(PATIENCE * 20):
        if result := condition():
            return result
        await asyncio.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


class Daemon:
    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="cellblock-chaos.", dir="/var/lib"))
        self.directory.chmod(0o755)
        self.disks = [self.make_disk("log", "64m", "mode=0755"),
                      self.make_disk("state", "64m", f"mode=0755,uid={OWN_ID},gid={OWN_ID}")]
        self.socket = self.directory / "run/cellblock.sock"
        self.log_file = self.directory / "cellblockd.log"
        self.audit_log = self.directory / "log/audit.jsonl"
        self.servers = dict(MORE_OF)
        self.npm = self.installed_npm()
        self.process = None
        self.is_to_end = False
        self.group = make_group(self.directory.name)
        self.install()

    def make_disk(self, name, size, options):
        place = self.directory / name
        place.mkdir(mode=0o755)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},{options}", "tmpfs", place], check=True)
        return place

    def install(self):
        (self.directory / "bin").mkdir()
        for program in PROGRAMS:
            shutil.copy(BIN / program, self.directory / "bin" / program)
        if self.npm:
            self.install_npm()
        self.config = self.directory / "cellblock.toml"
        self.config.touch(mode=0o644)
        self.configure()

    def configure(self, more=""):
        self.config.write_text(self.configuration() + more)

    def configuration(self):
        text = f"""[daemon]
user = {OWN_ID}
group = {OWN_ID}
id_range = {{ first = {FIRST_ID}, count = {IDS} }}
state_directory = "{self.directory}/state"
audit_log = "{self.audit_log}"
cgroup = "{self.group or 'none'}"
max_cells_per_user = {CELLS_PER_USER}
[socket]
path = "{self.socket}"
mode = "0660"
group = {HOSTS_GROUP}
[listen.http]
socket = "{self.directory}/run/http.sock"
mode = "0666"
[metrics]
socket = "{self.directory}/run/metrics.sock"
mode = "0666"
[audit]
max_bytes = "4MiB"
keep = 8
[calls.user]
rate = "none"
[results]
bounds = "off"
"""
        own = [self.table(*item) for item in self.servers.items() if item[0] not in self.npm]
        return text + "".join(own + [self.npm_table(name) for name in self.npm])

    def table(self, name, declaration):
        command, more = declaration
        program, *arguments = command.split()
        listed = ", ".join(json.dumps(word) for word in [f"{self.directory}/bin/{program}", *arguments])
        return f"""[server.{name}]
command = [{listed}]
read = ["{self.directory}/bin"]
allow = {{ users = {USERS}, tools = ["*"] }}
{RESTART}
{STOP}
{more}"""

    @staticmethod
    def installed_npm():
        """Server -> its package, and what it is started with beyond its script."""
        packages = {"npm": ("@modelcontextprotocol/server-everything", []),
                    "files": ("@modelcontextprotocol/server-filesystem", ["/data"])}
        there = shutil.which("node") and all((FIXTURES / "node_modules" / name).is_dir() for name, _ in packages.values())
        return packages if there else {}

    def install_npm(self):
        self.servers |= {server: (package, "") for server, (package, _) in self.npm.items()}
        unneeded = shutil.ignore_patterns("node-linux-*", "conformance-*")
        shutil.copytree(FIXTURES / "node_modules", self.directory / "mcp/node_modules", symlinks=True, ignore=unneeded)
        (self.directory / "data/many").mkdir(parents=True)
        for number in range(LISTED_FILES):
            (self.directory / f"data/many/file-{number}.txt").touch()
        (self.directory / "data/large.txt").write_text("x" * LARGE_FILE + READINGS[0][2])

    def npm_table(self, name):
        package, arguments = self.npm[name]
        words = [os.path.realpath(shutil.which("node")), f"{self.directory}/mcp/node_modules/{package}/dist/index.js", *arguments]
        return f"""[server.{name}]
command = {json.dumps(words)}
read = ["{self.directory}/mcp", "{self.directory}/data:/data"]
profile = "node"
allow = {{ users = {USERS}, tools = ["*"] }}
{RESTART}
"""

    # --- its life ---

    async def start(self):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.directory), "ASAN_OPTIONS": "detect_leaks=0"}
        with open(self.log_file, "ab") as log:
            begin = log.tell()
            command = [self.directory / "bin/cellblockd", "--config", self.directory / "cellblock.toml"]
            self.process = subprocess.Popen(command, env=environment, cwd="/", stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)
        await until(lambda: self.process.poll() is not None or b"ready on" in self.log_file.read_bytes()[begin:],
                    "the daemon's start")
        assert self.process.poll() is None, f"cellblockd ended at its start\n{self.last_words()}"
        self.is_to_end = False

    async def stop(self):
        """In good order."""
        self.is_to_end = True
        self.process.send_signal(signal.SIGTERM)
        await self.ended()
        assert self.process.returncode == 0, f"cellblockd ended with {self.process.returncode}\n{self.last_words()}"

    async def ended(self):
        """The whole of it: nobody of its ids is left."""
        await until(lambda: self.process.poll() is not None, "the daemon's end")
        await until(lambda: not machine.of_users(is_own), "the end of all that the daemon has started")

    def has_failed(self):
        return not self.is_to_end and self.process.poll() is not None

    def last_words(self):
        return "".join(self.log_file.read_text(errors="replace").splitlines(keepends=True)[-30:])

    def remove(self):
        """Whatever state it is in."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for disk in self.disks:
            subprocess.run(["umount", "--lazy", disk], check=False)
        shutil.rmtree(self.directory, ignore_errors=True)
        remove_group(self.group)

    # --- looking at it ---

    def programs(self, program):
        """The processes of that name below the daemon."""
        return [pid for pid in machine.descendants(self.process.pid) if machine.name(pid) == program[:15]]

    def launcher(self):
        found = self.programs("cellblock-launcher")
        assert found, f"there is no launcher below {self.process.pid}, which ended with {self.process.poll()}"
        return found[0]

    def cells_of(self, is_wanted):
        """(init, guardian, program) of each cell whose program's command line is wanted."""
        parent, cells = machine.parents(), []
        for guardian in self.programs("cellblock-guardian"):
            for pid in [child for child, above in parent.items() if above == guardian]:
                if is_wanted(machine.words(pid)):
                    cells.append((parent[guardian], guardian, pid))
        return cells

    def servers_cells(self):
        return self.cells_of(lambda words: "echo_server" in words or "misbehaving" in words or "/mcp/" in words)

    async def command(self, *words, user=None):
        """One run of the command-line tool: exit code, output."""
        prefix = as_user(user) if user else []
        environment = {"PATH": "/usr/bin:/bin", "CELLBLOCK_SOCKET": str(self.socket)}
        process = await asyncio.create_subprocess_exec(
            *prefix, str(self.directory / "bin/cellblock"), *words, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
        return process.returncode, output.decode(errors="replace")


def cgroup2_mount():
    for line in machine.mounts("self"):
        if " - cgroup2 " in line:
            return pathlib.Path(line.split()[4])
    return None


def make_group(name):
    """Only named: the daemon makes it."""
    mount = cgroup2_mount()
    return mount / name if mount else None


def remove_group(group):
    if group and group.is_dir():
        for place, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(place)
            except OSError:
                pass
