"""A load with something that goes wrong in the midst of it."""

import asyncio


async def one_round(world, event):
    """Gives the faults: of hosts, and where the event may not cut them off, requests that were read and never answered."""
    running = asyncio.create_task(world.load.run())
    while not world.load.is_past(0.2) and not running.done():
        await asyncio.sleep(0.01)
    try:
        await event.act(world)
    finally:
        await running
    ledger = world.ledger
    faults = [f"{event.name}: {fault}" for fault in ledger.faults]
    if not event.cuts:
        faults += [f"{event.name}: never answered: {what}" for what in ledger.ignored]
        faults += [f"{event.name}: a line that is no message: {what}" for what in ledger.cut_lines]
    for told in [ledger.faults, ledger.ignored, ledger.cut_lines]:
        told.clear()
    return faults
