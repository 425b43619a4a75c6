"""What can be seen of processes from outside: who runs, below whom, with which descriptors and mounts."""

import collections
import os
import pathlib
import re

from apart import reap_orphan

PROC = pathlib.Path("/proc")


def read(path):
    """Empty of a process that has gone, also where it goes while it is read."""
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def field(pid, key):
    found = re.search(rf"^{key}:\s*(.*)$", read(PROC / str(pid) / "status"), re.MULTILINE)
    return found.group(1) if found else ""


def name(pid):
    """As the kernel has it: cut at 15 bytes."""
    return field(pid, "Name")


def is_alive(pid):
    return field(pid, "State")[:1] not in ("", "Z", "X")


def processes():
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def of_users(is_wanted):
    """The processes that run as a user for whom `is_wanted` holds, dead ones that their parent has not reaped included."""
    found = []
    for pid in processes():
        uid = field(pid, "Uid").split()
        if uid and is_wanted(int(uid[0])) and not was_orphan(pid):
            found.append(pid)
    return found


def was_orphan(pid):
    """Dead, and this process's to reap, which has come to it when its parent died."""
    if field(pid, "State")[:1] != "Z" or field(pid, "PPid") != str(os.getpid()):
        return False
    reap_orphan(pid)
    return True


def parents():
    return {pid: int(field(pid, "PPid") or 0) for pid in processes()}


def descendants(root):
    children = collections.defaultdict(list)
    for pid, parent in parents().items():
        children[parent].append(pid)
    found = list(children[root])
    for pid in found:
        found += children[pid]
    return found


def words(pid):
    """The command line, and the name where a process has taken itself out of its command line."""
    return read(PROC / str(pid) / "cmdline").replace("\0", " ").strip() or name(pid)


def describe(pid):
    return f"{pid} {words(pid)} ({field(pid, 'State')}, uid {field(pid, 'Uid').split()[:1]})"


def descriptors(pid):
    """How many it has open of each kind of thing."""
    kinds = collections.Counter()
    try:
        for entry in os.scandir(PROC / str(pid) / "fd"):
            try:
                kinds[kind_of(os.readlink(entry.path))] += 1
            except OSError:
                pass
    except OSError:
        pass
    return kinds


def kind_of(target):
    return re.sub(r":?\[\d+\]$", "", target) if not target.startswith("/") else re.sub(r"\d+", "N", target)


def mounts(pid):
    return read(PROC / str(pid) / "mountinfo").splitlines()


def resident_kib(pid):
    """What only this process has in memory and its share of what it has with others; and of that, what is no file's."""
    rollup = read(PROC / str(pid) / "smaps_rollup")
    found = [re.search(rf"^{key}:\s+(\d+)", rollup, re.MULTILINE) for key in ["Pss", "Pss_Anon"]]
    return [int(match.group(1)) if match else 0 for match in found]


def processor_seconds():
    """Of all that run, and of what they have waited for."""
    ticks = 0
    for pid in processes():
        after_name = read(PROC / str(pid) / "stat").rpartition(")")[2].split()
        ticks += sum(map(int, after_name[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def files_of(directory, is_wanted):
    """Those below a directory that belong to somebody for whom `is_wanted` holds."""
    found = []
    for place, folders, names in os.walk(directory):
        for entry in folders + names:
            path = os.path.join(place, entry)
            try:
                if is_wanted(os.lstat(path).st_uid):
                    found.append(path)
            except OSError:
                pass
    return found
