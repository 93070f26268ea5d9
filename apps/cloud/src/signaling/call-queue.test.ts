/** Which stream gets a call, what waits, and that nothing is left behind. */
import { PlatformError } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createCallQueue } from './call-queue.ts';
import { Feed } from './feed.ts';
import type { Offer } from './offer.ts';
import { type Ear, type Machine, openSignaling, press, type Signaling } from './testing/open-signaling.ts';

const nothing = { parts: 0, calls: 0, ended: 0 };
const init = (machine: Machine) =>
  machine.say({ uuid: machine.uuid(), stage: { case: 'init', value: { sdp: 'answer' } } });
const hasCall = ({ heard }: Machine): boolean => heard.some(({ stage }) => stage.case === 'init');

test('each call goes to one stream, the newest idle one, in the order in which callers came; the others wait for the next', async () => {
  const { answer, call, clock } = openSignaling();
  const [older, newer] = [answer(), answer()];
  const callers = [call({ sdp: 'first' }), call({ sdp: 'second' }), call({ sdp: 'third' }), call({ sdp: 'fourth' })];
  await clock.advance(0);
  const sdpOf = (machine: Machine) => machine.heard.map(({ stage }) => stage.case === 'init' && stage.value.sdp);
  expect([sdpOf(newer), sdpOf(older)]).toEqual([['first'], ['second']]);
  init(newer);
  newer.close();
  expect(await callers[0]?.ended).toBe('ok');
  const [next, last] = [answer(), answer()];
  await clock.advance(0);
  expect([sdpOf(next), sdpOf(last)]).toEqual([['third'], ['fourth']]);
});

test('a machine whose streams have just ended is waited for, as it opens the next ones; one that does not is as before', async () => {
  const { answer, call, clock, state } = openSignaling();
  answer().close();
  await clock.advance(0);
  const [early, late] = [call(), call()];
  await clock.advance(1_000);
  const machine = answer();
  await clock.advance(0);
  init(machine);
  machine.close();
  await clock.advance(4_900);
  expect(await early.ended).toBe('ok');
  await clock.advance(200);
  expect(await late.ended).toMatch(/^unimplemented: /);
  answer().close();
  await clock.advance(0);
  const waiting = call();
  state.hasLink = false;
  await clock.advance(5_000);
  expect(await waiting.ended).toMatch(/^not_found: host appears to be offline/);
  expect(await Promise.race([call().ended, clock.advance(5_000).then(() => 'nothing')])).toMatch(
    /^not_found: host appears to be offline/,
  );
});

test('heartbeats come at once and then every 15 s, also during a call, if they are allowed', async () => {
  const { answer, call, clock } = openSignaling();
  const beats = ({ heard }: Machine): number => heard.filter(({ stage }) => stage.case === 'heartbeat').length;
  const quiet = answer();
  const machine = answer({ headers: { 'heartbeats-allowed': 'true' } });
  await clock.advance(8_000);
  expect([beats(machine), beats(quiet)]).toEqual([1, 0]);
  call();
  await clock.advance(0);
  init(machine);
  await clock.advance(8_000);
  expect([beats(machine), hasCall(machine)]).toEqual([2, true]);
  expect(await Promise.race([machine.ended, clock.advance(0).then(() => 'open')])).toBe('open');
});

test('with more than four streams the oldest idle one ends; a call goes on', async () => {
  const { answer, call, clock } = openSignaling();
  const first = answer();
  call();
  await clock.advance(0);
  expect(hasCall(first)).toBe(true);
  const second = answer();
  for (let more = 0; more < 3; more++) answer();
  expect(await second.ended).toMatch(/^unavailable: .*more than 4 streams/);
  expect(await Promise.race([first.ended, clock.advance(0).then(() => 'open')])).toBe('open');
});

test('R16 a stream ends when its machine loses the right to it, and its call', async () => {
  let isRevoked = false;
  const { answer, call, clock } = openSignaling({
    authorizeAnswer: () => {
      if (isRevoked) throw new PlatformError('permission_denied', 'no longer');
    },
  });
  const machine = answer();
  const caller = call();
  isRevoked = true;
  await clock.advance(4_000);
  expect(await machine.ended).toBe('permission_denied: no longer');
  expect(await caller.ended).toBe('unavailable: error from answerer: its stream ended (permission_denied)');
});

/** How a caller or a machine is gone, at each stage. */
const goings: Readonly<
  Record<string, (given: { signaling: Signaling; caller: Ear<unknown>; machine: Machine }) => Promise<void>>
> = {
  'the caller leaves a waiting call': async ({ caller }) => caller.leave(),
  'the caller leaves before the answer': async ({ caller }) => caller.leave(),
  'the caller leaves after the answer': async ({ caller, machine, signaling }) => {
    init(machine);
    await signaling.clock.advance(0);
    caller.leave();
  },
  'the machine is gone before the answer': async ({ machine }) => machine.leave(),
  'the machine is gone after the answer': async ({ machine, signaling }) => {
    init(machine);
    await signaling.clock.advance(0);
    machine.leave();
  },
  'both say nothing more': async () => {},
};

test.each(Object.entries(goings))('nothing is left when %s', async (what, go) => {
  const signaling = openSignaling();
  const { clock, queue } = signaling;
  const machine = signaling.answer();
  if (what.includes('waiting')) signaling.call().leave();
  const caller = signaling.call();
  if (!what.includes('waiting')) await clock.advance(0);
  await go({ signaling, caller, machine });
  await clock.advance(10_000);
  machine.leave();
  await Promise.all([caller.ended, machine.ended]);
  await clock.advance(10_000);
  expect(queue.size).toEqual(nothing);
  expect(clock.waiting).toBe(0);
});

test('of 10,000 half-open offers as many are kept as the limits allow, and none is left when their callers have gone', async () => {
  const clock = new FakeClock();
  const queue = createCallQueue({ hasLink: () => false, clock });
  const offers: Offer[] = [];
  const refused = new Map<string, number>();
  for (let nth = 0; nth < 10_000; nth++) {
    const terms = {
      partId: `part ${nth % 250}`,
      organizationId: `organization ${nth % 6}`,
      callerId: 'key:k',
      bytes: 5_000,
      disableTrickle: false,
    };
    try {
      offers.push(queue.call({ ...terms, init: () => ({ sdp: 'offer' }) }));
    } catch (caught) {
      const { code } = caught as { code: string };
      refused.set(code, (refused.get(code) ?? 0) + 1);
    }
  }
  expect(queue.size).toEqual({ parts: 250, calls: 5_000, ended: 0 });
  expect([...refused.keys()]).toEqual(['resource_exhausted']);
  // A machine that answers meanwhile gets its own callers.
  const stream = queue.answer('part 7');
  expect(stream.isIdle).toBe(false);
  for (const offer of offers) offer.callerLeft();
  stream.closed();
  await clock.advance(10_000);
  expect(queue.size).toEqual(nothing);
  expect(clock.waiting).toBe(0);
});

test('one organization may have 1,000 calls that are being set up, and one part 50 that wait', async () => {
  const clock = new FakeClock();
  const queue = createCallQueue({ hasLink: () => false, clock });
  const call = (partId: string, organizationId: string) =>
    queue.call({
      partId,
      organizationId,
      callerId: 'key:k',
      bytes: 5_000,
      disableTrickle: false,
      init: () => ({ sdp: 'offer' }),
    });
  for (let nth = 0; nth < 1_000; nth++) call(`part ${nth % 20}`, 'acme');
  expect(() => call('part 20', 'acme')).toThrow(/at most 1000 calls .* to machines of an organization/);
  expect(() => call('part 0', 'umbrella')).toThrow(/too many connection attempts/);
  call('part 20', 'umbrella').callerLeft();
  // However large they are.
  const large = { organizationId: 'large', callerId: 'key:k', bytes: 65_536, disableTrickle: false };
  for (let nth = 0; nth < 256; nth++) queue.call({ ...large, partId: `large ${nth}`, init: () => ({}) });
  expect(() => queue.call({ ...large, partId: 'one more', init: () => ({}) })).toThrow(/\(16 MiB\)/);
});

test('a feed sends what was pushed before its end, then its reason', async () => {
  const feed = new Feed<number>();
  feed.push(1);
  const read = async (): Promise<number[]> => {
    const numbers: number[] = [];
    for await (const number of feed) numbers.push(number);
    return numbers;
  };
  const reading = read();
  feed.push(2);
  feed.end();
  feed.push(3);
  expect(await reading).toEqual([1, 2]);
});

test('a call that nobody can take does not wait longer than its own time', async () => {
  const { answer, call, clock } = openSignaling();
  const machine = answer();
  const [taken, waiting] = [call(), call({ host: press })];
  await clock.advance(10_000);
  expect(await taken.ended).toMatch(/^deadline_exceeded: /);
  expect(await waiting.ended).toMatch(/^deadline_exceeded: /);
  expect(await machine.ended).toBe('ok');
});
