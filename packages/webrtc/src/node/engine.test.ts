import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { candidatesOf, connectPeers, reasonOf, startTestEngine } from '../testing/connect-peers.ts';
import type { NodeEngine } from './create-engine.ts';

let [caller, callee]: NodeEngine[] = [];
const engines = (): [NodeEngine, NodeEngine] => [caller as NodeEngine, callee as NodeEngine];
beforeAll(() => {
  [caller, callee] = [startTestEngine(), startTestEngine()];
});
afterAll(async () => {
  await Promise.all(engines().map((engine) => engine[Symbol.asyncDispose]()));
});

test('two computers connect, and exchange messages of up to 64 KiB whole and in order, both ways', async () => {
  const { caller, callee, ofCaller, ofCallee } = await connectPeers(...engines());
  await using _caller = caller;
  const sizes = [1, 0, 100, 65_536, 3];
  const received = (channel: typeof ofCaller): Promise<Uint8Array[]> =>
    new Promise((resolve) => {
      const all: Uint8Array[] = [];
      channel.onMessage = (message) => all.push(message) === sizes.length && resolve(all);
    });
  const all = Promise.all([received(ofCaller), received(ofCallee)]);
  for (const [at, size] of sizes.entries()) {
    ofCaller.send(new Uint8Array(size).fill(at));
    ofCallee.send(new Uint8Array(size).fill(at));
  }
  for (const messages of await all)
    expect(messages.map((message) => Buffer.from(message))).toEqual(sizes.map((size, at) => Buffer.alloc(size, at)));
  expect(await caller.selectedPair()).toMatchObject({ local: 'host', remote: 'host' });
  expect((await callee.selectedPair())?.remoteAddress).toMatch(/^(\d+(\.\d+){3}|\[[\da-f:.]+\]):\d+$/);
});

test('what answers announces an address for callers on the same computer, at the one port of all peers', async () => {
  const { callee } = await connectPeers(...engines());
  await using _callee = callee;
  const second = await connectPeers(...engines());
  await using _second = second.callee;
  const ports = new Set<string | undefined>();
  for (const peer of [callee, second.callee]) {
    const all = (await candidatesOf(peer)).map(({ candidate }) => candidate.split(' '));
    expect(all.map(([, , , , address]) => address)).toContain('127.0.0.1');
    for (const [, , , , , port] of all) ports.add(port);
  }
  expect(ports.size).toBe(1);
});

test('one that sends no faster than the other end reads keeps about 1 MiB waiting, and all of it arrives', async () => {
  const { caller, ofCaller, ofCallee } = await connectPeers(...engines());
  await using _caller = caller;
  const total = 32 << 20;
  let [arrived, most] = [0, 0];
  const all = Promise.withResolvers<void>();
  ofCallee.onMessage = (message) => {
    arrived += message.length;
    if (arrived === total) all.resolve();
  };
  const message = new Uint8Array(64 << 10);
  for (let sent = 0; sent < total; sent += message.length) {
    await ofCaller.drained();
    ofCaller.send(message);
    most = Math.max(most, ofCaller.bufferedBytes);
  }
  await all.promise;
  expect(most).toBeLessThanOrEqual((1 << 20) + message.length);
  await expect.poll(() => ofCaller.bufferedBytes).toBe(0);
});

test('either side ends the connection for both', async () => {
  for (const side of ['caller', 'callee'] as const) {
    const both = await connectPeers(...engines());
    const [own, other] = side === 'caller' ? [both.caller, both.callee] : [both.callee, both.caller];
    const { ended } = side === 'caller' ? both.ofCallee : both.ofCaller;
    await own[Symbol.asyncDispose]();
    expect(await reasonOf(own.ended)).toEqual({ code: 'canceled', message: 'this side closed the connection' });
    expect(await reasonOf(other.ended)).toMatchObject({ code: 'unavailable' });
    expect(ended.aborted).toBe(true);
    expect(await other.selectedPair()).toBeUndefined();
    both.ofCaller.send(new Uint8Array(1));
    await both.ofCaller.drained();
  }
});

test('more than 1 MiB that arrives before anybody listens ends the connection', async () => {
  const { callee, ofCaller } = await connectPeers(...engines());
  for (let at = 0; at < 17; at++) ofCaller.send(new Uint8Array(64 << 10));
  expect(await reasonOf(callee.ended)).toMatchObject({ code: 'resource_exhausted' });
});

test('descriptions that cannot be read are refused with the reason; other peers are not disturbed', async () => {
  const { caller, callee, ofCaller, ofCallee } = await connectPeers(...engines());
  await using _caller = caller;
  const [engine] = engines();
  const offer = await (await engine.createPeer({ iceServers: [] })).offer();
  const garbage: [string, RegExp][] = [
    ['', /expected a session description/],
    ['garbage', /expected a session description/],
    ['{"type":"offer"}', /expected a session description/],
    [offer.replace(/a=fingerprint.*\r\n/, ''), /fingerprint/],
    [offer.replace(/a=fingerprint:.*/, 'a=fingerprint:sha-256 00:11'), /SDP: /],
    [offer.replace(/a=ice-ufrag:.*/, 'a=ice-ufrag:'), /SDP: /],
    [offer + 'm=video 9 UDP/TLS/RTP/SAVPF 96\r\n'.repeat(100), /at most 32 media/],
    [offer + 'a=x:y\r\n'.repeat(10_000), /at most 65536 bytes/],
  ];
  for (const [sdp, expected] of garbage) {
    const peer = await engine.createPeer({ iceServers: [] });
    await expect(peer.answer(sdp), sdp.slice(0, 40)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(expected),
    });
    expect(peer.ended.aborted).toBe(true);
  }
  const asker = await engine.createPeer({ iceServers: [] });
  await asker.offer();
  await expect(asker.accept('nonsense')).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect((await engine.createPeer({ iceServers: [] })).accept(offer)).rejects.toThrow(/after an offer/);
  const answered = new Promise<Uint8Array>((resolve) => {
    ofCaller.onMessage = resolve;
  });
  ofCallee.send(Buffer.from('still here'));
  expect(Buffer.from(await answered).toString()).toBe('still here');
  expect(callee.ended.aborted).toBe(false);
});

test('candidates that cannot be used are ignored, before the description and after it', async () => {
  const bogus = [
    ...['', 'candidate:', 'candidate:1 1 UDP 1 nowhere.example 9 typ host', `candidate:${'x'.repeat(100_000)}`],
    ...['candidate:1 1 UDP 1 10.0.0.1 70000 typ host', 'candidate:1 1 UDP 1 6c3d.local 9 typ host', '\0\uffff'],
  ];
  const [from, to] = engines();
  const [caller, callee] = [await from.createPeer({ iceServers: [] }), await to.createPeer({ iceServers: [] })];
  await using _caller = caller;
  const offer = await caller.offer();
  for (const candidate of bogus) for (const peer of [caller, callee]) peer.addCandidate({ candidate, mid: 'no' });
  const answer = await callee.answer(offer);
  const all = await candidatesOf(callee);
  // Before the description that they belong to.
  for (const candidate of all) caller.addCandidate(candidate);
  await caller.accept(answer);
  for (const candidate of bogus) for (const peer of [caller, callee]) peer.addCandidate({ candidate, mid: '0' });
  await Promise.all([caller.opened, callee.opened]);
});

test('10,000 offers at once: as many peers as allowed, the others are refused, and the memory is used again', async () => {
  await using engine = startTestEngine({ maxPeers: 8 });
  const offer = await (await (caller as NodeEngine).createPeer({ iceServers: [] })).offer();
  const made = await Promise.allSettled(Array.from({ length: 10_000 }, () => engine.createPeer({ iceServers: [] })));
  const peers = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(peers).toHaveLength(8);
  const refused = made.find((one) => one.status === 'rejected');
  expect(refused?.reason).toMatchObject({ code: 'resource_exhausted', message: expect.stringContaining('at most 8') });
  await Promise.all(peers.map((peer) => peer.answer(offer)));
  const resident = (): number =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${engine.processId}/status`, 'utf8'))?.[1]) >> 10;
  const before = resident();
  for (let round = 0; round < 25; round++) {
    await Promise.all(peers.splice(0).map((peer) => peer[Symbol.asyncDispose]()));
    for (let at = 0; at < 8; at++) peers.push(await engine.createPeer({ iceServers: [] }));
    await Promise.all(peers.map((peer) => peer.answer(offer)));
  }
  // 200 offers of 0.3 MB each would be 60 MB.
  expect(resident() - before).toBeLessThan(30);
});
