/** A type that only a module of the machine knows, called through a real cloud with the SDK, the command line and grpc-js. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create } from '@bufbuild/protobuf';
import { PlatformError, systemClock } from '@platform/base';
import { CameraService, GetPropertiesRequestSchema } from '@platform/proto/platform/component/camera/v1/camera';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import { callMethod, commandType, type MachineMethod, moduleMethods } from '@platform/sdk/machine';
import { temporaryDirectory } from '@platform/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandLine, openCommandLine } from '../cli/command-line.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { startMachine } from './start-machine.ts';

const module = fileURLToPath(
  new URL('../../../apps/machine-server/src/testing/modules/test-module.ts', import.meta.url),
);
const api = 'acme:component:oracle';
type Five = readonly [MachineMethod, MachineMethod, MachineMethod, MachineMethod, MachineMethod];

const stack = new AsyncDisposableStack();
let cloud: CloudProcess;
let client: Cloud;
let cli: CommandLine;

beforeAll(async () => {
  cloud = stack.use(await startCloud());
  const { keyId, key, url } = cloud;
  const folder = stack.use(await temporaryDirectory('module-'));
  const program = join(folder.path, 'module.sh');
  const node = `'${process.execPath}' --conditions=@platform/source --disable-warning=ExperimentalWarning`;
  await writeFile(program, `#!/bin/sh\nexec ${node} '${module}' "$@"\n`);
  await chmod(program, 0o755);
  cli = stack.use(await openCommandLine({ PLATFORM_URL: url, PLATFORM_API_KEY_ID: keyId, PLATFORM_API_KEY: key }));
  const configuration = {
    modules: [{ name: 'demo', type: 'local', executable_path: program }],
    components: [
      ...['delphi', 'dodona'].map((name) => ({ name, api, model: 'acme:demo:oracle' })),
      { name: 'mirror', api: 'core:component:camera', model: 'acme:demo:mirror' },
    ],
  };
  await cli.ok(['config', 'set', cloud.partId, '-', '--yes'], { input: JSON.stringify(configuration) });
  client = stack.use(openCloud({ url, keyId, key }));
  stack.use(await startMachine(cloud, url));
  const names = () => client.machine(cloud.partId).resourceNames();
  while ((await names().catch(() => [])).length < 3) await systemClock.sleep(50);
});
afterAll(() => stack.disposeAsync());

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('R21 the SDK finds, describes and calls the methods of the type, even one that returns a stream', async () => {
  using machine = client.machine(cloud.partId);
  const methods = await moduleMethods(machine);
  expect(methods.map(({ name, kind, fields }) => [name, kind, fields.join()])).toEqual([
    ['oracle.Ask', 'unary', 'name: text,text: text'],
    ['oracle.Mutter', 'server_streaming', 'name: text,text: text'],
    ['oracle.Whisper', 'unary', 'text: text,name: text'],
    ['oracle.DoCommand', 'unary', 'name: text,command: Struct'],
    ['oracle.GetStatus', 'unary', 'name: text'],
  ]);
  const [ask, mutter, , doCommand, getStatus] = methods as readonly MachineMethod[] as Five;
  const resource = 'delphi';
  expect(await all(callMethod(machine, ask, [{ text: 'rain' }], { resource }))).toEqual([
    { text: 'delphi says: rain? yes' },
  ]);
  expect(await all(callMethod(machine, mutter, [{ text: 'the sea is wide' }], { resource }))).toHaveLength(4);
  const command = { open: true, list: [1, 'two', null], deep: { a: 1 } };
  expect(await all(callMethod(machine, doCommand, [{ command }], { resource }))).toEqual([
    { result: { ...command, oracle: 'delphi', mood: 'calm' } },
  ]);
  expect(await all(callMethod(machine, getStatus, [{}], { resource }))).toEqual([{ result: { awake: true } }]);
  // Without asking the machine, only from the type.
  const dodona = machine.resource(commandType(api, 'acme.oracle.v1.OracleService'), 'dodona');
  expect(await dodona.doCommand({ deep: 1 })).toEqual({ deep: 1, oracle: 'dodona', mood: 'calm' });
  const none = await all(callMethod(machine, ask, [{}], { resource: 'none' })).catch((caught: unknown) => caught);
  expect(none).toBeInstanceOf(PlatformError);
  expect(none).toMatchObject({ code: 'not_found', message: 'this machine has no oracle "none"' });
});

test('R21 operators may call it, others see no machine; every call but GetStatus is audited with method and resource', async () => {
  const made = await cli.ok(
    ['api-keys', 'create', 'hand', '--role', 'operator', '--machine', cloud.machineId, '--json'],
    { reveals: true },
  );
  const { id: keyId, key } = made.json<{ id: string; key: string }>();
  await using operator = openCloud({ url: cloud.url, keyId, key });
  using machine = operator.machine(cloud.partId);
  const oracle = machine.resource(commandType(api, 'acme.oracle.v1.OracleService'), 'delphi');
  await moduleMethods(machine);
  await oracle.doCommand({ one: 1 });
  await oracle.doCommand({ two: 2 });
  const { entries } = await client.fleet.listAuditEntries({
    ...{ organizationId: cloud.organizationId, targetId: cloud.partId },
  });
  expect(
    entries
      .filter(({ actor }) => actor?.name === 'hand')
      .map(({ action, detail }) => [action, JSON.parse(detail).resource]),
  ).toEqual([['acme.oracle.v1.OracleService.DoCommand', 'delphi']]);
  using nowhere = operator.machine('nobody');
  await expect(moduleMethods(nowhere)).rejects.toMatchObject({ code: 'not_found' });
  const away = nowhere.resource(commandType(api, 'acme.oracle.v1.OracleService'), 'delphi');
  await expect(away.doCommand({})).rejects.toMatchObject({ code: 'not_found' });
});

test('the audit trail has the resource of a call, in whatever field its message names it; another one is refused', async () => {
  using machine = client.machine(cloud.partId);
  const whisper = (await moduleMethods(machine)).find(({ name }) => name === 'oracle.Whisper') as MachineMethod;
  expect(await all(callMethod(machine, whisper, [{ text: 'dodona' }], { resource: 'delphi' }))).toEqual([
    { text: 'delphi hears dodona' },
  ]);
  const audited = async (): Promise<string[]> => {
    const { entries } = await client.fleet.listAuditEntries({
      ...{ organizationId: cloud.organizationId, targetId: cloud.partId },
    });
    return entries
      .filter(({ action }) => action.endsWith('OracleService.Whisper'))
      .map(({ detail }) => JSON.parse(detail).resource);
  };
  expect(await audited()).toEqual(['delphi']);
  // Like a client without the header: the cloud takes the text in field 1 for the name, and the machine sees that it is not one.
  const plain = machine.client(whisper.method.parent) as unknown as Readonly<
    Record<string, (request: object) => Promise<object>>
  >;
  const refused = plain['whisper']?.({ text: 'dodona', name: 'delphi' });
  await expect(refused).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringMatching(/has the resource "dodona".*names "delphi": send the header platform-resource/),
  });
});

test('D48 fields that neither the cloud nor the machine knows pass both ways, also in messages that both decode', async () => {
  using machine = client.machine(cloud.partId);
  const request = create(GetPropertiesRequestSchema, { name: 'mirror' });
  // A varint in field 1000, and a text in field 1001.
  const fields = [
    { no: 1_000, wireType: 0, data: Uint8Array.of(7) },
    { no: 1_001, wireType: 2, data: Uint8Array.of(2, 104, 105) },
  ];
  request.$unknown = fields;
  expect((await machine.client(CameraService).getProperties(request)).$unknown).toEqual(fields);
});

test('the command line lists the methods of the type, calls them with JSON, and suggests', async () => {
  const run = ['machines', 'part', 'run', cloud.partId];
  const rows = (await cli.ok([...run, '--json'])).json<{ method: string; request: string }[]>();
  expect(rows).toContainEqual({ method: 'oracle.Ask', request: 'name: text, text: text' });
  expect(rows.map(({ method }) => method)).toContain('robot.StopAll');
  expect(rows.map(({ method }) => method)).not.toContain('motor.SetPower');
  const asked = await cli.ok([...run, 'oracle.Ask', '{"text": "wind"}', '--resource', 'dodona']);
  expect(asked.json()).toEqual({ text: 'dodona says: wind? yes' });
  const full = await cli.ok([...run, 'acme.oracle.v1.OracleService/ask', '{"name": "delphi", "text": "sun"}']);
  expect(full.json()).toEqual({ text: 'delphi says: sun? yes' });
  const words = await cli.ok([...run, 'oracle.Mutter', '{"name": "delphi", "text": "a b"}']);
  expect(words.stdout.trim().split('\n')).toEqual(['{"text":"a"}', '{"text":"b"}']);
  const misspelled = await cli.run([...run, 'oracle.Asq', '{}']);
  expect([misspelled.code, misspelled.stderr]).toEqual([2, expect.stringContaining('Did you mean oracle.Ask?')]);
  const several = await cli.run([...run, 'oracle.Ask', '{}']);
  expect([several.code, several.stderr]).toEqual([2, expect.stringContaining('has several of type acme:component')]);
  const wrong = await cli.run([...run, 'oracle.Ask', '{"words": 1}', '--resource', 'delphi']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/fields name: text, text: text; .*"words"/)]);
});
