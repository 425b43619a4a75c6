#!/usr/bin/env python3
"""Prints an engine's default seccomp profile with the system calls that cells are made of: seccomp_profile.py FILE

FILE is /usr/share/containers/seccomp.json (Podman), or the profiles/seccomp/default.json of Docker's sources. Everything else
stays as the engine has it. The calls act on namespaces that cellblock makes itself: none of them needs a capability of the
container, and the container gets none."""

import json
import sys

CALLS = [
    "clone3", "unshare", "setns",  # namespaces
    "mount", "umount2", "pivot_root", "open_tree", "move_mount", "mount_setattr",  # what a cell sees of the files
    "sethostname",  # a name that tells nothing
    "keyctl",  # an empty keyring
]


def with_calls(profile):
    rules = [dict(rule, names=[name for name in rule["names"] if name not in CALLS]) for rule in profile["syscalls"]]
    allowed = {"names": CALLS, "action": "SCMP_ACT_ALLOW", "args": [], "comment": "cellblock", "includes": {}, "excludes": {}}
    return dict(profile, syscalls=[rule for rule in rules if rule["names"]] + [allowed])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            profile = with_calls(json.load(file))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{sys.argv[1]}: no seccomp profile of a container engine: {error}")
    json.dump(profile, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
