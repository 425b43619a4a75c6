"""What the client is told, and what it answers. Texts of servers are untrusted: escape them before they are shown."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from typing import Any, Optional


class CellblockError(Exception):
    """What went wrong; `code` is the name of an ErrorCode of the library ("timed_out")."""

    def __init__(self, code: str, text: str, *, advice: str = "", failure: str = "", rpc_code: int = 0,
                 data: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.advice = advice
        """What to do about it, or empty."""
        self.failure = failure
        """cellblock's stable code of the failure ("quarantined"), or empty."""
        self.rpc_code = rpc_code
        """JSON-RPC `error.code`, or 0."""
        self.data: Any = json.loads(data) if data else None
        """JSON-RPC `error.data`."""


class Verdict(enum.IntEnum):
    """Stricter ones are greater: of all that is said about a request, the strictest counts."""

    ALLOW = 0
    ASK = 1
    DENY = 2


class Kind(enum.IntEnum):
    """What a request is about; OTHER is named by its method."""

    TOOL = 0
    RESOURCE = 1
    PROMPT = 2
    OTHER = 3


@dataclass(frozen=True)
class Decision:
    """A verdict, and why: told to who made the call, and of an ASK to on_approval."""

    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True)
class Rule:
    """About requests of one kind. `name` is exact, or a beginning and `*`; `server` empty: whichever."""

    name: str = "*"
    verdict: Verdict = Verdict.ASK
    reason: str = ""
    server: str = ""
    kind: Kind = Kind.TOOL


@dataclass(frozen=True)
class CallToApprove:
    """A request that has not left yet. `arguments` and `params` are JSON, and the very bytes that will be sent."""

    server: str
    kind: Kind
    method: str
    name: str
    arguments: str
    params: str
    reason: str


@dataclass(frozen=True)
class Tool:
    """A tool, as its server describes it."""

    name: str
    description: str
    definition: dict[str, Any]


@dataclass(frozen=True)
class Progress:
    """How far a call is; `total` None: not known."""

    progress: float
    total: Optional[float]
    message: str


@dataclass(frozen=True)
class Bounds:
    """How large a result may be, in bytes and content blocks; `keep_bytes`: of each part that is left out."""

    max_bytes: int = 40_000
    max_item_bytes: int = 40_000
    max_media_bytes: int = 6_291_456
    max_items: int = 1_000
    keep_bytes: int = 0
    uri: str = ""
    reader: str = ""


@dataclass(frozen=True)
class WithheldPart:
    """The beginning of a part that is left out, as far as it is kept, and how many bytes the whole has."""

    text: bytes
    size: int


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered. `is_error`: it ran, and says that it failed."""

    text: str
    json: str
    is_error: bool = False
    is_bounded: bool = False
    tokens: int = 0
    withheld: list[WithheldPart] = field(default_factory=list)

    @property
    def content(self) -> dict[str, Any]:
        """The whole result."""
        value: dict[str, Any] = json.loads(self.json)
        return value
