/** What another account of this computer reaches of a cloud, a machine-server and the command line: docs/specs/doors.md. */
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { systemClock } from '@platform/base';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { UploadService } from '@platform/proto/platform/upload/v1/upload';
import { connect } from '@platform/rpc/client';
import { spawnChild, temporaryDirectory } from '@platform/testkit';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { controlName } from '../../../apps/cloud/src/admin/control-channel.ts';
import { program } from '../../../tools/bundles/program.ts';
import { openCommandLine } from '../cli/command-line.ts';
import { cloudCommand, cloudEnvironment } from '../cloud-command.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import {
  askedBy,
  byPermissions,
  everythingIn,
  familyOf,
  isRoot,
  listeningOf,
  otherAccount,
  type PortQuestion,
  reachedBy,
} from './other-account.ts';
import { rowsOf } from './read-doors.ts';

const fileOf = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

const states = ['made by itself', 'made before, mode 0755'] as const;
type State = (typeof states)[number];

/** The cloud of the tests that look at other programs. */
let cloudOfOthers: Promise<CloudProcess> | undefined;
const sharedCloud = (): Promise<CloudProcess> => (cloudOfOthers ??= startCloud());
afterAll(async () => (await cloudOfOthers)?.[Symbol.asyncDispose]());

/** A folder that every account may enter. */
async function openFolder(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  await chmod(directory.path, 0o755);
  return directory.path;
}

async function preparedIn(folder: string, name: string, state: State): Promise<string> {
  const path = join(folder, name);
  if (state === 'made before, mode 0755') {
    await mkdir(path);
    await chmod(path, 0o755);
  }
  return path;
}

async function until<T>(what: string, find: () => T | undefined | false): Promise<T> {
  for (let tries = 0; tries < 4_000; tries++) {
    const found = find();
    if (found !== undefined && found !== false) return found;
    await systemClock.sleep(50);
  }
  throw new Error(`waited in vain for ${what}`);
}

/** What was found at each door, for the comparison with the table. */
class Found {
  readonly #cells = new Map<string, Set<string>>();
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  async paths(door: string, paths: readonly string[]): Promise<void> {
    expect([door, paths.length]).not.toEqual([door, 0]);
    const found = await reachedBy(paths);
    for (const [index, cell] of found.entries()) this.add(door, cell, paths[index]);
    // What tests that do not run as root go by. In /proc, the system decides by more than permissions.
    const inFiles = paths.filter((path) => !path.startsWith('/proc/'));
    if (inFiles.length > 0)
      expect(inFiles.map(byPermissions)).toEqual(found.filter((_cell, index) => inFiles.includes(paths[index] ?? '')));
  }

  async port(door: string, question: PortQuestion): Promise<void> {
    for (const cell of await askedBy([question])) this.add(door, cell);
  }

  async processes(of: string, pids: readonly number[], secrets: readonly string[]): Promise<void> {
    const files = ['environ', 'fd', 'mem'].flatMap((name) => pids.map((pid) => `/proc/${pid}/${name}`));
    await this.paths(`${of}: environment, memory and open files of its processes`, files);
    const lines = pids.map((pid) => `/proc/${pid}/cmdline`);
    await this.paths(`${of}: arguments of its processes`, lines);
    const said = lines.map((path) => readFileSync(path, 'utf8')).join('\n');
    expect(secrets.filter((secret) => said.includes(secret))).toEqual([]);
  }

  add(door: string, cell: string, path = ''): void {
    const known = this.#cells.get(door) ?? new Set();
    this.#cells.set(door, known.add(cell));
    const expected = this.#expected().get(door) ?? 'a row in docs/specs/doors.md';
    expect([door, this.#state, path, cell]).toEqual([door, this.#state, path, expected]);
  }

  /** @param of the first word of its doors */
  compare(of: string): void {
    const expected = [...this.#expected().keys()].filter((door) => door.startsWith(`${of}: `));
    expect([...this.#cells.keys()].toSorted()).toEqual(expected.toSorted());
  }

  #expected(): Map<string, string> {
    const rows = rowsOf('Other accounts of the computer').filter(({ credentials }) => credentials === this.#state);
    return new Map(rows.map(({ door, cells }) => [door, cells.get('another account') ?? '']));
  }
}

interface Ready {
  readonly url: string;
  readonly keyId: string;
  readonly key: string;
  readonly partId: string;
  readonly signInLink: string;
}

/** Readings, a file, and a part of a large file: everything that a cloud keeps. */
async function fill({ url, keyId, key, partId }: Ready): Promise<void> {
  await using link = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  const [now, sync] = [timestampFromMs(Date.now()), link.client(DataSyncService)];
  const place = { partId, componentType: 'core:component:sensor', componentName: 'tank', methodName: 'Readings' };
  await sync.dataCaptureUpload({
    metadata: { ...place, type: DataType.TABULAR_SENSOR },
    sensorContents: [
      create(SensorDataSchema, {
        metadata: { timeRequested: now, timeReceived: now },
        data: { case: 'struct', value: { readings: { a: 1 } } },
      }),
    ],
  });
  async function* file() {
    yield { uploadPacket: { case: 'metadata' as const, value: { partId, type: DataType.FILE, fileName: 'a.bin' } } };
    yield { uploadPacket: { case: 'fileContents' as const, value: { data: new Uint8Array(10_000) } } };
  }
  await sync.fileUpload(file());
  const upload = link.client(UploadService);
  await upload.beginUpload({ partId, key: new Uint8Array(32), size: 1_000n });
  await upload.writeUpload({ partId, key: new Uint8Array(32), offset: 0n, data: new Uint8Array(10) });
}

test.each(states)(`D30 ${otherAccount} reaches of a cloud what the table says (data directory %s)`, async (state) => {
  const folder = await openFolder();
  const data = await preparedIn(folder, 'data', state);
  const args = [...cloudCommand, '--data', data, '--port', '0', '--json'];
  const env = { ...cloudEnvironment, PLATFORM_LOG_LEVEL: 'error' };
  await using cloud = spawnChild(process.execPath, args, { env });
  const ready = (await cloud.waitForLine((line) => line['event'] === 'ready')) as unknown as Ready;
  await fill(ready);
  const demo: { partSecret: string } = JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8'));
  const backup = join(folder, 'backup');
  const request = JSON.stringify({
    command: 'backup',
    dataDirectory: data,
    destination: backup,
    withInstanceKey: true,
  });
  await using admin = spawnChild(process.execPath, [...nodeFlags, program('admin-main'), request]);
  expect(await admin.exited).toMatchObject({ code: 0 });

  const found = new Found(state);
  const [control, pids] = [join(data, controlName), familyOf(cloud.pid)];
  await found.paths('cloud: data directory', [data]);
  await found.paths('cloud: control.sock, the socket of the host administrator', [control]);
  await found.paths(
    'cloud: what else is in its data directory',
    everythingIn(data).filter((path) => path !== control),
  );
  await found.paths('cloud: a backup', [backup, ...everythingIn(backup)]);
  await found.processes('cloud', pids, [
    ready.key,
    demo.partSecret,
    new URL(ready.signInLink).searchParams.get('token') ?? '',
  ]);
  const port = Number(new URL(ready.url).port);
  await found.port('cloud: a call to its port', question(port, 'platform.app.v1.AppService/ListOrganizations'));
  found.compare('cloud');
  expect(listeningOf(pids)).toEqual({ sockets: [control], ports: [port] });
});

function question(port: number, method: string): PortQuestion {
  return { port, method: 'POST', path: `/${method}`, headers: { 'content-type': 'application/json' }, body: '{}' };
}

const resourceNames = 'platform.robot.v1.RobotService/ResourceNames';

test.each(states)(
  `D51 D52 ${otherAccount} reaches of a machine-server what the table says (home and capture directory %s)`,
  async (state) => {
    const folder = await openFolder();
    const cloud = await sharedCloud();
    const env = { PLATFORM_URL: cloud.url, PLATFORM_API_KEY_ID: cloud.keyId, PLATFORM_API_KEY: cloud.key };
    await using cli = await openCommandLine(env);
    const home = await preparedIn(folder, 'home', state);
    const captures = await preparedIn(folder, 'captures', state);
    const logs = await preparedIn(folder, 'logs', state);
    const temporary = join(folder, 'tmp');
    await mkdir(temporary);
    await chmod(temporary, 0o1777);
    const moduleFile = join(folder, 'module.sh');
    const module = fileOf('apps/machine-server/src/testing/modules/test-module.ts');
    await writeFile(moduleFile, `#!/bin/sh\nexec '${process.execPath}' ${nodeFlags.join(' ')} '${module}' "$@"\n`);
    await chmod(moduleFile, 0o755);
    await mkdir(join(cli.directory, 'weights'));
    await writeFile(join(cli.directory, 'weights', 'weights.bin'), 'weights');
    const version = `1.0.${states.indexOf(state)}`;
    await cli.ok(['packages', 'upload', 'weights', '--name', 'weights', '--type', 'ml_model', '--version', version]);
    await cli.ok(['config', 'set', cloud.partId, '-', '--yes'], {
      input: JSON.stringify(configuration(moduleFile, captures, `${cloud.organizationId}/weights`)),
    });
    const file = join(folder, 'machine.json');
    const credentials = { id: cloud.partId, secret: cloud.partSecret, app_address: cloud.url };
    await writeFile(file, JSON.stringify({ cloud: credentials }), { mode: 0o600 });
    const main = program('machine-server');
    const log = join(logs, 'machine.log');
    await using machine = spawnChild(process.execPath, [...nodeFlags, main, '-config', file, '-webprofile'], {
      env: {
        ...{ PLATFORM_HOME: home, PLATFORM_LOGFILE: log, TMPDIR: temporary },
        PLATFORM_BIND_ADDRESS: '127.0.0.1:0',
      },
    });
    const { port } = await machine.waitForLine(({ msg }) => msg === 'running');
    const logged = (pattern: RegExp) => pattern.exec(readFileSync(log, 'utf8'))?.[1];
    const parentPort = Number(
      await until('the port for a module', () => logged(/its parent is at 127\.0\.0\.1:(\d+)/)),
    );
    await until('the socket for a module', () => logged(/its parent is at (\/\S+)/));
    await until('captures', () => everythingIn(captures).some((path) => path.endsWith('.prog')));
    await until('captures in the home', () =>
      everythingIn(join(home, 'capture')).some((path) => path.endsWith('.prog')),
    );
    await until('the package', () => everythingIn(home).some((path) => path.endsWith('weights.bin')));
    await until('lines for the cloud', () => everythingIn(home).some((path) => path.includes('log_queue/')));

    const found = new Found(state);
    const pids = familyOf(machine.pid);
    const { sockets, ports } = listeningOf(pids);
    await found.paths('machine-server: home', [home]);
    await found.paths('machine-server: what is in its home', everythingIn(home));
    await found.paths('machine-server: another capture directory', [captures]);
    await found.paths('machine-server: what is in another capture directory', everythingIn(captures));
    await found.paths('machine-server: log file', [log]);
    const inTemporary = everythingIn(temporary);
    const parents = inTemporary.filter((path) => path.endsWith('/parent.sock'));
    await found.paths('machine-server: sockets for modules', parents);
    await found.paths(
      'machine-server: sockets of modules',
      sockets.filter((path) => !parents.includes(path)),
    );
    await found.paths('machine-server: folders of these sockets', [...new Set(sockets.map((path) => dirname(path)))]);
    const others = inTemporary.filter(
      (path) => !sockets.includes(path) && !sockets.some((one) => dirname(one) === path),
    );
    expect(others).toEqual([]);
    await found.processes('machine-server', pids, [cloud.partSecret, cloud.key]);
    const [ofModule, ...more] = ports.filter((one) => one !== port && one !== parentPort);
    expect([ofModule !== undefined, more]).toEqual([true, []]);
    await found.port('machine-server: a call to its port', question(Number(port), resourceNames));
    const page: PortQuestion = { port: Number(port), method: 'GET', path: '/debug/vars', headers: {}, body: '' };
    await found.port('machine-server: GET /debug/vars', page);
    await found.port('machine-server: a call to its TCP port for a module', question(parentPort, resourceNames));
    const ready = question(ofModule ?? 0, 'grpc.health.v1.Health/Check');
    await found.port('machine-server: a call to the TCP port of a module', ready);
    found.compare('machine-server');
    expect(sockets.filter((path) => dirname(dirname(path)) !== temporary)).toEqual([]);
    // A killed one would leave the processes of its modules.
    await machine.kill('SIGTERM');
  },
);

function configuration(program: string, captures: string, weights: string): object {
  const capturing = (name: string, more: object) => ({
    ...{ name, api: 'core:component:sensor', model: 'core:builtin:fake', attributes: { wave: true } },
    service_configs: [
      {
        type: 'data_manager',
        attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 5, ...more }] },
      },
    ],
  });
  return {
    modules: [
      { name: 'demo', type: 'local', executable_path: program },
      { name: 'tcp', type: 'local', executable_path: program, tcp_mode: true },
    ],
    packages: [{ name: 'weights', package: weights, type: 'ml_model', version: 'latest' }],
    components: [capturing('tank', {}), capturing('pump', { capture_directory: captures })],
    // Nothing is sent, so that files stay.
    services: [
      {
        ...{ name: 'dm', api: 'core:service:data_manager', model: 'builtin' },
        attributes: { sync_disabled: true },
      },
    ],
  };
}

test.each(states)(`D30 ${otherAccount} reaches of the command line what the table says (home %s)`, async (state) => {
  const cloud = await sharedCloud();
  await using cli = await openCommandLine();
  await chmod(dirname(cli.home), 0o755);
  await preparedIn(dirname(cli.home), 'home', state);
  await cli.ok(['login', 'api-key', '--url', cloud.url, '--key-id', cloud.keyId], {
    input: cloud.key,
    asProcess: true,
  });
  const found = new Found(state);
  await found.paths('command line: home', [cli.home]);
  await found.paths('command line: what is in its home', everythingIn(cli.home));
  found.compare('command line');
});

test('where tests do not run as root, permissions tell what another account reaches', async () => {
  const folder = await openFolder();
  const made: [string, number, string][] = [
    ['open', 0o644, 'read'],
    ['closed', 0o640, 'closed'],
    ['all', 0o666, 'read, written'],
  ];
  for (const [name, mode] of made) {
    await writeFile(join(folder, name), '');
    await chmod(join(folder, name), mode);
  }
  await mkdir(join(folder, 'inner'));
  await writeFile(join(folder, 'inner', 'open'), '');
  await chmod(join(folder, 'inner'), 0o700);
  const paths = [
    ...made.map(([name]) => join(folder, name)),
    join(folder, 'inner'),
    join(folder, 'inner', 'open'),
    folder,
  ];
  const expected = [...made.map(([, , what]) => what), 'closed', 'closed', 'listed'];
  expect(paths.map(byPermissions)).toEqual(expected);
  if (isRoot) expect(await reachedBy(paths)).toEqual(expected);
});
