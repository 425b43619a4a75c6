"""asyncio client of cellblock: Client."""

from .client import Client
from .values import (Bounds, CallToApprove, CellblockError, Decision, Progress, Rule, Tool, ToolResult, Verdict,
                     WithheldPart)

__all__ = ["Bounds", "CallToApprove", "CellblockError", "Client", "Decision", "Progress", "Rule", "Tool", "ToolResult",
           "Verdict", "WithheldPart"]
