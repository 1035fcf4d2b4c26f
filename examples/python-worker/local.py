"""
For trying it out: connects to a certification-notifier that runs on this machine (`npm start` in its folder), makes a
queue there, subscribes it, makes a table, and starts the worker. On AWS, start worker.py and delete this file.
"""

import json
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import boto3

import worker

NAME = "python-worker"


def connect() -> None:
    folder = os.environ.get("NOTIFIER_LOCAL") or Path(__file__).parent / "../../.local"
    try:
        instance = json.loads(Path(folder, "instance.json").read_text())
    except OSError:
        sys.exit("Start certification-notifier first (`npm start` in its folder), or start worker.py with QUEUE_URL.")
    functions = instance.get("aws", {}).get("functions", {}).values()
    poll = next((one for one in functions if "EVENTS_TOPIC_ARN" in one), None)
    if poll is None:
        sys.exit("certification-notifier is still starting. Try again in a moment.")
    # Region, endpoints and credentials of the embedded AWS: the SDK finds them there.
    os.environ.update({name: value for name, value in poll.items() if name.startswith("AWS_")})

    region = poll["AWS_REGION"]
    sqs, sns, dynamodb = (boto3.client(name, region_name=region) for name in ("sqs", "sns", "dynamodb"))
    path = urlsplit(sqs.create_queue(QueueName=NAME)["QueueUrl"]).path
    # The embedded SQS names its queues by a host that not every machine resolves.
    queue_url = poll["AWS_ENDPOINT_URL_SQS"] + path
    attributes = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["QueueArn"])["Attributes"]
    sns.subscribe(
        TopicArn=poll["EVENTS_TOPIC_ARN"],
        Protocol="sqs",
        Endpoint=attributes["QueueArn"],
        Attributes={"RawMessageDelivery": "true"},
    )
    try:
        dynamodb.create_table(
            TableName=NAME,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        )
    except dynamodb.exceptions.ResourceInUseException:
        pass
    os.environ.update(QUEUE_URL=queue_url, TABLE_NAME=NAME)


if __name__ == "__main__":
    connect()
    worker.main()
