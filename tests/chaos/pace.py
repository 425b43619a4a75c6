"""Keeps the load, and all that it sets off, to a share of one processor."""

import asyncio
import time

import machine

MOST_SAVED = 2  # seconds of it that are made up for after a time of less


class Pace:
    def __init__(self, share):
        self.share = share
        self.last, self.used = time.monotonic(), machine.processor_seconds()
        self.left = self.spent = 0

    def look(self):
        now = time.monotonic()
        if now - self.last > 0.2:
            used = machine.processor_seconds()
            spent = max(used - self.used, 0)  # less than nothing where a whole daemon has been killed
            self.left = min(self.left + (now - self.last) * self.share - spent, MOST_SAVED)
            self.last, self.used, self.spent = now, used, self.spent + spent
        return self.left

    async def pause(self):
        while self.look() < 0:
            await asyncio.sleep(0.25)
