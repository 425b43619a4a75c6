#!/usr/bin/env python3
"""Stands for what a sandbox should keep a program from: targets.py DIRECTORY. Listens on the loopback, on two
socket files in DIRECTORY and on an abstract socket, and writes the probe's --target words, one a line, to
DIRECTORY/words and the same as JSON to DIRECTORY/words.json. Stays until it is ended."""

import json
import os
import pathlib
import signal
import socket
import sys

directory = pathlib.Path(sys.argv[1])
kept = []


def listen(family, kind, address):
    made = socket.socket(family, kind)
    made.bind(address)
    if kind == socket.SOCK_STREAM:
        made.listen(64)
    kept.append(made)
    return made


tcp = listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
abstract = f"cellblock-compare-{os.getpid()}"
listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract)
for name, kind in (("stream", socket.SOCK_STREAM), ("datagrams", socket.SOCK_DGRAM)):
    listen(socket.AF_UNIX, kind, str(directory / name))
    os.chmod(directory / name, 0o777)
(directory / "file").write_text("for everybody\n")

targets = {
    "tcp": f"127.0.0.1:{tcp.getsockname()[1]}", "abstract_socket": abstract,
    "unix_socket": str(directory / "stream"), "datagram_socket": str(directory / "datagrams"),
    "file": str(directory / "file"), "variable": "CELLBLOCK_PLANTED", "host_name": os.uname().nodename,
    "process": str(os.getpid())}
(directory / "words.json").write_text(json.dumps(targets))
(directory / "words").write_text("".join(f"--target\n{kind}={value}\n" for kind, value in targets.items()))
signal.pause()
