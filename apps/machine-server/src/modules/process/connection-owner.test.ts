import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connectionOwners } from './connection-owner.ts';
import { type ProcessStart, readProcess } from './read-process.ts';

const isRoot = process.getuid?.() === 0;
const nobody = isRoot ? { uid: 65_534, gid: 65_534 } : {};

async function listen() {
  const server = createServer({ pauseOnConnect: true }).listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  /** The next connection, once `open` has caused it. */
  const accept = async (open: () => unknown): Promise<Socket> => {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    await open();
    const [socket] = await accepted;
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  return { port, accept };
}

const connecting = (port: number): string => `require('node:net').connect(${port}, '127.0.0.1').on('error', () => {})`;

/** A process that runs the line that it is sent. */
function start(how: { uid?: number; gid?: number } = {}): { child: ChildProcess; run: (line: string) => void } {
  const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => eval(line))`;
  const child = spawn(process.execPath, ['-e', script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
    ...how,
  });
  onTestFinished(() => void process.kill(-(child.pid ?? 0), 'SIGKILL'));
  return { child, run: (line) => child.stdin?.write(`${line}\n`) };
}

async function leaderOf(child: ChildProcess): Promise<ProcessStart> {
  await once(child, 'spawn');
  const found = await readProcess(child.pid ?? 0);
  if (found === undefined) throw new Error('expected a process');
  return found;
}

const spawning = (line: string, detached: boolean): string =>
  `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(line)}], { stdio: 'ignore', detached: ${detached} })`;

test('D52 a connection is a module’s if its process, a child, or a child in a session of its own has it', async () => {
  const { port, accept } = await listen();
  const { child, run } = start();
  const leader = await leaderOf(child);
  for (const line of [
    connecting(port),
    spawning(connecting(port), false),
    spawning(connecting(port), true),
    spawning(spawning(connecting(port), true), true),
  ]) {
    const socket = await accept(() => run(line));
    expect([line, await connectionOwners.strangerOf(socket, leader)]).toEqual([line, undefined]);
    socket.resetAndDestroy();
  }
  expect(await connectionOwners.whyUntold(leader)).toBeUndefined();
});

/** A shell starts a process that runs the line once the shell has ended. */
const orphaning = (line: string): string => {
  const waiting = `const wait = setInterval(() => { if (String(process.ppid) !== process.env.SHELL_PID) { clearInterval(wait); ${line}; } }, 10)`;
  return `require('node:child_process').spawn('sh', ['-c', 'SHELL_PID=$$ "$0" -e "$1" &', process.execPath, ${JSON.stringify(waiting)}], { stdio: 'ignore' })`;
};

test('D52 a connection of an orphan in the process group of the module is the module’s, although it descends from it no more', async () => {
  const { port, accept } = await listen();
  const { child, run } = start();
  const leader = await leaderOf(child);
  const socket = await accept(() => run(orphaning(connecting(port))));
  expect(await connectionOwners.strangerOf(socket, leader)).toBeUndefined();
  const other = await leaderOf(start().child);
  expect(await connectionOwners.strangerOf(socket, other)).toMatch(/^it belongs to a process of user/);
});

test(`D52 a connection of another account${isRoot ? '' : ' (another process of this one: not run as root)'} is not a module’s, nor one of its parent, nor a later process with its number`, async () => {
  const { port, accept } = await listen();
  const { child, run } = start();
  const leader = await leaderOf(child);
  const uid = nobody.uid ?? process.getuid?.();
  const other = start(nobody);
  const foreign = await accept(() => other.run(connecting(port)));
  expect(await connectionOwners.strangerOf(foreign, leader)).toBe(`it belongs to a process of user ${uid}`);

  const client = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void client.destroy());
  const own = await accept(() => once(client, 'connect'));
  expect(await connectionOwners.strangerOf(own, leader)).toBe(`it belongs to a process of user ${process.getuid?.()}`);

  const before = await accept(() => run(connecting(port)));
  const later = { ...leader, started: `${Number(leader.started) - 1}` };
  expect(await connectionOwners.strangerOf(before, later)).toMatch(/^it belongs to a process of user/);
});

test('D52 a connection whose client has left is nobody’s, even if what it sent can still be read', async () => {
  const { port, accept } = await listen();
  const leader = await readProcess(process.pid);
  if (leader === undefined) throw new Error('expected this process');
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  const socket = await accept(() => once(client, 'connect'));
  socket.on('error', () => {});
  expect(await connectionOwners.strangerOf(socket, leader)).toBeUndefined();
  client.write('x'.repeat(1_000_000));
  client.resetAndDestroy();
  await expect.poll(() => connectionOwners.strangerOf(socket, leader)).toBe('its client has left');
});
