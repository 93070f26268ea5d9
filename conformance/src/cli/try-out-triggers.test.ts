/** `platform triggers dry-run|validate|test` against a real cloud: triggers are tested before they are saved. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { connect } from '@platform/rpc/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

let cloud: CloudProcess;
let cli: CommandLine;
let hook: string;

const sensor = { name: 'oven', api: 'core:component:sensor', model: 'core:builtin:fake' };
const on = (operator: string, value: object) => ({
  type: 'conditional_data_ingested',
  conditional: { data_capture_method: 'sensor:oven:Readings', conditions: { evals: [{ operator, value }] } },
});

beforeAll(async () => {
  cloud = await startCloud();
  hook = `${cloud.url}/test-inbox/webhooks/tried`;
  cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  await using owner = connect({
    baseUrl: cloud.url,
    credentials: { entity: cloud.keyId, type: 'api-key', payload: cloud.key },
  });
  const robotConfigJson = JSON.stringify({
    components: [sensor],
    triggers: [{ name: 'online', event: { type: 'part_online' }, notifications: [{ type: 'webhook', value: hook }] }],
  });
  await owner.client(AppService).updateRobotPart({ id: cloud.partId, name: 'main', robotConfigJson });
  await using machine = connect({
    baseUrl: cloud.url,
    credentials: { entity: cloud.partId, type: 'robot-secret', payload: cloud.partSecret },
  });
  const stream = randomBytes(16);
  for (let n = 1; n <= 10; n++) {
    const at = timestampFromMs(Date.now());
    await machine.client(DataSyncService).dataCaptureUpload({
      metadata: {
        ...{ partId: cloud.partId, componentType: 'core:component:sensor', componentName: 'oven' },
        ...{ methodName: 'Readings', type: DataType.TABULAR_SENSOR },
        identity: { stream, seq: BigInt(n), floor: BigInt(n) },
      },
      sensorContents: [
        create(SensorDataSchema, {
          metadata: { timeRequested: at, timeReceived: at },
          data: { case: 'struct', value: { readings: { degrees: n * 10 } } },
        }),
      ],
    });
  }
  const line = { host: 'h', level: 'error', time: timestampFromMs(Date.now()), loggerName: 'n', message: 'it broke' };
  await machine.client(RobotService).log({ id: cloud.partId, logs: [line, { ...line, level: 'info' }] });
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

const file = (name: string, triggers: unknown): string => {
  writeFileSync(join(cli.directory, name), JSON.stringify(triggers));
  return name;
};

interface Summary {
  readonly trigger: string;
  readonly fired: number;
  readonly sent: number;
  readonly suppressed_by_interval: number;
  readonly readings: number;
  readonly not_run_because: string;
  readonly occurrences: readonly { readonly reason: string }[];
}

test('a dry run of a draft shows how often each trigger would have fired, and how often its interval would have suppressed it', async () => {
  const webhook = { type: 'webhook', value: hook };
  const draft = file('draft.json', [
    {
      name: 'hot',
      event: on('gt', { degrees: 65 }),
      notifications: [{ ...webhook, seconds_between_notifications: 3_600 }],
    },
    { name: 'never', event: on('gt', { degrees: 1_000 }), notifications: [webhook] },
    { name: 'behind', event: { type: 'config_not_applied' }, notifications: [webhook] },
    { name: 'off', event: on('gt', { degrees: 65 }), notifications: [webhook], disabled: true },
  ]);
  const args = ['triggers', 'dry-run', cloud.partId, '--file', draft, '--since', '1h'];
  const found = (await cli.ok([...args, '--json'])).json<Summary[]>();
  expect(found).toMatchObject([
    { trigger: 'hot', disabled: false, fired: 4, sent: 1, suppressed_by_interval: 3, not_run_because: '' },
    { trigger: 'never', fired: 0, sent: 0 },
    { trigger: 'behind', fired: 0, not_run_because: expect.stringContaining('not stored') },
    { trigger: 'off', disabled: true, fired: 4, sent: 4 },
  ]);
  expect(found[0]?.occurrences).toHaveLength(4);
  const { stdout } = await cli.ok(args);
  expect(stdout).toMatch(/^hot: would have fired 4 times since \S+; 3 suppressed by the interval\n {2}/);
  // Runs as if it were enabled, and says that it is not.
  expect(stdout).toMatch(
    /\noff: would have fired 4 times since \S+; the trigger is disabled: it does nothing until it is enabled\n/,
  );
});

test('a dry run of the saved triggers repeats the transitions of the part', async () => {
  const dryRun = async () => (await cli.ok(['triggers', 'dry-run', cloud.partId, '--json'])).json<Summary[]>()[0];
  await expect.poll(dryRun).toMatchObject({ trigger: 'online', fired: 1, sent: 1 });
});

test('the history shows what triggers did, and the list shows when each last fired', async () => {
  const newest = async () =>
    (await cli.ok(['triggers', 'history', '--part', cloud.partId, '--json'])).json<object[]>()[0];
  const fired = { trigger: 'online', outcome: 'fired', count: 1, sent: 1, part_id: cloud.partId };
  await expect.poll(newest).toMatchObject(fired);
  expect((await cli.ok(['triggers', 'history', '--outcome', 'failed', '--json'])).json()).toEqual([]);
  const shown = (await cli.ok(['triggers', 'get', cloud.partId, 'online', '--json'])).json<object>();
  expect(shown).toMatchObject({ last_fired_at: expect.stringMatching(/^\d{4}-/) });
  expect((await cli.ok(['triggers', 'list'])).stdout).toContain('LAST FIRED AT');
});

test('triggers are validated as on saving, with paths', async () => {
  const bad = file('bad.json', [
    { name: 'x', event: on('above', { degrees: 1 }), notifications: [{ type: 'webhook', value: 'nowhere' }] },
  ]);
  const ran = await cli.run(['triggers', 'validate', cloud.partId, bad, '--json']);
  expect(ran.code).not.toBe(0);
  expect(ran.json<{ path: string }[]>().map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      'triggers[0].event.conditional.conditions.evals[0].operator',
      'triggers[0].notifications[0].value',
    ]),
  );
  const good = file('good.json', {
    name: 'x',
    event: on('gt', { degrees: 1 }),
    notifications: [{ type: 'webhook', value: hook }],
  });
  expect((await cli.ok(['triggers', 'validate', cloud.partId, good])).stderr).toContain('no errors');
});

test('a test sends one notification through the outbox, marked as a test, is audited, and cannot flood a target', async () => {
  const draft = file('one.json', {
    name: 'x',
    event: on('gt', { degrees: 1 }),
    notifications: [{ type: 'webhook', value: hook }],
  });
  const [sent] = (await cli.ok(['triggers', 'test', cloud.partId, '--file', draft, '--json'])).json<
    { state: string; id: string }[]
  >();
  expect(sent).toMatchObject({ state: 'delivered' });
  await cli.ok(['triggers', 'test', cloud.partId, 'online']);
  const listened = await cli.ok(['webhooks', 'listen', 'tried', '--all', '--count', '3', '--json']);
  const requests = listened.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const test_ = requests.find(({ webhook_id }) => webhook_id === sent?.id);
  expect(test_).toMatchObject({ signature: 'valid' });
  expect(JSON.parse(test_.body)).toMatchObject({ test: true, component_name: 'oven' });
  expect(test_.headers).toContainEqual({ name: 'Test', value: 'true' });
  const refused = file('refused.json', {
    name: 'x',
    event: on('gt', { degrees: 1 }),
    notifications: [{ type: 'webhook', value: 'http://127.0.0.1:9/x' }],
  });
  const ran = await cli.run(['triggers', 'test', cloud.partId, '--file', refused]);
  expect(ran.code).not.toBe(0);

  await using owner = connect({
    baseUrl: cloud.url,
    credentials: { entity: cloud.keyId, type: 'api-key', payload: cloud.key },
  });
  const { TriggerService } = await import('@platform/proto/platform/app/v1/triggers');
  const again = () =>
    owner.client(TriggerService).testTrigger({ partId: cloud.partId, trigger: { case: 'name', value: 'online' } });
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, again));
  const reasons = outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.code)] : []));
  expect(reasons.length).toBeGreaterThanOrEqual(10);
  expect(new Set(reasons)).toEqual(new Set(['resource_exhausted']));
  const { stdout } = await cli.ok(['organizations', 'audit', '--json']);
  expect(stdout).toContain('TriggerService.TestTrigger');
});
