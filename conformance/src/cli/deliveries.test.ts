/** A trigger fires in a real cloud; its deliveries are listed, sent again, paused and resumed with the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect, type Link } from '@platform/rpc/client';
import { openCloud } from '@platform/sdk/cloud';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

interface Delivery {
  readonly id: string;
  readonly state: string;
  readonly target: string;
  readonly attempts: readonly { readonly outcome: string; readonly code: number | null; readonly response: string }[];
  readonly request: {
    readonly method: string;
    readonly body: string;
    readonly headers: readonly { name: string; value: string }[];
  };
}

let cloud: CloudProcess;
let cli: CommandLine;
let link: Link;
let partId: string;
beforeAll(async () => {
  cloud = await startCloud();
  cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  link = connect({ baseUrl: cloud.url, credentials: { entity: cloud.keyId, type: 'api-key', payload: cloud.key } });
  await cli.ok(['locations', 'create', 'Plant']);
  await cli.ok(['machines', 'create', 'press-7', '--location', 'Plant']);
  partId = (await cli.ok(['machines', 'part', 'get', 'press-7', '--json'])).json<{ id: string }>().id;
});
afterAll(async () => {
  await link[Symbol.asyncDispose]();
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

async function save(config: object): Promise<void> {
  writeFileSync(join(cli.directory, 'press.json'), JSON.stringify(config));
  await cli.ok(['config', 'set', 'press-7', 'press.json', '--yes']);
}

const oven = { name: 'oven', api: 'core:component:sensor', model: 'fake' };
const hot = (target: string) => ({
  name: 'hot',
  event: {
    type: 'conditional_data_ingested',
    conditional: {
      data_capture_method: 'sensor:oven:Readings',
      conditions: { evals: [{ operator: 'gt', value: { temperature: 90 } }] },
    },
  },
  notifications: [
    { type: 'webhook', value: target, auth: { basic: { username: 'ada', password: 'pw-of-the-target' } } },
  ],
});
const arrived = {
  name: 'arrived',
  event: { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } },
  notifications: [{ type: 'email', value: 'ada@example.com' }],
};

async function upload(temperature: number): Promise<void> {
  await link.client(DataSyncService).dataCaptureUpload({
    metadata: {
      ...{ partId, componentType: 'rdk:component:sensor', componentName: 'oven', methodName: 'Readings' },
      type: DataType.TABULAR_SENSOR,
    },
    sensorContents: [{ data: { case: 'struct', value: { readings: { temperature } } } }],
  });
}

async function list(...args: string[]): Promise<Delivery[]> {
  return (await cli.ok(['deliveries', 'list', '--json', ...args])).json<Delivery[]>();
}

/** Requests that the test inbox received at this path: their ids and their Authorization headers. */
async function received(path: string): Promise<{ id: string | undefined; authorization: string | undefined }[]> {
  await using client = openCloud({ url: cloud.url, keyId: cloud.keyId, key: cloud.key });
  const answer = (await client.getJson('/test-inbox/requests')) as {
    requests: { path: string; headers: Record<string, string | undefined> }[];
  };
  return answer.requests
    .filter((one) => one.path === path)
    .map(({ headers }) => ({ id: headers['webhook-id'], authorization: headers['authorization'] }));
}

const eventually = <T>(check: () => Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 240_000, interval: 200 });

test('a trigger fires: its delivery is listed with request and answer, and is sent again under the same id', async () => {
  const path = '/test-inbox/webhooks/retried?token=t0ken';
  await save({ components: [oven], triggers: [hot(`${cloud.url}${path}`), arrived] });
  await upload(20);
  await upload(95);
  const [sent] = await eventually(async () => {
    const found = await list('--trigger', 'hot');
    expect(found).toMatchObject([{ state: 'delivered', attempts: [{ outcome: 'accepted', code: 200 }] }]);
    return found;
  });
  const id = sent?.id ?? '';
  expect(sent?.target).toBe(`${cloud.url}/test-inbox/webhooks/retried`);
  const text = (await cli.ok(['deliveries', 'get', id, '--json'])).stdout;
  expect(text).not.toMatch(/t0ken|pw-of-the-target|YWRh/);
  const { request } = JSON.parse(text) as Delivery;
  expect(request.method).toBe('POST');
  expect(request.headers).toContainEqual({ name: 'Part-Id', value: partId });
  expect(JSON.parse(request.body)).toMatchObject({
    component_name: 'oven',
    data: { data: { readings: { temperature: 95 } } },
  });
  expect((await cli.ok(['deliveries', 'show', id])).stdout).toContain('Attempts:');

  await cli.ok(['deliveries', 'retry', id]);
  await eventually(async () => {
    const authorization = `Basic ${Buffer.from('ada:pw-of-the-target').toString('base64')}`;
    const [first, second, ...more] = await received(path);
    expect(first?.id).toBe(id);
    // The cloud dropped the password with the first delivery, and takes it from the configuration again.
    expect(second).toEqual(first);
    expect([undefined, authorization]).toContain(second?.authorization);
    expect(more).toEqual([]);
  });
  await eventually(async () => expect((await list('--trigger', 'hot'))[0]?.attempts).toHaveLength(2));
  const audited = (await cli.ok(['organizations', 'audit', '--json'])).json<{ action: string; target_id: string }[]>();
  expect(audited).toContainEqual(expect.objectContaining({ action: 'TriggerService.RetryDelivery' }));
  expect((await list('--channel', 'email')).length).toBe(2);
});

test('a paused target receives nothing until it is resumed, and then everything', async () => {
  const path = '/test-inbox/webhooks/paused?token=t0ken';
  const shown = `${cloud.url}/test-inbox/webhooks/paused`;
  await save({ components: [oven], triggers: [hot(`${cloud.url}${path}`)] });
  const unknown = await cli.run(['deliveries', 'pause', `${shown}-not`]);
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.stderr).toContain('expected the target of a trigger of the organization');
  await cli.ok(['deliveries', 'pause', shown, '--reason', 'it moves']);
  for (const temperature of [91, 92, 93]) await upload(temperature);
  const waiting = await eventually(async () => {
    const found = await list('--state', 'paused');
    expect(found).toHaveLength(3);
    return found;
  });
  expect(await received(path)).toEqual([]);
  const paused = (await cli.ok(['deliveries', 'paused', '--json'])).json<object[]>();
  expect(paused).toMatchObject([{ target: shown, reason: 'it moves', waiting: 3 }]);
  expect((await cli.run(['deliveries', 'retry', waiting[0]?.id ?? ''])).stderr).toContain('found it paused');

  await cli.ok(['deliveries', 'resume', shown]);
  const ids = new Set(waiting.map(({ id }) => id));
  await eventually(async () => expect(new Set((await received(path)).map(({ id }) => id))).toEqual(ids));
  await eventually(async () => expect(await list('--state', 'pending,paused')).toEqual([]));
});

test('D45 what ends in the test inbox is kept: deliveries and triggers say so, and why; deliveries are found by text and counted', async () => {
  const kept = await eventually(async () => {
    const found = await list('--channel', 'email');
    expect(found[0]).toMatchObject({ machine: 'press-7', trigger: 'arrived', state: 'kept' });
    return found;
  });
  const found = await cli.ok(['deliveries', 'list', '--text', 'ADA@example', '--machine', 'press-7', '--json']);
  expect(found.json<Delivery[]>().map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
  expect(found.stderr).toContain(`${kept.length} kept`);
  expect((await cli.ok(['deliveries', 'list'])).stdout).toContain(
    'kept in the test inbox: no mail server is configured',
  );
  await save({ components: [oven], triggers: [arrived] });
  const listed = (await cli.ok(['triggers', 'list', '--state', 'kept', '--json'])).json<object[]>();
  expect(listed).toMatchObject([
    {
      name: 'arrived',
      state: 'kept',
      notifications: [{ state: 'kept', reason: expect.stringContaining('no mail server'), last_delivered_at: null }],
    },
  ]);
  const tested = await cli.run(['triggers', 'test', 'press-7', 'arrived']);
  expect(tested.stderr).toContain('found ada@example.com: kept in the test inbox: no mail server is configured');
});

test('D45 saving warns of what will not arrive: owners without an address, a type that no upload has, a refused target', async () => {
  const all = { type: 'email', value: 'all_machine_owners' };
  const event = { type: 'part_data_ingested', data_ingested: { data_types: ['unspecified'] } };
  const document = {
    components: [oven],
    triggers: [
      { name: 'lost', event, notifications: [all, { type: 'webhook', value: 'http://127.0.0.1:1880/alerts' }] },
    ],
  };
  writeFileSync(join(cli.directory, 'lost.json'), JSON.stringify(document));
  const warnings = [
    /triggers\[0\]\.event\.data_ingested\.data_types.*unspecified matches only uploads that do not say their type/,
    /triggers\[0\]\.notifications\[0\]\.value.*all_machine_owners reaches nobody/,
    /triggers\[0\]\.notifications\[1\]\.value.*target refused/,
  ];
  const validated = await cli.run(['config', 'validate', 'press-7', 'lost.json']);
  const saved = await cli.ok(['config', 'set', 'press-7', 'lost.json', '--yes']);
  const fragment = await cli.ok(['fragments', 'create', 'lost', 'lost.json']);
  for (const warning of warnings) {
    expect(validated.stdout + validated.stderr).toMatch(warning);
    expect(saved.stderr).toMatch(warning);
    expect(fragment.stderr).toMatch(warning);
  }
});

test('failed deliveries of a time range are counted, and then sent again', async () => {
  // Loopback is refused, except for the test inbox.
  await save({ components: [oven], triggers: [hot('http://127.0.0.1:9/')] });
  for (const temperature of [94, 95]) await upload(temperature);
  const failed = await eventually(async () => {
    const found = await list('--state', 'failed');
    expect(found).toHaveLength(2);
    return found;
  });
  const range = ['--machine', 'press-7', '--since', '1h'];
  const counted = await cli.ok(['deliveries', 'replay', ...range, '--dry-run', '--json']);
  expect(counted.json()).toEqual({ deliveries: 2, dry_run: true });
  expect((await cli.run(['deliveries', 'replay', ...range, '--max', '1', '--yes'])).stderr).toContain('at most 1');
  const replayed = await cli.ok(['deliveries', 'replay', ...range, '--yes', '--json']);
  expect(replayed.json()).toEqual({ deliveries: 2, dry_run: false });
  await eventually(async () => {
    const found = await list('--state', 'failed');
    expect(found.map(({ id, attempts }) => [id, attempts.length])).toEqual(failed.map(({ id }) => [id, 2]));
  });
});

test('a trigger whose component was removed is listed as broken, and the part’s other triggers continue', async () => {
  await save({ components: [], triggers: [hot(`${cloud.url}/test-inbox/webhooks/broken`), arrived] });
  const triggers = (await cli.ok(['triggers', 'list', '--machine', 'press-7', '--json'])).json<
    { name: string; state: string; problems: { path: string }[] }[]
  >();
  expect(triggers.map(({ name, state }) => [name, state])).toEqual([
    ['hot', 'broken'],
    // This cloud has no mail server.
    ['arrived', 'kept'],
  ]);
  expect(triggers[0]?.problems[0]?.path).toBe('triggers[0].event.conditional.data_capture_method');
  const before = (await list('--trigger', 'arrived')).length;
  await upload(1);
  await eventually(async () => expect((await list('--trigger', 'arrived')).length).toBe(before + 1));
});
