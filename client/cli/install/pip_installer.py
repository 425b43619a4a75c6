# The server of the cell in which `cellblock add` installs a package of PyPI: it runs pip, and nothing else.
# What it answers is untrusted, like the packages. installer_server.py and pip_registry.py stand before it.

import compileall
import errno
import json
import os
import pathlib
import py_compile
import resource
import subprocess
import sys

TREE = pathlib.Path("/out/tree")
REPORT = pathlib.Path("/tmp/report.json")
MOST_OUTPUT = 16 * 1024
NO_PROCESS = os.strerror(errno.EAGAIN)


def locked(report):
    """What was installed, in pip's form for hash checking."""
    lines = []
    for one in report["install"]:
        archive = one["download_info"].get("archive_info", {})
        digest = archive.get("hash", "").replace("=", ":", 1)
        lines.append(f"{one['metadata']['name']}=={one['metadata']['version']} --hash={digest}\n")
    return "".join(sorted(lines))


# What a package needs by an address is built whatever --only-binary says: by another process, of which there is none.
def alone():
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


# Wheels alone: they have nothing that runs at their installation.
def install(package):
    TREE.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--target", str(TREE), "--only-binary", ":all:",
             "--no-compile", "--report", str(REPORT), "--", package]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          preexec_fn=alone)
    output = done.stdout[-MOST_OUTPUT:].decode(errors="replace")
    if NO_PROCESS in output:
        output += "\nwhat it needs has to be built, which would run its code with a network: allowed: packages of wheels alone"
    if done.returncode != 0:
        return output, True
    (TREE / "requirements.lock").write_text(locked(json.loads(REPORT.read_text())))
    # Nothing can be written there later; the times of files are those of a copy by then.
    compileall.compile_dir(TREE, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    return check(package)


def check(package):
    """Says what the index says of the packages in the lock file."""
    try:
        report = registry_report((TREE / "requirements.lock").read_text(), package)
        pathlib.Path("/out/registry.json").write_text(json.dumps(report))
        return "", False
    except Exception as error:  # the index answers what it likes
        return f"what the index says of its packages could not be checked: {error}", True


serve("pip", {"install": install, "check": check})
