"""Processes and mounts of its own for this test: whatever ends it, nothing of it is left on the machine."""

import ctypes
import os
import signal
import sys

MARK = "CELLBLOCK_CHAOS_APART"
PR_SET_PDEATHSIG = 1


def run_apart():
    """Gives back only inside."""
    if os.environ.get(MARK):
        return
    os.environ[MARK] = "yes"
    os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                          sys.executable, *sys.argv])


def end_with_parent():
    """Again, after a change of ids: by that the kernel forgets what `unshare --kill-child` has asked for."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def reap_orphan(pid):
    """Of what a killed parent leaves, the first process of a pid namespace is the parent; asyncio waits for its own only."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
