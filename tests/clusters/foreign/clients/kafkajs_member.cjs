/**
 * One member of a group by kafkajs. It leaves cleanly at SIGTERM.
 *
 * Arguments: bootstrap, group, topic, client id.
 */
const { Kafka, logLevel } = require('kafkajs');

const [bootstrap, groupId, topic, clientId] = process.argv.slice(2);
const kafka = new Kafka({ clientId, brokers: [bootstrap], logLevel: logLevel.ERROR });
const consumer = kafka.consumer({ groupId, sessionTimeout: 6000, heartbeatInterval: 1000, rebalanceTimeout: 6000 });

async function main() {
  process.once('SIGTERM', () => consumer.disconnect().then(() => process.exit(0)));
  await consumer.connect();
  await consumer.subscribe({ topics: [topic] });
  await consumer.run({ eachMessage: async () => {} });
}

main();
