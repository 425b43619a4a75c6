"""What a soak samples: a row of numbers at a time, in a CSV file; and whether a number has grown."""

import csv
import os
import statistics

import machine
from daemon import USERS, is_own
from leaks import groups_of

GATEWAYS = [f"gateway_{number}" for number, _ in enumerate(USERS, 1)]
PARTS = ["supervisor", "launcher", *GATEWAYS, "audit", "http", "metrics"]
OF_A_PART = ["pss_kib", "anon_kib", "fds", "pid"]
OF_ALL = ["processes", "cells", "groups", "mounts_here", "mounts_launcher", "files_state", "files_run", "files_tmp"]
COUNTED = ["minutes", "processor_seconds", "calls", "http_calls", "failures", "cut", "rounds", "kills"]
COLUMNS = COUNTED + OF_ALL + [f"{part}_{what}" for part in PARTS for what in OF_A_PART]


def gateway_of(daemon, pids, user):
    """It alone has the place of that user's catalogues."""
    return [pid for pid in pids if any(line.split()[3].endswith(f"/{user}") for line in machine.mounts(pid))]


def parts_of(daemon):
    """Part -> its process."""
    found = {"supervisor": [daemon.process.pid], "launcher": daemon.programs("cellblock-launcher")}
    gateways = daemon.programs("cellblock-gateway")
    found |= {name: gateway_of(daemon, gateways, user) for name, user in zip(GATEWAYS, USERS)}
    found |= {part: daemon.programs(f"cellblock-{part}") for part in ["audit", "http", "metrics"]}
    return {part: pids[0] for part, pids in found.items() if pids}


def files_below(directory):
    return sum(len(names) + len(folders) for _, folders, names in os.walk(directory))


def row_of(daemon):
    row = {"processes": len(machine.of_users(is_own)), "cells": len(daemon.programs("cellblock-guardian")),
           "groups": groups_of(daemon.group), "mounts_here": len(machine.mounts("self")),
           "files_state": files_below(daemon.directory / "state"), "files_run": files_below(daemon.directory / "run"),
           "files_tmp": sum(len(machine.files_of(place, is_own)) for place in ["/dev/shm", "/tmp"])}
    for part, pid in parts_of(daemon).items():
        pss, anon = machine.resident_kib(pid)
        if pss:  # else it has just ended
            row |= {f"{part}_pss_kib": pss, f"{part}_anon_kib": anon, f"{part}_fds": machine.descriptors(pid).total(),
                    f"{part}_pid": pid}
        if pss and part == "launcher":
            row["mounts_launcher"] = len(machine.mounts(pid))
    return row


class Samples:
    def __init__(self, path):
        self.rows = []
        self.file = open(path, "w", newline="", encoding="ascii", buffering=1)
        self.writer = csv.DictWriter(self.file, COLUMNS)
        self.writer.writeheader()

    def add(self, row):
        self.rows.append(row)
        self.writer.writerow(row)

    def quarter(self, number, column):
        """Of the time, from 0 on."""
        last = self.rows[-1]["minutes"]
        return [row[column] for row in self.rows if column in row and number <= 4 * row["minutes"] / last < number + 1.001]

    def judged(self):
        """(column, median of the second quarter, of the last, the bound, processes it was in meanwhile)"""
        for column in OF_ALL + [f"{part}_{what}" for part in PARTS for what in ["pss_kib", "anon_kib", "fds"]]:
            before, after = self.quarter(1, column), self.quarter(3, column)
            if before and after:
                part = column.removesuffix("_pss_kib").removesuffix("_anon_kib").removesuffix("_fds")
                pids = {row.get(f"{part}_pid") for row in self.rows[len(self.rows) // 4:]} - {None}
                begin = statistics.median(before)
                slack = 2048 if column.endswith("_kib") else 8
                yield column, begin, statistics.median(after), begin * 1.1 + slack, len(pids)


def table_of(judged):
    lines = [f"{'':24} {'2nd quarter':>12} {'last quarter':>12} {'at most':>9} {'processes':>9}"]
    for column, begin, end, most, pids in judged:
        lines.append(f"{column:24} {begin:12.0f} {end:12.0f} {most:9.0f} {pids or '':>9}{'  GROWN' if end > most else ''}")
    return "\n".join(lines)
