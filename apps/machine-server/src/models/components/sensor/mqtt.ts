/**
 * `core:builtin:mqtt`: the newest message of a topic of an MQTT broker (MQTT 3.1.1).
 *
 * Attributes: `url` (required; `mqtt://host:1883`, `mqtts://`, `ws://` or `wss://`), `topic` (required); `username`, `password`,
 * `client_id` (default: random), `qos` (0, 1 or 2; default 0); `values` (object: name → JSON path) picks values of the message, which is
 * JSON. With wildcards in `topic`, a reading has the newest message of each topic, under the name of the topic with `_` for `/` and `.`; at
 * most 1,000 topics. `timeout_ms` (default 10,000): the longest wait for the broker, and for the first message; `max_age_ms` (default 0:
 * any age): an older message is an error; `max_bytes` (default 65,536) of a message. After a lost connection, it reconnects every 2 s.
 */
import {
  type Clock,
  dataLoss,
  errorText,
  type Log,
  PlatformError,
  resourceExhausted,
  unavailable,
} from '@platform/base';
import type { Document, Sensor } from '@platform/resources';
import type { MqttClient } from 'mqtt';
import type { Model } from '../../../graph/model.ts';
import { withTimeout } from '../../../graph/with-timeout.ts';
import { nameOf, parseUrl } from '../../../hardware/fetch-text.ts';
import { reasonOf } from '../../../hardware/line.ts';
import { readAttributes, required, type ValuesOf } from '../../attributes.ts';
import { type JsonPath, parseJsonPaths } from '../../json-path.ts';
import { createNewest, type Newest } from '../../newest.ts';
import { noCommands } from '../../no-commands.ts';
import { valuesOf } from '../../values-of.ts';

const fields = {
  url: { kind: 'string' },
  topic: { kind: 'string' },
  username: { kind: 'string' },
  password: { kind: 'string' },
  client_id: { kind: 'string' },
  qos: { kind: 'int', default: 0, min: 0, max: 2 },
  values: { kind: 'object' },
  timeout_ms: { kind: 'int', default: 10_000, min: 1, max: 600_000 },
  max_age_ms: { kind: 'int', default: 0, min: 0 },
  max_bytes: { kind: 'int', default: 65_536, min: 1, max: 16_777_216 },
} as const;

const mostTopics = 1_000;
const reconnectMs = 2_000;

export const createMqttSensor = (clock: Clock): Model => ({
  api: 'core:component:sensor',
  model: 'core:builtin:mqtt',
  fields,
  async build({ attributes }, { log }): Promise<Sensor> {
    const given = readAttributes(fields, attributes);
    const url = parseUrl(required(given.url, 'url', 'the address of a broker'), 'attributes.url', [
      'mqtt:',
      'mqtts:',
      'ws:',
      'wss:',
    ]);
    const topic = required(given.topic, 'topic', 'a topic');
    const source = `${nameOf(url)} ${topic}`;
    const newest = createNewest<Document>({
      ...{ source, expected: 'a message', waitMs: given.timeout_ms, maxAgeMs: given.max_age_ms, clock },
    });
    const client = await open(url, given);
    const take = messages({
      topic,
      source,
      maxBytes: given.max_bytes,
      paths: parseJsonPaths(given.values, 'attributes.values'),
      newest,
    });
    client.on('message', (from, payload) => take(from, payload));
    follow(client, nameOf(url), newest, log);
    const sensor: Sensor = {
      readings: () => newest.read(),
      doCommand: noCommands('mqtt sensors have no commands'),
      async close() {
        newest.fail(unavailable(`${source}: this sensor was closed`));
        await client.endAsync(true);
      },
    };
    try {
      const late = `${nameOf(url)}: expected the broker to accept the connection within ${given.timeout_ms} ms (timeout_ms)`;
      await withTimeout(subscribed(client, nameOf(url), topic, given.qos as 0 | 1 | 2), given.timeout_ms, late, clock);
      return sensor;
    } catch (caught) {
      await sensor.close();
      throw caught;
    }
  },
});

async function open(url: URL, given: ValuesOf<typeof fields>): Promise<MqttClient> {
  // Loaded only by machines that use it.
  const { default: mqtt } = await import('mqtt');
  const { username, password, client_id: clientId, timeout_ms: connectTimeout } = given;
  return mqtt.connect(url.href, {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(clientId !== undefined && { clientId }),
    ...{ connectTimeout, reconnectPeriod: reconnectMs },
  });
}

/** Resolves once the broker sends the messages of the topic. The client subscribes again by itself after each reconnection. */
async function subscribed(client: MqttClient, name: string, topic: string, qos: 0 | 1 | 2): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', (caught) =>
      reject(
        unavailable(
          `${name}: the broker did not accept the connection (${reasonOf(caught)}); check the address, username and password`,
          caught,
        ),
      ),
    );
  });
  try {
    await client.subscribeAsync(topic, { qos });
  } catch (caught) {
    throw unavailable(
      `${name}: the broker did not accept the topic ${JSON.stringify(topic)} (${reasonOf(caught)})`,
      caught,
    );
  }
}

function follow(client: MqttClient, name: string, newest: Newest<Document>, log: Log): void {
  let isLost = false;
  const lost = (reason: string): void => {
    newest.fail(
      unavailable(
        `${name}: the connection to the broker is lost (${reason}); reconnecting every ${reconnectMs / 1_000} s`,
      ),
    );
    if (!isLost) log.warn(`${name}: the connection to the broker is lost (${reason})`);
    isLost = true;
  };
  client.on('error', (caught) => lost(reasonOf(caught)));
  client.on('offline', () => lost('it ended'));
  client.on('connect', () => {
    if (isLost) log.info(`${name}: connected to the broker again`);
    isLost = false;
  });
}

interface MessagesOptions {
  readonly topic: string;
  readonly source: string;
  readonly maxBytes: number;
  readonly paths: ReadonlyMap<string, JsonPath>;
  readonly newest: Newest<Document>;
}

/** Converts messages to readings. */
function messages({ topic, source, maxBytes, paths, newest }: MessagesOptions) {
  const hasWildcards = /[+#]/.test(topic);
  const byTopic = new Map<string, Document>();
  return (from: string, payload: Uint8Array): void => {
    try {
      if (payload.length > maxBytes)
        throw resourceExhausted(
          `${source}: expected messages of at most ${maxBytes} bytes (max_bytes), found ${payload.length}`,
        );
      const values = valuesOf(
        Buffer.from(payload).toString('utf8'),
        hasWildcards ? `${source} (${from})` : source,
        paths,
      );
      if (!hasWildcards) {
        newest.set(values);
        return;
      }
      const key = from.replaceAll(/[/.]/g, '_');
      if (!byTopic.has(key) && byTopic.size >= mostTopics)
        throw resourceExhausted(`${source}: expected at most ${mostTopics} topics, found more; narrow the topic`);
      byTopic.set(key, values);
      newest.set(Object.fromEntries(byTopic));
    } catch (caught) {
      newest.fail(caught instanceof PlatformError ? caught : dataLoss(errorText(caught)));
    }
  };
}
