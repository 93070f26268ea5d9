/**
 * The specification's trigger tables, one row per cell: kinds of triggers × types of notifications, and, for webhooks, the method, each
 * header and each key of the body. Covers the path from the configuration of a trigger to a real HTTP receiver, a real mail server, and a
 * receiver that speaks the push provider's API.
 */
import { type ReceivedWebhook, startPushSink, startSmtpSink } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createPushProvider } from '../outbox/push/provider.ts';
import { createPushChannel } from '../outbox/push/push-channel.ts';
import { openOutboxRig, statesIn, until } from '../outbox/testing/open-outbox.ts';
import { evaluate, noState } from './evaluate.ts';
import type { TriggerInput } from './input.ts';
import { messagesOf } from './messages-of.ts';
import { parseTriggers } from './parsing/parse-triggers.ts';
import { readUpload } from './read-upload.ts';
import { logged } from './testing/logged.ts';

const place = {
  ...{ organizationId: 'org', organizationName: 'Organization', locationId: 'loc', locationName: 'Location' },
  ...{ robotId: 'robot', robotName: 'Machine', partId: 'part', partName: 'main' },
};
const components = [{ name: 'cpu', api: 'core:component:sensor' }];
const conditional = {
  data_capture_method: 'sensor:cpu:Readings',
  conditions: { evals: [{ operator: 'gt', value: { load: 5 } }] },
};
const upload = (): TriggerInput =>
  readUpload({
    position: 7,
    partId: 'part',
    batch: logged({ fileId: 'file-1', readings: [{ readings: { load: 7 } }] }),
  });
const transition = (status: 'online' | 'offline'): TriggerInput => ({
  kind: 'transition',
  number: 1,
  status,
  atMs: 1_000,
  place,
});
const entry = { host: 'h', level: 'error', time: '2026-01-01T00:00:00.000Z', logger_name: 'l', message: 'it broke' };
const line = { id: 5, receivedMs: 0, level: 'error', message: entry.message, entry: () => entry };
const hour = 3_600_000;
const check = (atMs: number, lines: (typeof line)[]): TriggerInput => ({
  ...{ kind: 'logs', atMs, place, lines, isLast: true },
  newestId: lines.length > 0 ? 5 : 1,
});

interface Kind {
  readonly event: Readonly<Record<string, unknown>>;
  /** Inputs of the trigger, in order; the last one makes it fire. */
  readonly inputs: () => readonly TriggerInput[];
}

const kinds: Readonly<Record<string, Kind>> = {
  part_online: { event: {}, inputs: () => [transition('online')] },
  part_offline: { event: {}, inputs: () => [transition('offline')] },
  part_data_ingested: { event: { data_ingested: { data_types: ['tabular'] } }, inputs: () => [upload()] },
  conditional_data_ingested: { event: { conditional }, inputs: () => [upload()] },
  conditional_logs_ingested: {
    event: { log_levels: ['error'] },
    inputs: () => [check(hour, []), check(3 * hour, [line])],
  },
};

async function receivers() {
  const on = await openOutboxRig();
  const [mail, provider] = [await startSmtpSink(), await startPushSink()];
  onTestFinished(() => mail[Symbol.asyncDispose]());
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const outbox = on.open({
    smtpUrl: mail.url,
    push: (clock) =>
      createPushChannel({
        provider: createPushProvider({ clock, addresses: provider }),
        credentialsOf: async () => provider.credentials,
        recipientOf: async () => 'ada',
        tokensOf: async () => ['phone'],
        removeToken: async () => {},
        keep: () => {},
      }),
  });
  outbox.start();
  /** Saves a trigger of this kind with the notification, makes it fire, and delivers. */
  const fire = async (type: string, notification: object): Promise<void> => {
    const { event = {}, inputs = () => [] } = kinds[type] ?? {};
    const { triggers, problems } = parseTriggers(
      [{ name: 'a', event: { type, ...event }, notifications: [notification] }],
      components,
    );
    expect(problems.filter(({ level }) => level === 'error')).toEqual([]);
    const [trigger] = triggers;
    if (trigger === undefined) throw new Error('expected a trigger');
    let state = noState;
    const messages = inputs().flatMap((input) => {
      const evaluated = evaluate(trigger, state, input);
      state = evaluated.state;
      return evaluated.decisions.flatMap((decision) => messagesOf('part', trigger, decision));
    });
    expect(messages).toHaveLength(1);
    await on.db.transaction().execute((trx) => outbox.enqueue(trx, messages));
    outbox.wake();
    await until(async () => (await statesIn(outbox)).every((one) => one !== 'pending'));
    expect((await outbox.list()).map(({ state: one, attempts }) => [one, attempts[0]?.error])).toEqual([
      ['delivered', null],
    ]);
  };
  return { fire, hooks: on.sink, hookUrl: `${on.sink.url}/test-inbox/webhooks/a`, mail, provider };
}

async function webhookOf(type: string): Promise<ReceivedWebhook> {
  const { fire, hooks, hookUrl } = await receivers();
  await fire(type, { type: 'webhook', value: hookUrl });
  const [request] = hooks.requests;
  if (request === undefined) throw new Error('expected a request');
  return request;
}

const types = Object.keys(kinds);

test.each(types)('D18 %s notifies by e-mail', async (type) => {
  const { fire, mail } = await receivers();
  await fire(type, { type: 'email', value: 'ada@example.com' });
  expect(mail.mails).toHaveLength(1);
  expect(mail.mails[0]).toMatchObject({ to: ['ada@example.com'], text: expect.stringContaining(`Event: ${type}`) });
});

test.each(types)('D18 %s notifies by push', async (type) => {
  const { fire, provider } = await receivers();
  await fire(type, { type: 'push', value: 'ada@example.com', application: 'com.platform.platformmobile' });
  expect(provider.messages).toMatchObject([
    {
      message: {
        token: 'phone',
        data: { event_type: type, robot_part_id: 'part', app_id: 'com.platform.platformmobile' },
      },
    },
  ]);
});

const status = ['part_online', 'part_offline'];
const data = ['part_data_ingested', 'conditional_data_ingested'];
const headers: readonly (readonly [name: string, value: string, kinds: readonly string[]])[] = [
  ['Org-Id', 'org', types],
  ['Organization-Name', 'Organization', status],
  ['Location-Id', 'loc', types],
  ['Location-Name', 'Location', status],
  ['Part-Id', 'part', types],
  ['Machine-Name', 'Machine', status],
  ['Robot-Id', 'robot', types],
];
const keys: readonly (readonly [name: string, value: unknown, kinds: readonly string[]])[] = [
  ['component_name', 'cpu', data],
  ['component_type', 'core:component:sensor', data],
  ['method_name', 'Readings', data],
  ['min_time_received', '1970-01-01T00:15:00.000Z', ['part_data_ingested']],
  ['max_time_received', '1970-01-01T00:15:00.000Z', ['part_data_ingested']],
  ['machine_name', 'Machine', data],
  ['location_name', 'Location', data],
  ['org_name', 'Organization', data],
  ['file_id', 'file-1', ['part_data_ingested']],
  ['trigger_condition', conditional, ['conditional_data_ingested']],
  [
    'data',
    {
      metadata: { received_at: '1970-01-01T00:15:00.000Z', requested_at: '1970-01-01T00:14:59.995Z' },
      data: { readings: { load: 7 } },
    },
    data,
  ],
];

test.each(types)(
  'D21 D22 the webhook of %s has the method, the headers and the body of the tables, and nothing else',
  async (type) => {
    const { method, headers: sent, body } = await webhookOf(type);
    expect.soft(method).toBe(status.includes(type) ? 'GET' : 'POST');
    for (const [name, value, of] of headers)
      expect.soft(sent[name.toLowerCase()], `${type}: header ${name}`).toBe(of.includes(type) ? value : undefined);
    if (status.includes(type)) return expect(body).toBe('');
    const json: unknown = JSON.parse(body);
    if (type === 'conditional_logs_ingested') {
      expect(json).toEqual([entry]);
      return expect(sent['logs-omitted']).toBe('0');
    }
    for (const [name, value, of] of keys)
      expect.soft(Object(json)[name], `${type}: key ${name}`).toEqual(of.includes(type) ? value : undefined);
  },
);
