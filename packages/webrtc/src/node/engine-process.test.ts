import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createLog } from '@platform/base';
import { FakeClock, spawnChild } from '@platform/testkit';

import { afterEach, beforeEach, expect, test } from 'vitest';
import { program } from '../../../../tools/bundles/program.ts';
import { candidatesOf, connectPeers, reasonOf, startTestEngine } from '../testing/connect-peers.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'platform-webrtc-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const noServers = { iceServers: [] };

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('the process starts with the first peer; if it is killed, its peers end, and the next call starts it again', async () => {
  const lines: string[] = [];
  const log = createLog((level, _logger, message) => lines.push(`${level}: ${message}`));
  await using engine = startTestEngine({ log });
  await using other = startTestEngine();
  expect(engine.processId).toBeUndefined();
  const { caller, callee, ofCaller } = await connectPeers(engine, other);
  const half = await engine.createPeer(noServers);
  const first = Number(engine.processId);
  // It parses what strangers send, so it has nothing to tell.
  expect(readFileSync(`/proc/${first}/environ`, 'utf8')).toBe('');
  process.kill(first, 'SIGKILL');
  for (const ended of [caller.ended, ofCaller.ended, half.ended])
    expect(await reasonOf(ended)).toEqual({
      code: 'unavailable',
      message: 'the WebRTC engine has ended: signal SIGKILL',
    });
  await expect(half.opened).rejects.toMatchObject({ code: 'unavailable' });
  await expect(half.offer()).rejects.toMatchObject({ code: 'unavailable' });
  expect(callee.ended.aborted).toBe(false);
  await using _again = (await connectPeers(engine, other)).caller;
  expect(engine.processId).not.toBe(first);
  expect(lines).toEqual([expect.stringMatching(/^error: the WebRTC engine died/)]);
});

test('a process without peers ends after a while; one that hangs is killed', async () => {
  const clock = new FakeClock();
  await using engine = startTestEngine({ clock, idleMs: 1_000 });
  const peer = await engine.createPeer(noServers);
  const first = Number(engine.processId);
  await clock.advance(5_000);
  expect(isRunning(first)).toBe(true);
  await peer[Symbol.asyncDispose]();
  await clock.advance(999);
  expect(engine.processId).toBe(first);
  await clock.advance(1);
  expect(engine.processId).toBeUndefined();
  await expect.poll(() => isRunning(first)).toBe(false);
  const again = await engine.createPeer(noServers);
  const second = Number(engine.processId);
  process.kill(second, 'SIGSTOP');
  await again[Symbol.asyncDispose]();
  await clock.advance(1_000);
  // It waits for the end of the process, and starts none after the engine was closed.
  const refused = expect(engine.createPeer(noServers)).rejects.toMatchObject({ code: 'failed_precondition' });
  const closed = engine[Symbol.asyncDispose]();
  await clock.advance(2_000);
  await closed;
  await refused;
  expect(isRunning(second)).toBe(false);
  expect(engine.processId).toBeUndefined();
  await expect(engine.createPeer(noServers)).rejects.toMatchObject({ code: 'failed_precondition' });
});

test('a peer that does not open within 20 s ends', async () => {
  const clock = new FakeClock();
  await using engine = startTestEngine({ clock });
  const peer = await engine.createPeer(noServers);
  await peer.offer();
  await clock.advance(19_999);
  expect(peer.ended.aborted).toBe(false);
  await clock.advance(1);
  expect(await reasonOf(peer.ended)).toMatchObject({ code: 'deadline_exceeded' });
  await expect(peer.opened).rejects.toMatchObject({ code: 'deadline_exceeded' });
  expect(await candidatesOf(peer)).toEqual([]);
  const other = await engine.createPeer(noServers);
  await engine[Symbol.asyncDispose]();
  expect(await reasonOf(other.ended)).toEqual({ code: 'unavailable', message: 'the WebRTC engine was closed' });
  // No timer keeps the program.
  expect(clock.waiting).toBe(0);
});

test('the process ends with the one that started it, however that ends', async () => {
  const script = join(dir, 'parent.mjs');
  writeFileSync(
    script,
    `import { createEngine } from ${JSON.stringify(new URL('./create-engine.ts', import.meta.url).href)};
    import { silentLog, systemClock } from ${JSON.stringify(new URL('../../../base/src/index.ts', import.meta.url).href)};
    const program = new URL(${JSON.stringify(pathToFileURL(program('webrtc-engine')).href)});
    const engine = createEngine({ clock: systemClock, log: silentLog, program });
    await (await engine.createPeer({ iceServers: [] })).offer();
    console.log(JSON.stringify({ engine: engine.processId }));`,
  );
  await using parent = spawnChild(process.execPath, [...process.execArgv, script]);
  const { engine } = await parent.waitForLine((line) => 'engine' in line);
  expect(isRunning(Number(engine))).toBe(true);
  await parent.kill('SIGKILL');
  await expect.poll(() => isRunning(Number(engine))).toBe(false);
});

test('a port that is taken is named; once it is free, the next call works', async () => {
  const socket = createSocket('udp4').bind(0, '0.0.0.0');
  await once(socket, 'listening');
  const udpPort = socket.address().port;
  await using engine = startTestEngine({ udpPort });
  await expect(engine.createPeer(noServers)).rejects.toMatchObject({
    code: 'unavailable',
    message: `the WebRTC engine did not start: UDP port ${udpPort} is in use or not allowed`,
  });
  socket.close();
  await once(socket, 'close');
  const peer = await engine.createPeer(noServers);
  await using other = startTestEngine();
  await peer.answer(await (await other.createPeer(noServers)).offer());
  const ports = (await candidatesOf(peer)).map(({ candidate }) => Number(candidate.split(' ')[5]));
  expect(new Set(ports)).toEqual(new Set([udpPort]));
});

test('a computer without the library says so at each call, and tries once', async () => {
  const alone = join(dir, 'webrtc-engine.js');
  copyFileSync(program('webrtc-engine'), alone);
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  const lines: string[] = [];
  const log = createLog((level, _logger, message) => lines.push(`${level}: ${message}`));
  await using engine = startTestEngine({ log, program: pathToFileURL(alone) });
  const message = `this computer has no WebRTC engine (${process.platform} ${process.arch}): calls go through the cloud`;
  for (let call = 0; call < 2; call++)
    await expect(engine.createPeer(noServers)).rejects.toMatchObject({ code: 'unavailable', message });
  expect(engine.processId).toBeUndefined();
  expect(lines).toEqual([`warn: ${message}`]);
});

test('a process that writes nonsense, or ends at once, is refused; after three times it is started less often', async () => {
  const clock = new FakeClock();
  const odd = join(dir, 'odd.mjs');
  writeFileSync(
    odd,
    `import { writeSync } from 'node:fs';\nwriteSync(3, 'x'.repeat(100));\nsetInterval(() => {}, 1000);\n`,
  );
  await using engine = startTestEngine({ clock, program: pathToFileURL(odd) });
  for (let start = 0; start < 3; start++)
    await expect(engine.createPeer(noServers)).rejects.toThrow(/did not start: it sent what cannot be read/);
  await expect(engine.createPeer(noServers)).rejects.toThrow(/died 3 times in a row; it is started again in 1 s/);
  writeFileSync(odd, 'process.exit(3);\n');
  await clock.advance(500);
  await expect(engine.createPeer(noServers)).rejects.toThrow('the WebRTC engine did not start: exit code 3');
  expect(isRunning(process.pid)).toBe(true);
});
