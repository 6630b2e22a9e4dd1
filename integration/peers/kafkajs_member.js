// A member of a group, by kafkajs. Its one argument is a PeerConfig in JSON. It
// writes what happens to it to standard output, a line of JSON each, and leaves
// the group on SIGTERM.
'use strict'

const fs = require('fs')
const { Kafka, PartitionAssigners, AssignerProtocol, logLevel } = require('kafkajs')

const config = JSON.parse(process.argv[2])

// What kafkajs calls RoundRobinAssigner, under the name by which other clients
// know it. Its plan is theirs where all members read the same topics.
const roundrobin = ({ cluster }) => ({
  ...PartitionAssigners.roundRobin({ cluster }),
  name: 'roundrobin',
  protocol: ({ topics }) => ({
    name: 'roundrobin',
    metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics }),
  }),
})
const assigners = { roundrobin, RoundRobinAssigner: PartitionAssigners.roundRobin }

let owned = [] // partitions
let leaving = false

// Written at once: what is only buffered is lost with the process.
const report = (kind, partitions, offset = 0) =>
  fs.writeSync(1, JSON.stringify({ kind, at: Date.now(), partitions, offset }) + '\n')

const revoke = () => {
  report('revoked', owned)
  owned = []
}

const main = async () => {
  const kafka = new Kafka({ brokers: config.brokers, clientId: config.name, logLevel: logLevel.WARN })
  const consumer = kafka.consumer({
    groupId: config.group,
    sessionTimeout: config.sessionTimeout,
    heartbeatInterval: config.heartbeatInterval,
    rebalanceTimeout: 60000,
    maxWaitTimeInMs: config.heartbeatInterval, // kafkajs heartbeats between its fetches
    partitionAssigners: [assigners[config.assignor]],
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    owned = payload.memberAssignment[config.topic] || []
    report('assigned', owned)
  })
  consumer.on(consumer.events.REBALANCING, revoke)
  process.on('SIGTERM', async () => {
    leaving = true
    revoke()
    await consumer.disconnect()
    process.exit(0)
  })
  await consumer.connect()
  await consumer.subscribe({ topic: config.topic, fromBeginning: true })
  await consumer.run({
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
      for (const message of batch.messages) {
        if (leaving) return
        report('read', [batch.partition], Number(message.offset))
        resolveOffset(message.offset)
        await heartbeat()
      }
    },
  })
}

main().catch(err => {
  console.error(err)
  process.exit(1)
})
