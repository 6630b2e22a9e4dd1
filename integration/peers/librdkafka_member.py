"""A member of a group, by librdkafka.

Its one argument is a PeerConfig in JSON. It writes what happens to it to standard
output, a line of JSON each, and leaves the group on SIGTERM.
"""

import json
import signal
import sys
import time

from confluent_kafka import Consumer

running = True


def report(kind, partitions, offset=0):
    line = {"kind": kind, "at": time.time() * 1000, "partitions": partitions, "offset": offset}
    print(json.dumps(line), flush=True)


def assigned(_, partitions):
    report("assigned", [p.partition for p in partitions])


def revoked(_, partitions):
    report("revoked", [p.partition for p in partitions])


def stop(*_):
    global running
    running = False


def main(config):
    signal.signal(signal.SIGTERM, stop)
    consumer = Consumer({
        "bootstrap.servers": ",".join(config["brokers"]),
        "client.id": config["name"],
        "group.id": config["group"],
        "auto.offset.reset": "earliest",
        "session.timeout.ms": config["sessionTimeout"],
        "heartbeat.interval.ms": config["heartbeatInterval"],
        "partition.assignment.strategy": config["assignor"],
    })
    consumer.subscribe([config["topic"]], on_assign=assigned, on_revoke=revoked)
    while running:
        record = consumer.poll(0.1)
        if record is None:
            continue
        if record.error():
            print(record.error(), file=sys.stderr)
            continue
        report("read", [record.partition()], record.offset())
    consumer.close()  # says what is revoked, and commits


main(json.loads(sys.argv[1]))
