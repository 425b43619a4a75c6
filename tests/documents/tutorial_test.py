#!/usr/bin/env python3
"""The tutorial, typed as its reader does: tutorial_test.py BIN, the directory of the programs.

Every command of docs/tutorial.md is run in one shell, with an empty home directory and without root, and every line that the page
shows below a command has to be in what that command printed. As root it runs under an id that is nobody's. Exit status 77: this
machine cannot make a cell without root (it says why)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNUSED_ID = 64117
# What differs from machine to machine in what is shown: paths, times, numbers, and what the page leaves out.
VARIABLE = re.compile(r"/home/alice|/run/user/1000|\b[0-9a-f]{12}\b|\d+|\.\.\.$")


def commands_of(page):
    """Each command with the lines that are shown below it; a here-document belongs to its command."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        for text in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            here = re.match(r".*<<'?EOF'?\n.*?^EOF\n", text, re.DOTALL | re.MULTILINE)
            command = here.group() if here else text.split("\n", 1)[0] + "\n"
            found.append((command, text[len(command):].splitlines()))
    return found


def pattern_of(line):
    return ".*".join(re.escape(part) for part in VARIABLE.split(line.strip()))


def lowered():
    """What comes before a command that must not run as root."""
    return ["setpriv", "--reuid", str(UNUSED_ID), "--regid", str(UNUSED_ID), "--clear-groups"] if os.geteuid() == 0 else []


def works(*command):
    return subprocess.run([*lowered(), *command], capture_output=True, check=False).returncode == 0


def why_not(programs):
    """Why this machine cannot run it, or nothing."""
    if not pathlib.Path("/usr/bin/python3").exists():
        return "needs /usr/bin/python3"
    if not works("test", "-x", f"{programs}/cellblockd"):
        return f"an ordinary user cannot run {programs}/cellblockd"
    if not works("unshare", "--user", "--map-root-user", "true"):
        return "needs user namespaces for users without rights"
    return ""


class Shell:
    """One shell; the output of each command ends with a mark and the status."""

    MARK = "tutorial-test-mark"

    def __init__(self, programs, home):
        runtime = home / "run"
        for directory, mode in ((home, 0o755), (runtime, 0o700)):
            directory.mkdir(mode=mode, exist_ok=True)
            directory.chmod(mode)
        if os.geteuid() == 0:
            for directory in (home, runtime):
                os.chown(directory, UNUSED_ID, UNUSED_ID)
        environment = {"HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "LANG": "C.UTF-8", "PATH": f"{programs}:/usr/bin:/bin"}
        self.process = subprocess.Popen([*lowered(), "bash", "--norc"], cwd=home, env=environment, text=True, umask=0o022,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.say("set -m\n")

    def say(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def lines_until(self, pattern):
        lines = []
        for line in self.process.stdout:
            lines.append(line.rstrip("\n"))
            if re.search(pattern, line):
                return lines
        raise AssertionError("the shell ended:\n" + "\n".join(lines))

    def run(self, command):
        if command.endswith("&\n"):  # until it is ready, as the reader waits for the line
            self.say(command)
            return self.lines_until(r"^cellblockd: (ready|error|not)")
        self.say(command + f"echo {self.MARK} $?\n")
        return self.lines_until(rf"^{self.MARK} \d+$")

    def end(self):
        self.say("kill %1 2>/dev/null; wait\n")
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        self.process.wait()


class Tutorial(unittest.TestCase):
    programs = ""

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="cellblock-tutorial-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.shell = Shell(self.programs, self.home)
        self.addCleanup(self.shell.end)

    def test_every_command_prints_what_the_page_shows_below_it(self):
        page = (ROOT / "docs/tutorial.md").read_text()
        commands = commands_of(page)
        self.assertGreater(len(commands), 15)
        for command, shown in commands:
            printed = self.shell.run(command)
            for line in shown:
                with self.subTest(command=command, shown=line):
                    self.assertTrue(any(re.search(pattern_of(line), one) for one in printed), "printed:\n" + "\n".join(printed))


if __name__ == "__main__":
    Tutorial.programs = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if reason := why_not(Tutorial.programs):
        print("skipped:", reason)
        sys.exit(77)
    sys.exit(unittest.main(verbosity=1))
