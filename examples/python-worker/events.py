"""Reads the event in a message. It needs no library; docs/subscribing.md has the rules."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

SCHEMA = "urn:certification-notifier:schema:certification-event:1"
TYPES = {f"certification.{name}" for name in ("created", "updated", "withdrawn", "restored", "test")}


class NotAnEvent(Exception):
    """The message holds no event. The text names a field and never a value, so it is safe to log."""


@dataclass(frozen=True)
class Event:
    type: str
    id: str
    source: str
    subject: str
    sequence: int
    # None: the event is of a later version than this program, which acknowledges it and does nothing.
    data: dict[str, Any] | None


def parse_event(body: str) -> Event:
    """Takes the body of an SQS message: with raw delivery, or in SNS's envelope."""
    content = _object(body)
    if "specversion" not in content and isinstance(content.get("Message"), str):
        content = _object(content["Message"])
    for name in ("specversion", "type", "id", "source", "subject", "sequence", "dataschema"):
        if not isinstance(content.get(name), str):
            raise NotAnEvent(f"{name} is no text")
    if content["specversion"] != "1.0":
        raise NotAnEvent("specversion is not 1.0")
    if not content["source"].startswith("urn:certification-notifier:"):
        raise NotAnEvent("source is not certification-notifier")
    if not re.fullmatch("[1-9][0-9]{0,17}", content["sequence"]):
        raise NotAnEvent("sequence is no whole number")
    known = content["type"] in TYPES and content["dataschema"] == SCHEMA
    return Event(
        type=content["type"],
        id=content["id"],
        source=content["source"],
        subject=content["subject"],
        sequence=int(content["sequence"]),
        data=_data(content.get("data")) if known else None,
    )


def _object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError:
        # Without the cause, which quotes the text.
        raise NotAnEvent("no JSON") from None
    if not isinstance(content, dict):
        raise NotAnEvent("no JSON object")
    return content


def _data(data: Any) -> dict[str, Any]:
    """Checks what this example reads. The JSON Schema checks all: docs/subscribing.md has the generators."""
    assessment = data.get("assessment") if isinstance(data, dict) else None
    if not isinstance(assessment, dict) or type(assessment.get("id")) is not int:
        raise NotAnEvent("data.assessment.id is no whole number")
    if not isinstance(assessment.get("certified_on"), str):
        raise NotAnEvent("data.assessment.certified_on is no text")
    return data
