/** Every command: reading commands answer in JSON with the fields in their help; writing commands are listed as such. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import { rollingSeed } from '@platform/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createProgram } from '../../../apps/cli/src/create-program.ts';
import { sign } from '../../../apps/cloud/src/outbox/webhook/sign.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

type Command = ReturnType<typeof createProgram>;

const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

const leaves = leavesOf(createProgram()).filter((leaf) => leaf.name() !== 'complete');

/** Commands that change something, ask a person, need the login of a person, or print no data. */
const others = new Set(
  `
  up uninstall completion ftdc capture/ls capture/cat capture/verify capture/repair capture/convert capture/quarantine login/browser login/api-key logout
  admin/backup admin/restore admin/limits/set admin/billing/assign admin/payments/record admin/push-config/set admin/push-config/delete admin/webhooks/allow admin/webhooks/disallow organizations/push-config/set
    organizations/push-config/get organizations/push-config/delete organizations/webhook-secret/rotate admin/organizations/create-owner-link admin/rotate-instance-key
  billing/pdf billing/usage billing/simulate billing/charge billing/method/add billing/method/set billing/method/delete billing/prices/set billing/close-month billing/void billing/service/get billing/service/enable billing/service/update billing/service/disable
  profiles/use profiles/bind profiles/unbind profiles/organization profiles/delete
  organizations/create organizations/update organizations/delete
  members/invite members/uninvite members/resend members/grant members/revoke members/remove
  locations/create locations/update locations/delete locations/share locations/unshare
  locations/secrets/create locations/secrets/delete
  machines/create machines/update machines/delete machines/part/create machines/part/rename machines/part/delete
  machines/connect machines/part/main machines/part/force machines/part/run machines/part/shell machines/part/cp machines/part/tunnel machines/part/resources machines/part/modules machines/part/restart machines/part/secrets/create machines/part/secrets/delete
  machines/favorites/list machines/favorites/add machines/favorites/remove
  config/edit config/set config/restore
  fragments/create fragments/edit fragments/update fragments/delete fragments/tag fragments/untag
  packages/upload packages/delete modules/create modules/build modules/reload modules/upload
  query/saved/create query/saved/update query/saved/delete
  deliveries/retry deliveries/replay deliveries/pause deliveries/resume
  data/delete data/binary/download data/retention/set metadata/set api-keys/create api-keys/rename api-keys/rotate api-keys/expire api-keys/delete
`
    .trim()
    .split(/\s+/)
    .map((path) => path.replaceAll('/', ' ')),
);

/** A reading command: its arguments, and whether it prints a line of JSON for each element. */
interface Reading {
  readonly args: readonly string[];
  readonly lines?: boolean;
}

let cloud: CloudProcess;
let cli: CommandLine;
let readings: Readonly<Record<string, Reading>>;
beforeAll(async () => {
  cloud = await startCloud();
  cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  await cli.ok(['locations', 'create', 'Plant']);
  await cli.ok(['machines', 'create', 'press-7', '--location', 'Plant']);
  const sensor = { name: 'load', api: 'rdk:component:sensor', model: 'rdk:builtin:fake' };
  const arrived = {
    name: 'arrived',
    event: { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } },
    notifications: [{ type: 'webhook', value: `${cloud.url}/test-inbox/webhooks/press` }],
  };
  const press = { components: [sensor], triggers: [arrived], unheard_of: 1 };
  writeFileSync(join(cli.directory, 'press.json'), JSON.stringify(press));
  await cli.ok(['config', 'set', 'press-7', 'press.json', '--yes']);
  await cli.ok(['fragments', 'create', 'kit', '-'], { input: JSON.stringify({ components: [sensor] }) });
  await cli.ok(['query', 'saved', 'create', 'first', '{"$limit":1}']);
  writeFileSync(join(cli.directory, 'map.tar.gz'), gzipSync('a map'));
  await cli.ok(['packages', 'upload', 'map.tar.gz', '--name', 'map', '--version', '1.0.0']);
  await cli.ok(['login', 'api-key', '--key-id', cloud.keyId], { input: cloud.key });
  const delivery = await deliveryOf('press-7');
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const headers = {
    ...{ 'webhook-id': 'msg_1', 'webhook-timestamp': '1767323045' },
    'webhook-signature': sign(secret, 'msg_1', 1_767_323_045, '{}'),
  };
  const tested = {
    ...{ name: 'tested', event: { type: 'part_online' } },
    notifications: [{ type: 'webhook', value: `${cloud.url}/test-inbox/webhooks/tested` }],
  };
  writeFileSync(join(cli.directory, 'triggers.json'), JSON.stringify([tested]));
  writeFileSync(join(cli.directory, 'secret.txt'), secret);
  writeFileSync(join(cli.directory, 'body.json'), '{}');
  writeFileSync(join(cli.directory, 'headers.json'), JSON.stringify(headers));
  await fetch(`${cloud.url}/test-inbox/webhooks/oven`, {
    ...{ method: 'POST', body: '{}' },
    headers: { ...headers, 'org-id': cloud.organizationId },
  });
  const data = ['--data', cloud.dataDir];
  readings = {
    version: { args: [] },
    'admin status': { args: data },
    'admin doctor': { args: data },
    'admin repair': { args: data },
    'admin audit': { args: data },
    'admin limits get': { args: [cloud.organizationId, ...data] },
    'admin billing get': { args: [cloud.organizationId, ...data] },
    'admin check-ledger': { args: data },
    'admin organizations list': { args: data },
    'admin push-config get': { args: data },
    'admin webhooks list': { args: data },
    'billing info': { args: [] },
    'billing invoices': { args: [] },
    'billing prices list': { args: [] },
    whoami: { args: [] },
    token: { args: [] },
    'profiles list': { args: [] },
    'organizations list': { args: [] },
    'organizations get': { args: [] },
    'organizations audit': { args: [] },
    'organizations webhook-secret get': { args: [] },
    'members list': { args: [] },
    'locations list': { args: [] },
    'locations get': { args: ['Plant'] },
    'locations secrets list': { args: ['Plant'] },
    'machines list': { args: [] },
    'machines get': { args: ['press-7'] },
    'machines status': { args: ['press-7'] },
    'machines part list': { args: ['press-7'] },
    'machines part get': { args: ['press-7'] },
    'machines part status': { args: ['press-7'] },
    'machines part config-file': { args: ['press-7'] },
    'machines part snippet': { args: ['press-7'] },
    'machines part secrets list': { args: ['press-7'] },
    'config get': { args: ['press-7'] },
    'config validate': { args: ['press-7'] },
    'config diff': { args: ['press-7'] },
    'config history': { args: ['press-7'] },
    'config schema': { args: [] },
    'fragments list': { args: [] },
    'fragments get': { args: ['kit'] },
    'fragments history': { args: ['kit'] },
    'fragments usage': { args: ['kit'] },
    'packages list': { args: [] },
    logs: { args: ['press-7'], lines: true },
    'triggers list': { args: [] },
    'triggers get': { args: ['press-7', 'arrived'] },
    'triggers history': { args: ['--part', 'press-7'] },
    'triggers dry-run': { args: ['press-7', '--since', '1h'] },
    'triggers validate': { args: ['press-7', 'triggers.json'] },
    'triggers test': { args: ['press-7', '--file', 'triggers.json'] },
    'deliveries list': { args: [] },
    'deliveries paused': { args: [] },
    'deliveries get': { args: [delivery] },
    'webhooks verify': { args: ['body.json', '--headers', 'headers.json', '--secret-file', 'secret.txt', '--any-age'] },
    'webhooks listen': { args: ['oven', '--all', '--count', '1'], lines: true },
    'metadata get': { args: ['--machine', 'press-7'] },
    'api-keys list': { args: [] },
    'query sql': { args: ['SELECT component_name FROM readings LIMIT 1'], lines: true },
    'data export': { args: ['--part', 'press-7'], lines: true },
    'data binary list': { args: [] },
    'data gaps': { args: ['--part', 'press-7'] },
    'data retention get': { args: ['press-7'] },
    'query mql': { args: ['{"$limit":1}'], lines: true },
    'query saved list': { args: [] },
    'query saved get': { args: ['first'] },
    'query saved run': { args: ['first'], lines: true },
  };
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

/** Uploads a reading of the machine, and returns the id of its trigger's delivery. */
async function deliveryOf(machine: string): Promise<string> {
  const part = (await cli.ok(['machines', 'part', 'get', machine, '--json'])).json<{ id: string }>();
  await using link = connect({
    baseUrl: cloud.url,
    credentials: { entity: cloud.keyId, type: 'api-key', payload: cloud.key },
  });
  await link.client(DataSyncService).dataCaptureUpload({
    metadata: {
      ...{ partId: part.id, componentType: 'rdk:component:sensor', componentName: 'load', methodName: 'Readings' },
      type: DataType.TABULAR_SENSOR,
    },
    sensorContents: [{ data: { case: 'struct', value: { readings: { n: 1 } } } }],
  });
  return await vi.waitFor(
    async () => {
      const [sent] = (await cli.ok(['deliveries', 'list', '--json'])).json<{ id: string; state: string }[]>();
      expect(sent?.state).toBe('delivered');
      return sent?.id ?? '';
    },
    { timeout: 240_000 },
  );
}

/** The fields in its help; undefined if they depend on the data. */
function fieldsOf(leaf: Command): readonly string[] | undefined {
  const help = leaf.createHelp().formatHelp(leaf, leaf.createHelp());
  const [, list = ''] = /JSON fields: (.*?)\n\n/s.exec(help) ?? [];
  return / of (the|JSON) /.test(list) || list.includes('…') ? undefined : list.split(/,\s+/);
}

/** The keys of an object and of all nested objects. */
function keysOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(keysOf);
  return Array.isArray(value) ? inner : [...Object.keys(value), ...inner];
}

/** A stage of a pipeline begins with a dollar sign. */
function isNotSnakeCase(key: string): boolean {
  return !/^(\$\w+|[a-z][a-z0-9]*(_[a-z0-9]+)*)$/.test(key);
}

test('the JSON fields of every command, reading or writing, are snake_case', () => {
  for (const leaf of leaves) {
    const fields = fieldsOf(leaf)?.filter((field) => field !== '') ?? [];
    expect(fields.filter(isNotSnakeCase), pathOf(leaf)).toEqual([]);
  }
});

test('every command is listed as reading or not reading', () => {
  const paths = leaves.map(pathOf);
  const unlisted = paths.filter((path) => readings[path] === undefined && !others.has(path));
  expect(unlisted, 'add to `readings` in this file if it reads, otherwise to `others`').toEqual([]);
  const gone = [...Object.keys(readings), ...others].filter((path) => !paths.includes(path));
  expect(gone, 'listed in this file, but not a command').toEqual([]);
});

test('every reading command accepts --json and prints JSON with the fields that its help lists', async () => {
  const reading = leaves.filter((leaf) => readings[pathOf(leaf)] !== undefined);
  const waiting = [...reading];
  // One of each group, another one at each run.
  const seed = rollingSeed();
  const asProcesses = new Set(
    [...Map.groupBy(reading, (leaf) => pathOf(leaf).split(' ')[0]).values()].map((group) => group[seed % group.length]),
  );
  const check = async (leaf: Command): Promise<void> => {
    const path = pathOf(leaf);
    const { args, lines = false } = readings[path] ?? { args: [] };
    // Before the arguments, because a bare --json takes none of them.
    const { stdout } = await cli.ok([...path.split(' '), '--json', ...args], {
      reveals: true,
      asProcess: asProcesses.has(leaf),
    });
    const texts = lines ? stdout.split('\n').filter((line) => line !== '') : [stdout];
    const values = texts.flatMap((text) => JSON.parse(text) as object | object[]);
    const fields = fieldsOf(leaf);
    for (const value of values) {
      expect(value, path).toBeTypeOf('object');
      // The keywords of JSON Schema are not ours.
      if (path !== 'config schema') expect.soft(keysOf(value).filter(isNotSnakeCase), path).toEqual([]);
      if (fields === undefined) continue;
      // A change has no "before" if there was nothing, because null is a possible value.
      const named = path === 'config diff' ? expect.arrayContaining(Object.keys(value)) : Object.keys(value).toSorted();
      expect.soft(fields.toSorted(), path).toEqual(named);
    }
  };
  const worker = async (): Promise<void> => {
    for (let leaf = waiting.shift(); leaf !== undefined; leaf = waiting.shift()) await check(leaf);
  };
  await Promise.all([worker(), worker(), worker()]);
}, 600_000);

test('every command has a description, an example, and --json or no data', () => {
  for (const leaf of leaves) {
    const help = leaf.createHelp().formatHelp(leaf, leaf.createHelp());
    expect(leaf.description().length, pathOf(leaf)).toBeGreaterThan(10);
    expect(help, pathOf(leaf)).toContain('Examples:\n  $ ');
    expect(help.includes('--json') || leaf.name() === 'completion', pathOf(leaf)).toBe(true);
  }
});

test('with --json, failures and usage errors are JSON and quote what was typed', async () => {
  const [unknown, argument, group, missing, plain] = await Promise.all([
    cli.run(['machines', 'list', '--nosuch', '--json']),
    cli.run(['api-keys', 'create', 'x', '--role', 'king', '--json']),
    cli.run(['machines', '--json']),
    cli.run(['machines', 'get', 'nosuch', '--json']),
    cli.run(['machines', '--json=']),
  ]);
  for (const ran of [unknown, argument]) {
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'invalid_argument' } });
  }
  expect(argument.stderr).toContain('Allowed choices are owner, operator');
  for (const ran of [group, plain]) {
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).not.toContain('--json=');
  }
  expect(JSON.parse(missing.stderr)).toMatchObject({ error: { code: 'not_found' } });
});

test('an invalid value of an option is a usage error that lists the valid ones', async () => {
  const [level, role, visibility, known, limit] = await Promise.all([
    cli.run(['logs', 'press-7', '--level', 'error,nosuch']),
    cli.run(['members', 'invite', 'ada@example.com', '--role', 'king']),
    cli.run(['fragments', 'create', 'x', 'press.json', '--visibility', 'nosuch']),
    cli.run(['logs', 'press-7', '--level', 'error,WARN']),
    cli.run(['organizations', 'audit', '--limit', 'many']),
  ]);
  for (const ran of [level, role, visibility, limit]) expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(level.stderr).toContain('debug, info, warn, error');
  expect(role.stderr).toContain('owner, operator');
  expect(visibility.stderr).toContain('private, public, unlisted');
  expect(known.code).toBe(0);
});
