/** The computer of a machine, reached through a real cloud with the command line: tunnels, shells and copies of files. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '@platform/base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandLine, openCommandLine, type Running } from '../cli/command-line.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type MachineProcess, startMachine } from './start-machine.ts';

let cloud: CloudProcess;
let machine: MachineProcess;
let cli: CommandLine;
let operator: Readonly<Record<string, string>>;
let echo: Server;
let echoPort: number;
const part = ['machines', 'part'];

const configure = (...ports: readonly number[]) =>
  cli.ok(['config', 'set', cloud.partId, '-', '--yes'], {
    input: JSON.stringify({
      services: [
        { name: 'sh', api: 'core:service:shell', model: 'core:builtin:builtin', attributes: { shell: '/bin/sh' } },
      ],
      network: { traffic_tunnel_endpoints: ports.map((port) => ({ port })) },
    }),
  });

beforeAll(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => void socket.on('error', () => {}).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  echoPort = (echo.address() as AddressInfo).port;
  cloud = await startCloud();
  const { keyId, key, url } = cloud;
  cli = await openCommandLine({ PLATFORM_URL: url, PLATFORM_API_KEY_ID: keyId, PLATFORM_API_KEY: key });
  await configure(echoPort);
  machine = await startMachine(cloud, url);
  const made = await cli.ok(
    ['api-keys', 'create', 'hand', '--role', 'operator', '--machine', cloud.machineId, '--json'],
    {
      reveals: true,
    },
  );
  const { id, key: operatorKey } = made.json<{ id: string; key: string }>();
  operator = { PLATFORM_API_KEY_ID: id, PLATFORM_API_KEY: operatorKey };
  while (!(await cli.run([...part, 'resources', cloud.partId])).stdout.includes('ready')) await systemClock.sleep(100);
});
afterAll(async () => {
  await machine?.[Symbol.asyncDispose]();
  await cli?.[Symbol.asyncDispose]();
  await cloud?.[Symbol.asyncDispose]();
  echo?.close();
});

/** Sends the bytes and then ends; resolves with what comes back. */
async function through(port: number, bytes: Buffer): Promise<Buffer> {
  const socket: Socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  const parts: Buffer[] = [];
  socket.end(bytes);
  for await (const data of socket as AsyncIterable<Buffer>) parts.push(data);
  return Buffer.concat(parts);
}

const namesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('a tunnel carries several connections with megabytes in both directions, until Ctrl-C', async () => {
  const args = [...part, 'tunnel', cloud.partId, '--port', String(echoPort), '--local', '0'];
  const tunnel = cli.startProcess(args, { keepOpen: true });
  const [, port] = await tunnel.matching('stdout', /127\.0\.0\.1:(\d+) leads to port/);
  const sent = [8_000_000, 3_000_000, 10].map((size) => randomBytes(size));
  const received = await Promise.all(sent.map((bytes) => through(Number(port), bytes)));
  expect(received.map(digest)).toEqual(sent.map(digest));
  tunnel.child.kill('SIGINT');
  expect((await tunnel.ended).code).toBe(130);
  await expect(through(Number(port), Buffer.from('x'))).rejects.toThrow('ECONNREFUSED');
});

test('R21 an operator gets no tunnel, no shell and no copies; a port that is not listed is refused before anything connects', async () => {
  const tunnel = [...part, 'tunnel', cloud.partId, '--local', '0', '--port'];
  const refused = cli.start([...tunnel, String(echoPort)], { env: operator, keepOpen: true });
  const [, port] = await refused.matching('stdout', /127\.0\.0\.1:(\d+) leads to port/);
  await through(Number(port), Buffer.from('x')).catch(() => {});
  const { code, stderr } = await refused.ended;
  expect([code, stderr]).toEqual([4, expect.stringContaining('owner')]);
  const unlisted = await cli.run([...tunnel, '22']);
  expect([unlisted.code, unlisted.stdout, unlisted.stderr]).toEqual([
    ...[
      5,
      '',
      expect.stringContaining(`network.traffic_tunnel_endpoints of the machine's configuration, which has ${echoPort}`),
    ],
  ]);
  const shell = await cli.run([...part, 'shell', cloud.partId, 'id'], { env: operator });
  expect([shell.code, shell.stdout]).toEqual([4, '']);
  const copy = await cli.run([...part, 'cp', `${cloud.partId}:/etc/hostname`, 'hostname'], { env: operator });
  expect([copy.code, readdirSync(cli.directory)]).toEqual([4, []]);
});

test('a local program that does not read stops the program on the machine, and no other connection', async () => {
  let written = 0;
  await using talker = createServer((socket) => {
    const more = (): void => {
      while (written < 2 ** 30 && socket.write(Buffer.alloc(65_536))) written += 65_536;
    };
    socket.on('error', () => {}).on('drain', more);
    more();
  });
  await once(talker.listen(0, '127.0.0.1'), 'listening');
  const { port: talking } = talker.address() as AddressInfo;
  await configure(echoPort, talking);
  const open = async (port: number): Promise<number> => {
    const args = [...part, 'tunnel', cloud.partId, '--port', String(port), '--local', '0'];
    let started = cli.start(args, { keepOpen: true });
    // The edit takes a moment to arrive.
    for (let ended = await didEnd(started); ended; ended = await didEnd(started))
      started = cli.start(args, { keepOpen: true });
    return Number((await started.matching('stdout', /127\.0\.0\.1:(\d+) leads to port/))[1]);
  };
  const didEnd = ({ matching }: Running): Promise<boolean> =>
    matching('stdout', /leads to port/).then(
      () => false,
      () => true,
    );
  const deaf = connect({ host: '127.0.0.1', port: await open(talking) });
  deaf.on('error', () => {}).once('readable', () => {});
  const echoing = await open(echoPort);
  let before = -1;
  while (written === 0 || written !== before) {
    before = written;
    expect((await through(echoing, Buffer.from('are you there'))).toString()).toBe('are you there');
    await systemClock.sleep(500);
  }
  expect(written).toBeLessThan(64 * 1024 * 1024);
  deaf.destroy();
  await configure(echoPort);
});

test('an edit that removes the port ends its connections, and the command with the next one', async () => {
  const args = [...part, 'tunnel', cloud.partId, '--port', String(echoPort), '--local', '0'];
  const tunnel = cli.start(args, { keepOpen: true });
  const [, port] = await tunnel.matching('stdout', /127\.0\.0\.1:(\d+) leads to port/);
  const open = connect({ host: '127.0.0.1', port: Number(port) });
  open.write('hello');
  await once(open, 'data');
  const reset = new Promise((resolve) => open.on('error', () => {}).once('close', resolve));
  await configure();
  await reset;
  await tunnel.matching('stderr', /no longer lists port/);
  await through(Number(port), Buffer.from('x')).catch(() => {});
  const { code, stderr } = await tunnel.ended;
  expect([code, stderr]).toEqual([5, expect.stringContaining('it has none')]);
  await configure(echoPort);
});

test('a folder is copied to a machine and back with contents, permissions and times; a single file, too', async () => {
  const source = join(cli.directory, 'tree');
  mkdirSync(join(source, 'deep/empty'), { recursive: true });
  const large = randomBytes(5_000_000);
  writeFileSync(join(source, 'deep/large'), large);
  writeFileSync(join(source, 'key'), 'secret', { mode: 0o600 });
  utimesSync(join(source, 'key'), 1_000_000, 1_000_000);
  symlinkSync('..', join(source, 'deep/loop'));
  const there = join(machine.home, 'copy');
  const sent = await cli.ok([...part, 'cp', '-r', 'tree', `${cloud.partId}:${there}`, '--json']);
  expect(sent.json()).toEqual({ files: 2, bytes: 5_000_006, left_out: 1 });
  expect(sent.stderr).toContain('tree/deep/loop is left out: it leads back');
  expect(digest(readFileSync(join(there, 'deep/large')))).toBe(digest(large));
  expect(namesIn(there)).toEqual(['deep', 'deep/empty', 'deep/large', 'key']);
  expect([statSync(join(there, 'key')).mode & 0o777, statSync(join(there, 'key')).mtimeMs]).toEqual([0o600, 1e9]);

  const back = await cli.ok([...part, 'cp', '-r', `${cloud.partId}:${there}`, 'back', '--json']);
  expect(back.json()).toEqual({ files: 2, bytes: 5_000_006, left_out: 0 });
  const home = join(cli.directory, 'back');
  expect(namesIn(home)).toEqual(['deep', 'deep/empty', 'deep/large', 'key']);
  expect(digest(readFileSync(join(home, 'deep/large')))).toBe(digest(large));
  expect([statSync(join(home, 'key')).mode & 0o777, statSync(join(home, 'key')).mtimeMs]).toEqual([0o600, 1e9]);

  await cli.ok([...part, 'cp', `${cloud.partId}:${there}/key`, 'back/deep']);
  expect(readFileSync(join(home, 'deep/key'), 'utf8')).toBe('secret');
  const folder = await cli.run([...part, 'cp', `${cloud.partId}:${there}`, 'other']);
  expect([folder.code, folder.stderr]).toEqual([2, expect.stringContaining('found a folder')]);
  const missing = await cli.run([...part, 'cp', `${cloud.partId}:${there}/none`, 'other']);
  expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('it does not exist')]);
  const local = await cli.run([...part, 'cp', 'tree', 'other']);
  expect([local.code, local.stderr]).toEqual([2, expect.stringContaining('expected PART:PATH as one of')]);
  expect(readdirSync(cli.directory).toSorted()).toEqual(['back', 'tree']);
});

test('a shell runs a command or a script with its output, errors and exit code', async () => {
  const shell = [...part, 'shell', cloud.partId];
  const ran = await cli.run([...shell, 'echo out; echo wrong >&2; exit 3']);
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([3, 'out\n', 'wrong\n']);
  const script = await cli.run(shell, { input: 'tty\nexit 4\n' });
  expect([script.code, script.stdout]).toEqual([4, 'not a tty\n']);
  const large = await cli.ok([...shell, 'wc -c'], { input: 'x'.repeat(2_000_000) });
  expect(large.stdout.trim()).toBe('2000000');
  // A process ends with the command, although its input is still open.
  const process = await cli.run([...shell, 'exit 5'], { asProcess: true, keepOpen: true });
  expect(process.code).toBe(5);
  const audited = (await cli.ok(['organizations', 'audit', '--json'])).stdout;
  for (const action of ['RobotService.Tunnel', 'ShellService.Shell', 'ShellService.CopyFilesToMachine'])
    expect(audited).toContain(action);
});

test('on a terminal a shell is interactive, has its size, and ends with its exit code or Ctrl-]', async () => {
  const terminal = { columns: 123, rows: 45 };
  const session = cli.start([...part, 'shell', cloud.partId], { keepOpen: true, terminal });
  session.stdin.write('stty size; echo $((6*7))end\n');
  await session.matching('stdout', /45 123\s+42end/);
  session.stdin.write('exit 7\n');
  expect((await session.ended).code).toBe(7);
  const left = cli.start([...part, 'shell', cloud.partId], { keepOpen: true, terminal });
  left.stdin.write('echo $((6*7))end\n');
  await left.matching('stdout', /42end/);
  left.stdin.write('\u001d');
  expect(await left.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('left the shell') });
});
