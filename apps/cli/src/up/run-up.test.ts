import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeFlags } from '@platform/machine-server/node-flags';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRunningCloud } from '../invocation/running-cloud.ts';
import { commandName } from '../settings.ts';
import { jsonOutput } from './json-output.ts';
import { runUp } from './run-up.ts';

// Stand-ins for the two servers: real processes that follow the contract of their command lines.
const ready = {
  url: 'http://127.0.0.1:9',
  organizationId: 'org',
  locationId: 'loc',
  machineId: 'machine',
  machineName: 'press-7',
  partId: 'part',
  keyId: 'key-id',
};
const demo = { ...ready, partSecret: 'part-secret', key: 'demo-key' };
const stays = `process.on('SIGTERM', () => { log('stopped'); process.exit(0); }); setInterval(() => {}, 1000);`;

let dir: string;
let printed: string[];
let complained: string[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'platform-up-'));
  printed = [];
  complained = [];
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function program(name: string, body: string): Promise<string> {
  const file = join(dir, `${name}.mjs`);
  const log = `import { appendFileSync } from 'node:fs';
    const log = (text) => appendFileSync(${JSON.stringify(join(dir, 'log'))}, '${name} ' + text + '\\n');`;
  await writeFile(file, `${log}\n${body}`);
  return pathToFileURL(file).href;
}

const cloudBody = (more = ''): string => `
  import { writeFileSync } from 'node:fs';
  log(process.argv.slice(2).join(' '));
  writeFileSync(${JSON.stringify(join(dir, 'demo.json'))}, ${JSON.stringify(JSON.stringify(demo))});
  const ready = ${JSON.stringify({ ...ready, key: 'owner-key', signInLink: 'x' })};
  ${more}
  console.log(JSON.stringify({ event: 'ready', ...ready }));`;

async function up(
  cloud: string,
  machine: string,
  signal: AbortSignal,
  { demo = true, graceMs = 60_000, port = 8123 } = {},
): Promise<number> {
  const output = jsonOutput({ write: (text) => printed.push(text), complain: (text) => complained.push(text) });
  return runUp({
    homeDir: dir,
    dataDir: dir,
    port,
    demo,
    cloudEntry: await program('cloud', cloud),
    machineEntry: await program('machine', machine),
    env: process.env,
    output,
    signal,
    graceMs,
  });
}

const log = (): Promise<string> => readFile(join(dir, 'log'), 'utf8').catch(() => '');

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('up starts the cloud, then the machine-server with a credentials file that only its owner can read, and stops them in reverse order with exit code 0', async () => {
  const stop = new AbortController();
  const machine = `${stays} log(process.argv.slice(2).join(' ') + ' home=' + process.env.PLATFORM_HOME + ' at ' + process.env.PLATFORM_BIND_ADDRESS + ' with ' + process.execArgv.join(' '));`;
  const cloud = `log('hints name ' + process.env.PLATFORM_COMMAND); ${stays}`;
  const running = up(cloudBody(cloud), machine, stop.signal);
  await until(async () => (await log()).includes('home='));
  expect(await readRunningCloud(dir)).toEqual({ url: ready.url, dataDir: dir });
  stop.abort();

  expect(await running).toBe(0);
  expect(await readRunningCloud(dir)).toBe(undefined);
  const credentials = join(dir, 'machine', 'credentials.json');
  const flags = [...process.execArgv, ...nodeFlags].join(' ');
  expect((await log()).trim().split('\n')).toEqual([
    `cloud --data ${dir} --port 8123 --host 127.0.0.1 --json`,
    `cloud hints name ${commandName(process.env)}`,
    `machine -config ${credentials} home=${join(dir, 'machine')} at 127.0.0.1:0 with ${flags}`,
    'machine stopped',
    'cloud stopped',
  ]);
  expect((await stat(credentials)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(credentials, 'utf8'))).toEqual({
    cloud: { id: 'part', secret: 'part-secret', app_address: ready.url },
  });
  const events = printed.map((line) => JSON.parse(line));
  const { url, organizationId, locationId, machineId, partId, keyId } = ready;
  const ids = {
    organization_id: organizationId,
    location_id: locationId,
    machine_id: machineId,
    part_id: partId,
    key_id: keyId,
  };
  expect(events).toEqual([{ event: 'ready', url, ...ids, key: 'owner-key' }, { event: 'stopped' }]);
});

test('a damaged demo.json ends only the demo: the message says what to do, and the cloud keeps running', async () => {
  const stop = new AbortController();
  const problem = 'demo.json: expected an object, found text that is not JSON. Delete the file';
  const running = up(
    cloudBody(`ready.demoProblem = ${JSON.stringify(problem)}; ${stays}`),
    `log('started');`,
    stop.signal,
  );
  await until(async () => printed.length > 0);
  expect(complained).toEqual([`The cloud is running, but the demo is not. ${problem}\n`]);
  stop.abort();
  expect(await running).toBe(0);
  expect(await log()).not.toContain('machine');
});

test('up without the demo starts no machine-server', async () => {
  const stop = new AbortController();
  const running = up(cloudBody(stays), `log('started');`, stop.signal, { demo: false });
  await until(async () => printed.length > 0);
  stop.abort();
  expect(await running).toBe(0);
  expect(await log()).not.toContain('machine');
});

test('if the cloud cannot start, its message is shown, nothing else is started, and its exit code is ours', async () => {
  const cloud = `console.error('cloud: port 8123 is in use'); process.exit(3);`;
  expect(await up(cloud, `log('started');`, new AbortController().signal)).toBe(3);
  expect(complained.at(-1)).toBe('cloud: port 8123 is in use\n');
  expect(printed).toEqual([]);
  expect(await log()).toBe('');
});

test('if the cloud ends by an error that nothing handles, its message is shown with its stack', async () => {
  const code = await up(
    "function load() { throw new TypeError('no such field'); } load();",
    stays,
    new AbortController().signal,
  );
  expect(code).toBe(1);
  const [first, ...stack] = complained.join('').trim().split('\n');
  expect(first).toContain('TypeError: no such field');
  expect(stack[0]).toMatch(/ at load \(.*cloud\.mjs:/);
  expect(complained.join('')).not.toContain('Node.js v');
});

test('a machine-server that dies is reported with its last lines and restarted, while the cloud keeps running', async () => {
  const stop = new AbortController();
  const first = join(dir, 'died');
  const machine = `import { existsSync, writeFileSync } from 'node:fs';
    if (existsSync(${JSON.stringify(first)})) { ${stays} log('again'); }
    else {
      writeFileSync(${JSON.stringify(first)}, '');
      const logged = JSON.stringify({ level: 'info', msg: 'capturing' });
      process.stdout.write(logged + '\\n', () => process.stderr.write('out of luck\\n', () => process.kill(process.pid, 'SIGKILL')));
    }`;
  const running = up(cloudBody(stays), machine, stop.signal);
  await until(async () => (await log()).includes('machine again'));
  const said = complained.join('');
  expect(said).toContain('machine-server was killed by SIGKILL. Restarting it in 1 s.');
  expect(said).toContain('"msg":"capturing"');
  expect(said).toContain('out of luck');
  expect(await log()).not.toContain('cloud stopped');
  stop.abort();
  expect(await running).toBe(0);
  expect(await log()).toContain('machine stopped');
});

test('a machine-server that exits on request is restarted at once', async () => {
  const stop = new AbortController();
  const first = join(dir, 'asked');
  const machine = `import { existsSync, writeFileSync } from 'node:fs';
    if (existsSync(${JSON.stringify(first)})) { ${stays} log('again'); }
    else { writeFileSync(${JSON.stringify(first)}, ''); setTimeout(() => {}, 1_500); }`;
  const running = up(cloudBody(stays), machine, stop.signal);
  await until(async () => (await log()).includes('machine again'));
  expect(complained).toContain('the machine-server restarts on request\n');
  stop.abort();
  expect(await running).toBe(0);
});

test('a cloud that dies is reported with its last lines and restarted at its address, while the machine-server keeps running', async () => {
  const stop = new AbortController();
  const first = join(dir, 'died');
  const dies = `setTimeout(() => process.stderr.write('out of luck\\n', () => process.kill(process.pid, 'SIGKILL')), 500);`;
  const cloud = `import { existsSync } from 'node:fs';
    ready.url = 'http://127.0.0.1:4567';
    if (existsSync(${JSON.stringify(first)})) { delete ready.key; ${stays} }
    else { writeFileSync(${JSON.stringify(first)}, ''); ${dies} }`;
  const running = up(cloudBody(cloud), `${stays} log('machine');`, stop.signal, { port: 0 });
  await until(async () => printed.length >= 3);
  const events = printed.map((line) => JSON.parse(line));
  expect(events).toMatchObject([
    { event: 'ready', url: 'http://127.0.0.1:4567', key: 'owner-key' },
    { event: 'cloud_ended', reason: 'The cloud was killed by SIGKILL', restarts_in_ms: 1_000 },
    { event: 'ready', url: 'http://127.0.0.1:4567' },
  ]);
  expect(complained.join('')).toContain('The cloud was killed by SIGKILL. Restarting it in 1 s. Its last lines:');
  expect(complained.join('')).toContain('out of luck');
  expect((await readRunningCloud(dir))?.url).toBe('http://127.0.0.1:4567');
  await until(async () => (await log()).includes('machine machine'));
  stop.abort();
  expect(await running).toBe(0);
  expect(
    (await log())
      .trim()
      .split('\n')
      .filter((line) => !line.includes('machine machine')),
  ).toEqual([
    `cloud --data ${dir} --port 0 --host 127.0.0.1 --json`,
    `cloud --data ${dir} --port 4567 --host 127.0.0.1 --json`,
    'machine stopped',
    'cloud stopped',
  ]);
});

test('a cloud that dies and then cannot start is tried again, with a pause that doubles', async () => {
  const stop = new AbortController();
  const first = join(dir, 'died');
  const cloud = `import { existsSync } from 'node:fs';
    if (existsSync(${JSON.stringify(first)})) { console.error('cloud: the disk is full'); process.exit(1); }
    else { writeFileSync(${JSON.stringify(first)}, ''); setTimeout(() => process.exit(70), 500); }`;
  const running = up(cloudBody(cloud), '', stop.signal, { demo: false });
  await until(async () => printed.length >= 3);
  stop.abort();
  expect(await running).toBe(0);
  const events = printed.map((line) => JSON.parse(line));
  expect(events).toMatchObject([
    { event: 'ready' },
    { event: 'cloud_ended', reason: 'The cloud exited with code 70', restarts_in_ms: 1_000 },
    { event: 'cloud_ended', reason: 'The cloud exited with code 1', restarts_in_ms: 2_000 },
    { event: 'stopped' },
  ]);
  expect(complained.join('')).toContain('the disk is full');
});

test('a process that does not stop when asked is killed after the grace period', async () => {
  const stop = new AbortController();
  const deaf = `process.on('SIGTERM', () => log('deaf')); log('pid=' + process.pid); setInterval(() => {}, 1000);`;
  // Long enough for the cloud, which stops on request.
  const running = up(cloudBody(stays), deaf, stop.signal, { graceMs: 5_000 });
  await until(async () => (await log()).includes('pid='));
  stop.abort();
  expect(await running).toBe(0);
  const pid = Number(/pid=(\d+)/.exec(await log())?.[1]);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(await log()).toContain('cloud stopped');
});
