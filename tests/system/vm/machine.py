#!/usr/bin/python3
"""A virtual machine, emulated in software, on an image that image.sh has made.

  machine.py save IMAGE                            boots it and saves the booted state
  machine.py run IMAGE PAYLOAD.TAR BOOTS SECONDS   restores that, unpacks the archive, runs its checks, up to BOOTS boots

Exit status: that of the checks; 125 if the machine itself failed.
"""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

MEMORY = 2048  # MiB
PAYLOAD_BYTES = 2 << 30  # the size of the disk, the same when the state is saved and when it is restored
# Without address space randomization the emulator uses again what it has translated.
KERNEL = ("root=/dev/vda rw rootfstype=ext4 console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off tsc=reliable "
          "norandmaps systemd.show_status=0")


class Broken(Exception):
    """The machine itself failed."""


class Machine:
    def __init__(self, image, work, payload, saved):
        self.work = work
        self.agent, agent = socket.socketpair()
        self.monitor, monitor = socket.socketpair()
        self.replies = self.monitor.makefile("r")
        self.rest = b""
        ram = f"memory-backend-file,id=ram,size={MEMORY}M,mem-path={image}/ram,share={'off' if saved else 'on'}"
        disk = f"file={image}/disk,format=raw,if=none,id=disk,cache=unsafe" + (",snapshot=on" if saved else "")
        command = [
            "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none",
            "-machine", "q35,memory-backend=ram", "-object", ram, "-m", str(MEMORY),
            "-accel", "tcg,thread=single,tb-size=512", "-cpu", "Nehalem,+rdrand", "-smp", "1",
            "-kernel", f"{image}/vmlinuz", "-initrd", f"{image}/initrd", "-append", KERNEL,
            "-drive", disk, "-device", "virtio-blk-pci,drive=disk",
            "-drive", f"file={payload},format=raw,if=none,id=payload,cache=unsafe,read-only=on",
            "-device", "virtio-blk-pci,drive=payload", "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=agent,fd={agent.fileno()}", "-device", "virtserialport,chardev=agent,name=checks",
            "-chardev", f"socket,id=monitor,fd={monitor.fileno()}", "-mon", "chardev=monitor,mode=control",
            "-serial", f"file:{work}/console"]
        self.process = subprocess.Popen(command + (["-incoming", "defer"] if saved else []), stdin=subprocess.DEVNULL,
                                        pass_fds=(agent.fileno(), monitor.fileno()), env={**os.environ, "TMPDIR": work})
        agent.close()
        monitor.close()
        self.reply()  # the greeting
        self.tell("qmp_capabilities")

    def reply(self):
        line = self.replies.readline()
        if not line:
            raise Broken("the emulator has ended")
        return json.loads(line)

    def tell(self, command, **arguments):
        self.monitor.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            reply = self.reply()
            if "error" in reply:
                raise Broken(f"{command}: {reply['error']['desc']}")
            if "return" in reply:
                return reply["return"]

    def migrate(self, command, uri):
        """The memory is the file itself (x-ignore-shared): only the devices' state is written or read."""
        self.tell("migrate-set-capabilities", capabilities=[{"capability": "x-ignore-shared", "state": True}])
        self.tell(command, uri=uri)
        while (state := self.tell("query-migrate").get("status")) != "completed":
            if state in ("failed", "cancelled"):
                raise Broken(f"{command} {state}")
            time.sleep(0.01)

    def lines(self, until):
        """What the agent and the checks say."""
        while True:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                yield line
            ready = select.select([self.agent], [], [], max(0, until - time.monotonic()))[0]
            if not ready:
                raise Broken("it took too long")
            data = self.agent.recv(65536)
            if not data:
                raise Broken("the emulator has ended")
            self.rest += data

    def up(self, until):
        for line in self.lines(until):
            if line.startswith(b"\1up "):
                return line[4:].decode()

    def start_checks(self, boot):
        self.agent.sendall(f"{time.time():.3f} {boot}\n".encode())

    def end(self):
        self.process.kill()
        self.process.wait()


def save(image, work):
    payload = f"{work}/payload"
    with open(payload, "wb") as disk:
        disk.truncate(PAYLOAD_BYTES)
    machine = Machine(image, work, payload, saved=False)
    try:
        started = time.monotonic()
        state = machine.up(started + 600)
        print(f"booted in {time.monotonic() - started:.0f} s: {state}", flush=True)
        if state != "running":
            raise Broken("the system is not in order")
        machine.tell("stop")
        machine.migrate("migrate", f"exec:cat >'{image}/state'")
    finally:
        machine.end()
    return 0


def run(image, work, archive, boots, seconds):
    payload = f"{work}/payload"
    shutil.copyfile(archive, payload)
    os.truncate(payload, PAYLOAD_BYTES)
    machine = Machine(image, work, payload, saved=True)
    try:
        machine.migrate("migrate-incoming", f"exec:cat '{image}/state'")
        machine.tell("cont")
        boot = 1
        machine.start_checks(boot)
        for line in machine.lines(time.monotonic() + seconds):
            if line.startswith(b"\1ended "):
                return int(line[7:])
            if not line.startswith(b"\1up "):
                print(line.decode(errors="replace"), flush=True)
                continue
            boot += 1
            if boot > boots:
                raise Broken("it booted once too often")
            machine.start_checks(boot)
    finally:
        machine.end()


def main(what, image, *rest):
    work = tempfile.mkdtemp(prefix="cellblock-machine-")
    try:
        if what == "save":
            return save(image, work)
        archive, boots, seconds = rest
        return run(image, work, archive, int(boots), int(seconds))
    except Broken as failure:
        print(f"the virtual machine failed: {failure}", file=sys.stderr)
        with open(f"{work}/console", errors="replace") as console:
            sys.stderr.writelines(console.readlines()[-40:])
        return 125
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
