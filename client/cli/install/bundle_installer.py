# The server of the cell in which `cellblock add` unpacks an MCP bundle: it reads one zip archive, and nothing else.
# What it answers is untrusted, like the archive. installer_server.py stands before it.

import os
import pathlib
import shutil
import stat
import zipfile

BUNDLE = "/bundle/bundle.mcpb"
TREE = pathlib.Path("/out/tree")
MOST_ENTRIES = 200_000
MOST_BYTES = 2 << 30
MOST_LINK = 4096


class Refused(Exception):
    pass


def place_of(entry):
    """Below the tree, by plain names alone."""
    parts = entry.filename.rstrip("/").split("/")
    if parts[0] == ".":
        parts = parts[1:]
    if entry.filename.startswith("/") or "\\" in entry.filename or any(part in ("", ".", "..") for part in parts):
        raise Refused(f"{entry.filename!r} is no path inside of the bundle")
    return TREE.joinpath(*parts)


def check(entry):
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        raise Refused(f"{entry.filename!r} is no file, directory or link")
    if mode & (stat.S_ISUID | stat.S_ISGID) and not entry.is_dir():
        raise Refused(f"{entry.filename!r} is set-user-ID or set-group-ID")


def write_file(bundle, entry, place):
    place.parent.mkdir(parents=True, exist_ok=True)
    with bundle.open(entry) as source, open(place, "xb") as target:
        shutil.copyfileobj(source, target)
    place.chmod(0o755 if (entry.external_attr >> 16) & 0o111 else 0o644)


def check_amount(entries):
    if len(entries) > MOST_ENTRIES or sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise Refused("it has more than 200000 files or 2 GiB")


# Links last: nothing is written through one. Where they lead is looked at when the tree is copied.
def unpack():
    with zipfile.ZipFile(BUNDLE) as bundle:
        entries = bundle.infolist()
        check_amount(entries)
        links = []
        for entry in entries:
            check(entry)
            place = place_of(entry)
            if entry.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            elif stat.S_ISLNK(entry.external_attr >> 16):
                links.append((place, bundle.open(entry).read(MOST_LINK)))
            else:
                write_file(bundle, entry, place)
        for place, target in links:
            place.parent.mkdir(parents=True, exist_ok=True)
            os.symlink(target.decode(), place)


def install(_package):
    TREE.mkdir(parents=True, exist_ok=True)
    try:
        unpack()
    except FileExistsError as error:
        return f"{os.path.relpath(error.filename, TREE)} is in the bundle twice", True
    except Refused as error:
        return str(error), True
    except Exception as error:  # each decompressor has errors of its own
        return f"{type(error).__name__}: {error}", True
    return "", False


serve("bundle", {"install": install})
