"""
Takes events out of a queue. With ACT_ON=each it acts on each event once, as for letters; without, it keeps the newest
of each assessment, as for a copy. Any number of these may run side by side.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import boto3

from events import Event, parse_event
from handle import handle
from handling import Handler, Handling

Rule = Callable[[Event, Handler], str]


class Stopped(BaseException):
    """Somebody has ended a wait."""


class Stop:
    """SIGINT and SIGTERM: a wait ends at once, a handler comes to its end first."""

    def __init__(self) -> None:
        self.asked = False
        self.waiting = False
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, self._ask)

    def _ask(self, *_: object) -> None:
        self.asked = True
        if self.waiting:
            raise Stopped


def main() -> None:
    queue_url, table = os.environ.get("QUEUE_URL"), os.environ.get("TABLE_NAME")
    if not queue_url or not table:
        sys.exit("QUEUE_URL and TABLE_NAME have to be set.")
    region = os.environ.get("AWS_REGION")
    sqs = boto3.client("sqs", region_name=region)
    dynamodb = boto3.client("dynamodb", region_name=region)
    # `consumer` names this task: workers with another task and this table need another name.
    handling = Handling(dynamodb, table, consumer="python-worker")
    rule = handling.once if os.environ.get("ACT_ON") == "each" else handling.in_order

    stop = Stop()
    print(f"Waiting for events in {queue_url}", flush=True)
    try:
        while True:
            stop.waiting = True
            if stop.asked:
                return
            messages = receive(sqs, queue_url)
            stop.waiting = False
            for message in messages:
                work(sqs, queue_url, message, rule)
    except Stopped:
        pass


def receive(sqs: Any, queue_url: str) -> list[dict[str, Any]]:
    try:
        # One at a time: the visibility timeout of a batch's last message would run while the others are handled.
        answer = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=1, WaitTimeSeconds=20)
        return answer.get("Messages", [])
    except Exception as error:
        # SQS is away for a moment, or this worker may not read (yet). It goes on when that is over.
        print(f"not received: {type(error).__name__}", file=sys.stderr, flush=True)
        time.sleep(5)
        return []


def work(sqs: Any, queue_url: str, message: dict[str, Any], rule: Rule) -> None:
    try:
        event = parse_event(message["Body"])
        outcome = rule(event, handle)
        if outcome != "handled":
            print(f"{outcome}  {event.id}", flush=True)
        sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
    except Exception as error:
        # The message stays in the queue, comes again after the visibility timeout, and in the end goes to the
        # dead-letter queue. Only the error's name is logged: its text could quote the event. An event that was handled,
        # and could not be deleted, comes again and is skipped.
        print(f"not done with: {type(error).__name__}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
