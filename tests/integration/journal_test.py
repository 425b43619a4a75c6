"""cellblockd speaks to the journal: lines arrive with fields, by a socket that outlives its start.

In a mount namespace of its own, with sockets of a journal that this test plays. Needs root; argument: the
directory of the programs.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

SKIP = 77
DAEMON_ID = 64001


def entry_of(datagram):
    """Fields without a newline in their value."""
    return dict(line.split("=", 1) for line in datagram.decode().splitlines() if "=" in line)


class Journal:
    def __init__(self):
        os.makedirs("/run/systemd/journal")
        self.stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.stream.bind("/run/systemd/journal/stdout")
        self.stream.listen()
        self.entries = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.entries.bind("/run/systemd/journal/socket")
        os.chmod("/run/systemd/journal/socket", 0o666)
        self.entries.settimeout(60)

    def stderr(self):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.connect("/run/systemd/journal/stdout")
        return client, self.stream.accept()[0]


class Lines(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="cellblock-journal.", dir="/var/lib")
        os.chmod(self.directory, 0o755)
        self.addCleanup(shutil.rmtree, self.directory)

    def run_daemon(self, configuration):
        path = os.path.join(self.directory, "cellblock.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(configuration)
        client, server = journal.stderr()
        daemon = subprocess.Popen([os.path.join(programs, "cellblockd"), "--config", path], stderr=client,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        client.close()
        self.addCleanup(server.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        return daemon, server

    def test_a_daemon_that_does_not_start_says_so_in_one_entry(self):
        daemon, stderr = self.run_daemon("[daemon]\nno_such_key = 1\n")
        datagram = journal.entries.recv(1 << 20)
        self.assertEqual(daemon.wait(), 1)
        self.assertTrue(datagram.startswith(b"MESSAGE\n"), datagram)
        self.assertIn(b"daemon.no_such_key: unknown key", datagram)
        self.assertEqual(entry_of(datagram[datagram.rindex(b"PRIORITY"):])["PRIORITY"], "3")
        self.assertEqual(stderr.recv(1), b"", "nothing is said twice")

    def test_a_line_about_a_server_names_it_and_no_line_is_lost_until_the_end(self):
        daemon, _ = self.run_daemon(f"""[daemon]
user = {DAEMON_ID}
group = {DAEMON_ID}
state_directory = "{self.directory}/state"
audit_log = "{self.directory}/audit.log"
[socket]
path = "{self.directory}/run/cellblock.sock"
[server.gone]
command = ["/bin/true"]
read = ["{self.directory}/missing"]
allow = {{ users = [64101], tools = ["*"] }}
""")
        broken, ready = None, False
        while not (broken and ready):
            entry = entry_of(journal.entries.recv(1 << 20))
            if "is broken" in entry.get("MESSAGE", ""):
                broken = entry
            ready = ready or "ready on" in entry.get("MESSAGE", "")
        self.assertEqual(broken["MCP_SERVER"], "gone")
        self.assertEqual(broken["PRIORITY"], "4")
        self.assertEqual(broken["SYSLOG_IDENTIFIER"], "cellblockd")
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(), 0)


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("unshare"):
        sys.exit(SKIP)
    if os.environ.get("CELLBLOCK_TEST_JOURNAL") != "here":
        inside = dict(os.environ, CELLBLOCK_TEST_JOURNAL="here", ASAN_OPTIONS="detect_leaks=0")
        words = " ".join(["mount -t tmpfs none /run && exec", sys.executable, *sys.argv])
        sys.exit(subprocess.run(["unshare", "--mount", "sh", "-c", words], env=inside, check=False).returncode)
    programs = sys.argv.pop()
    journal = Journal()
    unittest.main()
