import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { PlatformError, unavailable } from '@platform/base';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { type FastLink, Paths } from './choose-path.ts';
import type { Connection, PathChange } from './path.ts';

type Answer = (method: DescMethod) => unknown;

/** A link whose calls are answered by a function, and which remembers them. */
interface FakeLink extends Connection {
  readonly calls: string[];
  answer: Answer;
}

function fakeLink(answer: Answer = () => ({})): FakeLink {
  const calls: string[] = [];
  const link: FakeLink = {
    calls,
    answer,
    client: (service) => clientOf(service, ''),
    withHeaders: (headersOf) => ({
      client: (service) => clientOf(service, headersOf),
    }),
  };
  const clientOf = (service: DescService, headersOf: Parameters<Connection['withHeaders']>[0] | ''): never =>
    Object.fromEntries(
      service.methods.map((method) => [
        method.localName,
        method.methodKind === 'unary'
          ? async () => {
              const headers = headersOf === '' ? {} : await headersOf(method, undefined);
              calls.push([method.localName, ...Object.values(headers)].join(' '));
              return link.answer(method);
            }
          : () => {
              calls.push(method.localName);
              return link.answer(method);
            },
      ]),
    ) as never;
  return link;
}

/** Connections over WebRTC that a test opens, refuses and ends. */
class FakeDials {
  readonly waiting: PromiseWithResolvers<FastLink>[] = [];
  count = 0;
  disposed = 0;

  readonly dial = (): Promise<FastLink> => {
    this.count++;
    const attempt = Promise.withResolvers<FastLink>();
    this.waiting.push(attempt);
    return attempt.promise;
  };

  async open(link: Connection): Promise<AbortController> {
    const ending = new AbortController();
    const dispose = async (): Promise<void> => {
      this.disposed++;
    };
    this.waiting.shift()?.resolve({ link, ended: ending.signal, [Symbol.asyncDispose]: dispose });
    await settled();
    return ending;
  }

  async refuse(error: PlatformError): Promise<void> {
    this.waiting.shift()?.reject(error);
    await settled();
  }
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function start(given: { relay?: FakeLink | undefined; withWebRtc?: boolean } = {}) {
  const clock = new FakeClock();
  const relay = 'relay' in given ? given.relay : fakeLink();
  const dials = new FakeDials();
  const paths = new Paths({
    floor: relay && { path: 'relay', link: relay },
    dial: given.withWebRtc === false ? undefined : dials.dial,
    clock,
  });
  const changes: PathChange[] = [];
  paths.onPath((change) => changes.push(change));
  const robot = paths.link.client(RobotService);
  return { clock, relay: relay as FakeLink, dials, paths, changes, robot };
}

test('the first calls go through the relay while WebRTC is dialed; new calls take it once a call over it was answered', async () => {
  const { relay, dials, paths, changes, robot } = start();
  expect([dials.count, paths.path]).toEqual([0, undefined]);
  await robot.resourceNames({});
  expect([relay.calls, dials.count, paths.path]).toEqual([['resourceNames'], 1, 'relay']);
  const answered = Promise.withResolvers<object>();
  const fast = fakeLink((method) => (method.localName === 'getVersion' ? answered.promise : {}));
  await dials.open(fast);
  await robot.resourceNames({});
  expect([relay.calls.length, fast.calls]).toEqual([2, ['getVersion']]);
  answered.resolve({});
  await settled();
  await robot.resourceNames({});
  expect([relay.calls.length, fast.calls]).toEqual([2, ['getVersion', 'resourceNames']]);
  expect(changes.map(({ path }) => path)).toEqual(['relay', 'webrtc']);
  expect(dials.count).toBe(1);
});

test('a lost connection ends in the relay for new calls, and one of them dials again', async () => {
  const { clock, relay, dials, paths, changes, robot } = start();
  await robot.resourceNames({});
  const lost = await dials.open(fakeLink());
  await clock.advance(20_000);
  lost.abort(unavailable('the machine was switched off'));
  expect(changes.at(-1)).toMatchObject({ path: 'relay', reason: { message: 'the machine was switched off' } });
  expect([paths.webrtcFailure?.message, dials.disposed]).toEqual(['the machine was switched off', 1]);
  expect(dials.count).toBe(1);
  await robot.resourceNames({});
  expect([relay.calls.length, dials.count]).toEqual([2, 2]);
});

test('connections that end at once are dialed at growing distances, refusals after a minute, and none without calls', async () => {
  const { clock, dials, paths, robot } = start();
  await robot.resourceNames({});
  (await dials.open(fakeLink())).abort(unavailable('gone'));
  await robot.resourceNames({});
  expect(dials.count).toBe(1);
  await clock.advance(1_300);
  expect(dials.count).toBe(1);
  await robot.resourceNames({});
  expect(dials.count).toBe(2);
  await dials.refuse(new PlatformError('permission_denied', 'you may not'));
  await clock.advance(59_000);
  await robot.resourceNames({});
  expect(dials.count).toBe(2);
  expect(paths.webrtcFailure).toMatchObject({
    code: 'permission_denied',
    message: expect.stringMatching(/^over WebRTC: you may not/),
  });
  await clock.advance(2_000);
  await robot.resourceNames({});
  expect(dials.count).toBe(3);
});

test('a stream that runs stays on its path', async () => {
  const release = Promise.withResolvers<void>();
  const relay = fakeLink(async function* () {
    yield { n: 1 };
    await release.promise;
    yield { n: 2 };
  } as never);
  const { dials, paths } = start({ relay });
  const stream = paths.link.client(BoardService).streamTicks({})[Symbol.asyncIterator]();
  await stream.next();
  const fast = fakeLink();
  await dials.open(fast);
  expect(paths.path).toBe('webrtc');
  release.resolve();
  expect((await stream.next()).value).toEqual({ n: 2 });
  expect(fast.calls).toEqual(['getVersion']);
});

test('headers of a link go with calls on every path', async () => {
  const { relay, dials, paths } = start();
  const motor = paths.link.withHeaders(async ({ name }) => ({ 'viam-sid': `of-${name}` })).client(MotorService);
  await motor.isMoving({});
  const fast = fakeLink();
  await dials.open(fast);
  await motor.isMoving({});
  expect([relay.calls, fast.calls]).toEqual([['isMoving of-IsMoving'], ['getVersion', 'isMoving of-IsMoving']]);
});

test('the relay counts as lost only if the machine cannot be reached, not if a resource is unavailable', async () => {
  const refused: Record<string, PlatformError> = {};
  const relay = fakeLink(({ localName }) => {
    if (refused[localName]) throw refused[localName];
    return {};
  });
  const { clock, changes, paths, robot } = start({ relay, withWebRtc: false });
  await robot.resourceNames({});
  refused['getOperations'] = unavailable('the sensor is broken');
  await expect(robot.getOperations({})).rejects.toThrow('the sensor is broken');
  await settled();
  expect(paths.path).toBe('relay');
  refused['getVersion'] = new PlatformError('not_found', 'part: expected one that you may see');
  await clock.advance(1_000);
  await expect(robot.getOperations({})).rejects.toThrow('the sensor is broken');
  await settled();
  expect(changes.at(-1)).toMatchObject({ path: undefined, reason: { code: 'not_found' } });
  await robot.resourceNames({});
  expect(paths.path).toBe('relay');
});

test('without a floor calls wait for WebRTC, as long as they may, and say why it failed', async () => {
  const { clock, dials, paths, robot } = start({ relay: undefined });
  const [first, second] = [robot.resourceNames({}), robot.resourceNames({})];
  const impatient = new AbortController();
  const third = robot.resourceNames({}, { signal: impatient.signal });
  impatient.abort(new Error('no time'));
  await expect(third).rejects.toThrow('no time');
  const fast = fakeLink();
  const lost = await dials.open(fast);
  await Promise.all([first, second]);
  expect([paths.path, dials.count, fast.calls.length]).toEqual(['webrtc', 1, 3]);
  lost.abort(unavailable('gone'));
  expect(paths.path).toBeUndefined();
  await expect(robot.resourceNames({})).rejects.toThrow(/^over WebRTC: gone \(the next attempt/);
  await clock.advance(1_300);
  const again = expect(robot.resourceNames({})).rejects.toMatchObject({ code: 'not_found' });
  await dials.refuse(new PlatformError('not_found', 'host appears to be offline'));
  await again;
});

test('the latency is that of the last small call on the path', async () => {
  const { clock, relay, dials, paths, robot } = start();
  const after = async (ms: number): Promise<object> => {
    await clock.sleep(ms);
    return {};
  };
  relay.answer = () => after(30);
  const measured = paths.measureLatency();
  await clock.advance(30);
  expect([await measured, paths.latencyMs]).toEqual([30, 30]);
  const fast = fakeLink(() => after(2));
  await dials.open(fast);
  await clock.advance(2);
  expect(paths.latencyMs).toBe(2);
  const slow = robot.resourceNames({});
  await clock.advance(2);
  await slow;
  fast.answer = () => after(5);
  const beat = robot.sendSessionHeartbeat({ id: 's' });
  await clock.advance(5);
  await beat;
  expect(paths.latencyMs).toBe(5);
});

test('after its end, calls are refused, nothing is dialed, and a connection that opens late is closed', async () => {
  const { dials, paths, robot } = start();
  await robot.resourceNames({});
  const over = paths[Symbol.asyncDispose]();
  await dials.open(fakeLink());
  await over;
  expect([dials.disposed, paths.path]).toEqual([1, undefined]);
  await expect(robot.resourceNames({})).rejects.toMatchObject({ code: 'canceled' });
  expect(dials.count).toBe(1);
});
