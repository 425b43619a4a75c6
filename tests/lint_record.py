"""What clang-tidy had nothing to say about, kept between runs and clones: a file is not read again while
it, all that it includes, its options and clang-tidy are what they were."""

import hashlib
import os
import pathlib
import subprocess
import time

KEPT = 60 * 24 * 3600  # seconds without use


class LintRecord:
    """`root`: of the tree; `build`: where its files were compiled by ninja, which knows what they include;
    `rules`: all that decides besides the files."""

    def __init__(self, root, build, rules):
        cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        self.directory = pathlib.Path(cache) / "cellblock-lint"
        self.directory.mkdir(parents=True, exist_ok=True)
        self.root = root
        self.build = build.resolve()
        version = subprocess.run(["clang-tidy-19", "--version"], check=True, capture_output=True).stdout
        self.rules = version + (root / ".clang-tidy").read_bytes() + repr(rules).encode()
        self.included = includes_of_objects(build)
        self.digests = {}
        self.forget_old()

    def knows(self, source):
        key = self.key(source)
        if key is None or not (self.directory / key).exists():
            return False
        os.utime(self.directory / key)
        return True

    def add(self, source):
        key = self.key(source)
        if key is not None:
            (self.directory / key).touch()

    def key(self, source):
        """None: nothing was compiled, so nobody knows what it includes."""
        included = self.included.get(source.output)
        if included is None:
            return None
        together = hashlib.sha256(self.rules)
        # Not where the tree is.
        together.update(repr(source.arguments).replace(str(self.root), ".").encode())
        for name in included:
            path = (self.build / name).resolve()
            together.update(f"\n{os.path.relpath(path, self.root)} {self.digest(path)}".encode())
        return together.hexdigest()

    def digest(self, path):
        if path not in self.digests:
            known = path.exists()
            self.digests[path] = hashlib.sha256(path.read_bytes()).hexdigest() if known else "gone"
        return self.digests[path]

    def forget_old(self):
        for entry in self.directory.iterdir():
            if time.time() - entry.stat().st_mtime > KEPT:
                entry.unlink(missing_ok=True)


def includes_of_objects(build):
    """Those that are up to date."""
    told = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True,
                          text=True).stdout
    found, names = {}, None
    for line in told.splitlines():
        if line.startswith("    "):
            if names is not None:
                names.append(line.strip())
        elif ": #deps" in line:
            names = [] if line.endswith("(VALID)") else None
            if names is not None:
                found[line.split(": #deps")[0]] = names
    return found
