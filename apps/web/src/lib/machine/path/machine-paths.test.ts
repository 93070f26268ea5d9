import type { JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { AnswerError } from '../../api/answer-error.ts';
import { createMachinePaths } from './machine-paths.ts';
import type { DirectWay, Way, WayInit } from './way.ts';

type Behavior = 'answers' | 'is silent' | 'fails' | 'refuses';

/** A way whose behavior the test sets. */
class FakeWay implements Way {
  behavior: Behavior = 'answers';
  delayMs = 10;
  readonly calls: string[] = [];
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  async call(method: string, _request: JsonObject, { signal }: WayInit): Promise<JsonObject> {
    this.calls.push(method);
    if (this.behavior === 'is silent')
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    await this.#clock.sleep(this.delayMs, signal);
    if (this.behavior === 'fails') throw new ConnectError('gone', Code.Unavailable);
    if (this.behavior === 'refuses') throw new AnswerError('SESSION_EXPIRED', 400);
    return {};
  }
}

class FakeDirect extends FakeWay implements DirectWay {
  readonly path = 'direct';
  readonly #end = new AbortController();
  readonly ended = this.#end.signal;
  knows(method: string): boolean {
    return method !== 'of a module';
  }
  close(): void {
    this.#end.abort();
  }
}

function rig({ isPossible = true } = {}) {
  const clock = new FakeClock();
  const cloud = new FakeWay(clock);
  const dialed: FakeDirect[] = [];
  const seen: string[] = [];
  const state = { isPossible, isHidden: false };
  const paths = createMachinePaths({
    cloud,
    dial: async () => {
      if (!state.isPossible) throw new ConnectError('no way', Code.Unimplemented);
      const way = new FakeDirect(clock);
      dialed.push(way);
      return way;
    },
    clock,
    random: () => 1,
    isHidden: () => state.isHidden,
    changed: () => {
      if (seen.at(-1) !== paths?.state.path) seen.push(paths.state.path);
    },
  });
  onTestFinished(() => paths[Symbol.dispose]());
  return { clock, cloud, dialed, paths, seen, state, newest: () => dialed.at(-1) ?? expect.unreachable('not dialed') };
}

test('the cloud is used at once, WebRTC once a call over it was answered, and the cloud again when it is lost', async () => {
  const { clock, cloud, paths, seen, newest, dialed } = rig();
  expect(paths.state.path).toBe('connecting');
  await clock.advance(2_000);
  expect(seen).toEqual(['cloud', 'direct']);
  const before = cloud.calls.length;
  await Promise.all([paths.call('move', {}), clock.advance(20)]);
  expect(newest().calls.at(-1)).toBe('move');
  await Promise.all([paths.call('of a module', {}), clock.advance(20)]);
  expect(cloud.calls.slice(before)).toEqual(['of a module']);

  await clock.advance(60_000);
  newest().close();
  await clock.advance(50);
  expect(seen).toEqual(['cloud', 'direct', 'connecting', 'cloud']);
  await clock.advance(3_000);
  expect([paths.state.path, dialed.length]).toEqual(['direct', 2]);
});

test('a connection over which nothing is answered is not used, and further attempts are made less and less often', async () => {
  const { clock, paths, seen, state, dialed } = rig({ isPossible: false });
  await clock.advance(120_000);
  expect(seen).toEqual(['cloud']);
  state.isPossible = true;
  await clock.advance(60_000);
  expect([paths.state.path, dialed.length]).toEqual(['direct', 1]);
});

test('with no answer over any path there is no connection, and the first answer ends that', async () => {
  const { clock, cloud, paths, newest } = rig();
  await clock.advance(2_000);
  expect(paths.state.path).toBe('direct');
  const answeredMs = paths.state.answeredMs ?? 0;
  [cloud.behavior, newest().behavior] = ['is silent', 'is silent'];
  await clock.advance(10_000);
  expect(paths.state).toMatchObject({ path: 'none', latencyMs: undefined });
  expect(paths.state.answeredMs).toBeLessThanOrEqual(answeredMs + 3_000);
  newest().behavior = 'answers';
  await clock.advance(5_000);
  expect(paths.state.path).toBe('direct');
  cloud.behavior = 'answers';
});

test('whoever had no answer in time ends the connection at once, and a failed call makes it look', async () => {
  const { clock, cloud, paths, seen } = rig({ isPossible: false });
  await clock.advance(1_000);
  cloud.behavior = 'is silent';
  paths.markLost();
  expect(paths.state.path).toBe('none');
  cloud.behavior = 'fails';
  await clock.advance(5_000);
  cloud.behavior = 'answers';
  await clock.advance(2_000);
  expect(seen).toEqual(['cloud', 'none', 'cloud']);
  cloud.behavior = 'fails';
  const failed = expect(paths.call('move', {})).rejects.toThrow('gone');
  await clock.advance(20);
  await failed;
  expect(paths.state.path).toBe('none');
});

test('a movement is sent over one path only; a heartbeat takes the other one if there is no answer soon, and a stop may take both', async () => {
  const { clock, cloud, paths, newest } = rig();
  await clock.advance(2_000);
  newest().behavior = 'is silent';
  const moving = new AbortController();
  const moved = expect(paths.call('move', {}, { signal: moving.signal })).rejects.toThrow('enough');
  await Promise.all([paths.call('beat', {}, { over: 'either' }), clock.advance(1_000)]);
  moving.abort(new Error('enough'));
  await moved;
  expect(cloud.calls.filter((method) => method === 'move')).toEqual([]);
  expect([newest().calls.includes('beat'), cloud.calls.includes('beat')]).toEqual([true, true]);
  await Promise.all([paths.call('stop', {}, { over: 'all' }), clock.advance(20)]);
  expect([newest().calls.includes('stop'), cloud.calls.includes('stop')]).toEqual([true, true]);
});

test('a refusal is an answer: it is not asked over the other path', async () => {
  const { clock, cloud, paths, newest } = rig();
  await clock.advance(2_000);
  newest().behavior = 'refuses';
  const refused = expect(paths.call('beat', {}, { over: 'either' })).rejects.toThrow('SESSION_EXPIRED');
  await clock.advance(1_000);
  await refused;
  expect([cloud.calls.includes('beat'), paths.state.path]).toEqual([false, 'direct']);
});

test('the latency is the median of the last round trips over the path in use', async () => {
  const { clock, cloud, paths } = rig({ isPossible: false });
  cloud.delayMs = 30;
  await clock.advance(10_000);
  expect(paths.state.latencyMs).toBe(30);
  cloud.delayMs = 200;
  await clock.advance(5_000);
  expect(paths.state.latencyMs).toBe(30);
  await clock.advance(10_000);
  expect(paths.state.latencyMs).toBe(200);
});

test('while the page is hidden it neither asks nor dials', async () => {
  const { clock, cloud, state, dialed, paths } = rig();
  state.isHidden = true;
  await clock.advance(60_000);
  expect([cloud.calls.length, dialed.length]).toEqual([1, 0]);
  state.isHidden = false;
  await clock.advance(2_000);
  expect(paths.state.path).toBe('direct');
});
