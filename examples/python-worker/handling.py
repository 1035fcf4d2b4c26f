"""
Decides which events are handled and which are skipped: the rules of docs/subscribing.md#duplicates-and-order.

A DynamoDB table remembers. Its items are those of `dynamoStore` in certification-notifier/consumer, so workers in
TypeScript, Python and Java can share one table.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from events import Event

Handler = Callable[[Event], None]


class InHand(Exception):
    """Another worker is handling this. Leave the message in its queue: it comes again."""


class ClaimLost(Exception):
    """The handler took longer than its claim, and another worker began. It may have been handled twice."""


class Handling:
    """
    `consumer` names the task: workers that share it share the memory. `claim_for` is how many seconds a handler may
    take: when a worker dies, its event is handled again after that.
    """

    def __init__(self, dynamodb: Any, table: str, consumer: str, claim_for: float = 300) -> None:
        if not re.fullmatch(r"[\w.-]{1,64}", consumer, re.ASCII):
            raise ValueError("consumer must be 1 to 64 letters, digits, '.', '_' and '-'")
        self._dynamodb = dynamodb
        self._table = table
        self._consumer = consumer
        self._claim_for = claim_for

    def once(self, event: Event, handler: Handler) -> str:
        """Handles each event once, by its id. For a worker that acts on each event, such as one that sends letters."""
        return "handled" if self._handle(f"event {event.id}", 1, event, handler) else "duplicate"

    def in_order(self, event: Event, handler: Handler) -> str:
        """
        Handles an event only if its revision is newer than the last one handled of its assessment. For a worker that
        keeps the current state. A duplicate is outdated, too.
        """
        key = f"subject {event.source} {event.subject}"
        return "handled" if self._handle(key, event.sequence, event, handler) else "outdated"

    def _handle(self, key: str, position: int, event: Event, handler: Handler) -> bool:
        owner = str(uuid.uuid4())
        if not self._claim(key, position, owner):
            if self._handled_up_to(key) >= position:
                return False
            raise InHand
        try:
            handler(event)
        except BaseException:
            try:
                self._settle(key, owner)
            except Exception:  # The claim ends by itself, and the handler's failure matters more.
                pass
            raise
        if not self._settle(key, owner, position):
            raise ClaimLost
        return True

    def _claim(self, key: str, position: int, owner: str) -> bool:
        now = time.time()
        return self._update(
            key,
            "SET #owner = :owner, #until = :until",
            # The owner's own claim is a retry by the SDK, whose first answer was lost.
            "(attribute_not_exists(#handled) OR #handled < :position) AND "
            "(attribute_not_exists(#owner) OR #until <= :now OR #owner = :owner)",
            {"#handled": "handled", "#owner": "claim_owner", "#until": "claim_until"},
            {
                ":owner": {"S": owner},
                ":until": _milliseconds(now + self._claim_for),
                ":now": _milliseconds(now),
                ":position": {"N": str(position)},
            },
        )

    def _settle(self, key: str, owner: str, position: int | None = None) -> bool:
        """Ends a claim, and records the position if it was handled. False: another worker has taken it over."""
        names = {"#owner": "claim_owner", "#until": "claim_until"}
        values = {":owner": {"S": owner}, ":now": _milliseconds(time.time())}
        update = "SET #until = :now"
        if position is not None:
            update += ", #handled = :position"
            names["#handled"] = "handled"
            values[":position"] = {"N": str(position)}
        return self._update(key, update, "#owner = :owner", names, values)

    def _update(
        self, key: str, update: str, condition: str, names: dict[str, str], values: dict[str, Any]
    ) -> bool:
        try:
            self._dynamodb.update_item(
                TableName=self._table,
                Key=self._key(key),
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=values,
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                return False
            raise
        return True

    def _handled_up_to(self, key: str) -> int:
        answer = self._dynamodb.get_item(TableName=self._table, Key=self._key(key), ConsistentRead=True)
        return int(answer.get("Item", {}).get("handled", {}).get("N", 0))

    def _key(self, key: str) -> dict[str, Any]:
        return {"pk": {"S": f"HANDLED#{self._consumer}#{key}"}}


def _milliseconds(seconds: float) -> dict[str, str]:
    return {"N": str(round(seconds * 1000))}
