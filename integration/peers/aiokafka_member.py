"""A member of a group, by aiokafka.

Its one argument is a PeerConfig in JSON. It writes what happens to it to standard
output, a line of JSON each, and leaves the group on SIGTERM.
"""

import asyncio
import json
import logging
import signal
import sys
import time

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

ASSIGNORS = {
    a.name: a
    for a in (RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor)
}


def report(kind, partitions, offset=0):
    line = {"kind": kind, "at": time.time() * 1000, "partitions": partitions, "offset": offset}
    print(json.dumps(line), flush=True)


class Listener(ConsumerRebalanceListener):
    """Reports what the member is given, and what it gives back.

    aiokafka has committed and has stopped reading when it says what is revoked.
    """

    async def on_partitions_revoked(self, revoked):
        report("revoked", [p.partition for p in revoked])

    async def on_partitions_assigned(self, assigned):
        report("assigned", [p.partition for p in assigned])


async def read(consumer):
    async for record in consumer:
        report("read", [record.partition], record.offset)


async def main(config):
    consumer = AIOKafkaConsumer(
        bootstrap_servers=config["brokers"],
        client_id=config["name"],
        group_id=config["group"],
        auto_offset_reset="earliest",
        session_timeout_ms=config["sessionTimeout"],
        heartbeat_interval_ms=config["heartbeatInterval"],
        partition_assignment_strategy=[ASSIGNORS[config["assignor"]]],
    )
    consumer.subscribe([config["topic"]], listener=Listener())
    await consumer.start()
    reading = asyncio.create_task(read(consumer))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, reading.cancel)
    try:
        await reading
    except asyncio.CancelledError:
        report("revoked", [p.partition for p in consumer.assignment()])
        await consumer.stop()


logging.basicConfig(level=logging.WARNING)
asyncio.run(main(json.loads(sys.argv[1])))
