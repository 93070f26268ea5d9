/** Both sides of signaling over a fake cloud between them, with fake engines. */
import { Code, ConnectError, createClient, createRouterTransport } from '@connectrpc/connect';
import { PlatformError, silentLog, systemClock, unavailable } from '@platform/base';
import {
  type AnswerRequest,
  type AnswerResponse,
  type CallUpdateRequest,
  SignalingService,
} from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { fakeEngine } from '../testing/fake-engine.ts';
import { type AnsweredPeer, answerCallers } from './answer.ts';
import { maxDescriptionBytes, readCandidate, readDescription, writeDescription } from './description.ts';
import { dial } from './dial.ts';

/** What one side may send next: filled by the test or by the other side. */
class Feed<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #wake = Promise.withResolvers<void>();
  #isOver = false;

  push(item: T): void {
    this.#items.push(item);
    this.#wake.resolve();
  }

  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift() as T;
      if (this.#isOver) return;
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
  }
}

interface Waiting {
  readonly host: string;
  readonly toMachine: Feed<Partial<AnswerRequest>>;
  readonly said: AnswerResponse[];
  readonly over: Promise<void>;
}

function cloudWith(more: object = {}) {
  const waiting: Waiting[] = [];
  const updates: CallUpdateRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(SignalingService, {
      optionalWebRTCConfig: () => ({ config: { additionalIceServers: [{ urls: ['stun:s'] }] } }),
      callUpdate(update) {
        updates.push(update);
        return {};
      },
      async *answer(requests, { requestHeader }) {
        const toMachine = new Feed<Partial<AnswerRequest>>();
        const over = Promise.withResolvers<void>();
        const said: AnswerResponse[] = [];
        waiting.push({ host: requestHeader.get('rpc-host') ?? '', toMachine, said, over: over.promise });
        void (async () => {
          for await (const one of requests) said.push(one);
          over.resolve();
          toMachine.end();
        })().catch(() => {});
        yield* toMachine as AsyncIterable<never>;
      },
      ...more,
    });
  });
  return { waiting, updates, client: createClient(SignalingService, transport) };
}

function machine(given: ReturnType<typeof cloudWith>, clock = systemClock) {
  const engine = fakeEngine('machine');
  const answered: AnsweredPeer[] = [];
  const answering = answerCallers({
    link: { client: () => given.client as never },
    ...{ host: () => 'press.example', engine, clock, log: silentLog },
    onPeer: (peer) => void answered.push(peer),
  });
  onTestFinished(async () => {
    for (const { toMachine } of given.waiting) toMachine.end();
    await answering[Symbol.asyncDispose]();
  });
  return { engine, answered };
}

const offer = { uuid: 'u', stage: { case: 'init', value: { sdp: writeDescription('offer', 'offer of x') } } } as never;

test('a machine waits with two streams, answers each caller, and says done when the connection is open', async () => {
  const cloud = cloudWith();
  const { engine, answered } = machine(cloud);
  await expect.poll(() => cloud.waiting.length).toBe(2);
  const [first] = cloud.waiting;
  expect(first?.host).toBe('press.example');
  first?.toMachine.push({ stage: { case: 'heartbeat', value: {} } } as never);
  first?.toMachine.push(offer);
  // Another one waits in its place at once.
  await expect.poll(() => cloud.waiting.length).toBe(3);
  await expect
    .poll(() => first?.said.map(({ uuid, stage }) => [uuid, stage.case]))
    .toEqual([
      ['u', 'init'],
      ['u', 'update'],
    ]);
  const candidate = { candidate: 'candidate:caller', sdpMid: '' };
  first?.toMachine.push({ uuid: 'u', stage: { case: 'update', value: { candidate } } } as never);
  await expect.poll(() => engine.peers[0]?.added).toEqual([{ candidate: 'candidate:caller', mid: '0' }]);
  engine.peers[0]?.open();
  await first?.over;
  expect(first?.said.at(-1)?.stage.case).toBe('done');
  expect(answered).toHaveLength(1);
});

test.each([
  ['no JSON', 'nonsense'],
  ['an answer instead of an offer', writeDescription('answer', 'offer of x')],
  ['a description that the engine refuses', writeDescription('offer', 'v=0')],
  ['far too much', 'x'.repeat(maxDescriptionBytes + 1)],
])('an offer with %s is answered with an error, and the machine waits again', async (_what, sdp) => {
  const cloud = cloudWith();
  machine(cloud);
  await expect.poll(() => cloud.waiting.length).toBe(2);
  cloud.waiting[0]?.toMachine.push({ uuid: 'u', stage: { case: 'init', value: { sdp } } } as never);
  await cloud.waiting[0]?.over;
  expect(cloud.waiting[0]?.said).toMatchObject([{ stage: { case: 'error', value: { status: { code: 3 } } } }]);
  await expect.poll(() => cloud.waiting.length).toBe(3);
});

test('on a computer without an engine, the first caller is told so, and the machine waits for no more', async () => {
  const cloud = cloudWith();
  const answering = answerCallers({
    link: { client: () => cloud.client as never },
    engine: {
      isMissing: true,
      createPeer: async () => Promise.reject(unavailable('this computer has no WebRTC engine')),
      [Symbol.asyncDispose]: async () => {},
    },
    ...{ host: () => 'press.example', onPeer() {}, clock: systemClock, log: silentLog },
  });
  await expect.poll(() => cloud.waiting.length).toBe(2);
  cloud.waiting[0]?.toMachine.push(offer);
  // Resolves although nobody stops it.
  await answering.over;
  expect(cloud.waiting.length).toBeLessThanOrEqual(3);
});

test('a caller that never connects is given up after 10 s, and at most 16 are being connected', async () => {
  const clock = new FakeClock();
  const cloud = cloudWith();
  const { engine } = machine(cloud, clock);
  for (let count = 0; count < 16; count++) {
    await expect.poll(() => cloud.waiting.length).toBe(count + 2);
    cloud.waiting[count]?.toMachine.push(offer);
  }
  await expect.poll(() => engine.peers.length).toBe(16);
  expect(cloud.waiting).toHaveLength(17);
  await clock.advance(10_001);
  await expect
    .poll(() => cloud.waiting[0]?.said.at(-1)?.stage)
    .toMatchObject({ case: 'error', value: { status: { code: 4 } } });
  expect(engine.peers.every(({ ended }) => ended.aborted)).toBe(true);
});

test('a caller dials: its candidates follow the answer, and it has the channel when it is open', async () => {
  const answers = new Feed<object>();
  const cloud = cloudWith({ call: () => answers });
  const engine = fakeEngine('caller');
  const dialing = dial({ signaling: cloud.client, host: 'press.example', engine, clock: systemClock });
  await expect.poll(() => engine.peers.length).toBe(1);
  expect(cloud.updates).toEqual([]);
  answers.push({ uuid: 'u', stage: { case: 'init', value: { sdp: writeDescription('answer', 'answer of m') } } });
  answers.push({ uuid: 'u', stage: { case: 'update', value: { candidate: { candidate: 'candidate:m' } } } });
  await expect
    .poll(() => cloud.updates.map(({ uuid, update }) => [uuid, update.case]))
    .toEqual([
      ['u', 'candidate'],
      ['u', 'done'],
    ]);
  await expect.poll(() => engine.peers[0]?.added).toHaveLength(1);
  answers.end();
  engine.peers[0]?.open();
  expect((await dialing).channel.ended.aborted).toBe(false);
});

test('what the signaling server or the machine refuses reaches the caller, whose peer is gone', async () => {
  const engine = fakeEngine('caller');
  const dialed = (more: object, clock = systemClock) =>
    dial({ signaling: cloudWith(more).client, host: 'press.example', engine, clock });
  const offline = async function* () {
    yield* [];
    throw new ConnectError('host appears to be offline', Code.NotFound);
  };
  await expect(dialed({ call: offline })).rejects.toThrow(/offline/);
  const clock = new FakeClock();
  const late = expect(dialed({ call: () => new Feed() }, clock)).rejects.toMatchObject({ code: 'deadline_exceeded' });
  await expect.poll(() => engine.peers.length).toBe(2);
  await clock.advance(10_001);
  await late;
  expect(engine.peers.every(({ ended }) => ended.aborted)).toBe(true);
});

test('descriptions and candidates of others are read as far as they make sense', () => {
  expect(() => readDescription('offer', btoa('null'))).toThrow(PlatformError);
  expect(readDescription('answer', btoa('{"type":"answer","sdp":"v=0"}'))).toBe('v=0');
  expect(readCandidate({ candidate: 'c', sdpMid: 'data' } as never)).toEqual({ candidate: 'c', mid: 'data' });
});
