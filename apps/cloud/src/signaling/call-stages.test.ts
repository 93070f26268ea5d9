/** What a caller and a machine say to each other at each stage of a call, and how it ends. */
import { CallerAccess } from '@platform/proto/platform/relay/v1/relay';
import { expect, test } from 'vitest';
import { on } from '../access/testing/open-fleet.ts';
import { keyWith, type Machine, openSignaling, operator, owner, type Signaling } from './testing/open-signaling.ts';

const candidate = (text: string) => ({ case: 'update' as const, value: { candidate: { candidate: text } } });
const init = { case: 'init' as const, value: { sdp: 'answer' } };
const done = { case: 'done' as const, value: {} };
const stages = ({ heard }: { readonly heard: readonly { readonly stage: { readonly case?: string | undefined } }[] }) =>
  heard.map(({ stage }) => stage.case);

/** A call that a machine has got. */
async function calling(options: Parameters<Signaling['call']>[0] = {}) {
  const signaling = openSignaling();
  const machine = signaling.answer();
  const caller = signaling.call(options);
  await signaling.clock.advance(0);
  const say = (stage: Parameters<Machine['say']>[0]['stage']): void =>
    machine.say({ uuid: machine.uuid(), ...(stage && { stage }) });
  return { ...signaling, machine, caller, say };
}

test('a machine learns what is offered, by whom, with which rights, until when and with which servers', async () => {
  const { machine, clock, call, answer } = await calling({ by: owner, sdp: 'the offer', disableTrickle: true });
  const [{ uuid = '', stage } = {}] = machine.heard;
  expect(uuid).toMatch(/^[\da-f-]{36}$/);
  expect(stage?.value).toMatchObject({
    sdp: 'the offer',
    optionalConfig: { disableTrickle: true, additionalIceServers: [{}, {}] },
    deadline: { seconds: BigInt(clock.now() / 1_000 + 10) },
    caller: {
      ...{ id: 'api-key:owner', name: 'key owner', access: CallerAccess.MANAGE },
      ticket: new TextEncoder().encode('ticket for press-main'),
    },
  });
  const other = answer();
  call({ by: operator });
  await clock.advance(0);
  expect(other.heard[0]?.stage.value).toMatchObject({
    caller: { id: 'api-key:operator', access: CallerAccess.CONTROL },
  });
});

test('answer and candidates reach the caller under one uuid, with all fields; "done" of the machine ends the call cleanly', async () => {
  const { machine, caller, say, clock } = await calling();
  say(init);
  say(candidate('one'));
  machine.say({
    uuid: machine.uuid(),
    stage: {
      case: 'update',
      value: { candidate: { candidate: 'two', sdpMid: '0', sdpmLineIndex: 1, usernameFragment: 'u' } },
    },
  });
  say(done);
  expect(await caller.ended).toBe('ok');
  const uuid = machine.uuid();
  expect(caller.heard).toMatchObject([
    { uuid, stage: { case: 'init', value: { sdp: 'answer' } } },
    { uuid, stage: { value: { candidate: { candidate: 'one', sdpMid: '', sdpmLineIndex: 0, usernameFragment: '' } } } },
    {
      uuid,
      stage: { value: { candidate: { candidate: 'two', sdpMid: '0', sdpmLineIndex: 1, usernameFragment: 'u' } } },
    },
  ]);
  machine.close();
  expect(await machine.ended).toBe('ok');
  await clock.advance(10_000);
});

test('a machine that closes its side after its answer ends the call cleanly; before, the caller is told', async () => {
  const answered = await calling();
  answered.say(init);
  answered.machine.close();
  expect(await answered.caller.ended).toBe('ok');
  expect(await answered.machine.ended).toBe('ok');
  for (const end of ['close', 'leave'] as const) {
    const silent = await calling();
    silent.machine[end]();
    expect(await silent.caller.ended).toMatch(/^unavailable: error from answerer: it closed its stream/);
  }
});

test('what the caller says reaches the machine, also after "done" of the machine, until one of them has finished', async () => {
  const { machine, caller, say, update, clock } = await calling();
  say(init);
  say(done);
  expect(await caller.ended).toBe('ok');
  const uuid = machine.uuid();
  expect(await update({ uuid, update: { case: 'candidate', value: { candidate: 'late' } } })).toBe('ok');
  expect(await update({ uuid, update: { case: 'done', value: true } })).toBe('ok');
  expect(await machine.ended).toBe('ok');
  expect(machine.heard.slice(1)).toMatchObject([
    { uuid, stage: { case: 'update', value: { candidate: { candidate: 'late', sdpMid: '', sdpmLineIndex: 0 } } } },
    { uuid, stage: { case: 'done' } },
  ]);
  // Ignored for 10 s after the end.
  await clock.advance(9_900);
  expect(await update({ uuid, update: { case: 'done', value: true } })).toBe('ok');
  await clock.advance(200);
  expect(await update({ uuid, update: { case: 'done', value: true } })).toBe(
    `not_found: no active offer for "${uuid}"`,
  );
});

test('a caller without trickle has no candidates to wait for: "done" of the machine ends both sides', async () => {
  const { machine, caller, say } = await calling({ disableTrickle: true });
  say(init);
  say(done);
  expect(await caller.ended).toBe('ok');
  expect(await machine.ended).toBe('ok');
});

test('a machine is told when its caller fails or leaves before the answer; one who leaves after it may be connected', async () => {
  const failing = await calling();
  const uuid = failing.machine.uuid();
  const error = { code: 13, message: 'no\u001bice' };
  expect(await failing.update({ uuid, update: { case: 'error', value: error } })).toBe('ok');
  expect(await failing.machine.ended).toBe('ok');
  expect(failing.machine.heard.at(-1)?.stage).toMatchObject({
    case: 'error',
    value: { status: { code: 1, message: 'the caller has failed: no\\u001bice' } },
  });
  const leaving = await calling();
  leaving.caller.leave();
  expect(await leaving.machine.ended).toBe('ok');
  expect(leaving.machine.heard.at(-1)?.stage).toMatchObject({ case: 'error', value: { status: { code: 1 } } });
  const connected = await calling();
  connected.say(init);
  await connected.clock.advance(0);
  connected.caller.leave();
  await connected.clock.advance(0);
  expect(stages(connected.machine)).toEqual(['init', 'done']);
  connected.say(done);
  expect(await connected.machine.ended).toBe('ok');
  expect(connected.queue.size.calls).toBe(0);
});

test.each([
  [{ code: 5, message: 'gone' }, 'unavailable: error from answerer: gone'],
  [{ code: 7, message: 'no' }, 'unavailable: error from answerer: no'],
  [{ code: 8, message: 'too many peers' }, 'resource_exhausted: error from answerer: too many peers'],
  [{ code: 99, message: '' }, 'unavailable: error from answerer: it gave no reason'],
])(
  'the error of a machine, %j, is told to the caller with a code that says nothing about the cloud',
  async (status, told) => {
    for (const isAnswered of [false, true]) {
      const { machine, caller, say } = await calling();
      if (isAnswered) say(init);
      say({ case: 'error', value: { status } });
      expect(await caller.ended).toBe(told);
      expect(await machine.ended).toBe('ok');
    }
  },
);

const long = { candidate: 'x'.repeat(1_025) };
test.each<[string, readonly Parameters<Machine['say']>[0][], RegExp]>([
  ['another uuid', [{ uuid: 'other', stage: init }], /^invalid_argument: .*expected the uuid/],
  ['a second init', [{ stage: init }, { stage: init }], /^failed_precondition: .*only one init/],
  ['an update before init', [{ stage: candidate('x') }], /^failed_precondition: .*init first, found update/],
  ['done before init', [{ stage: done }], /^failed_precondition: .*init first, found done/],
  ['no stage', [{}], /^invalid_argument: /],
  ['no answer', [{ stage: { case: 'init', value: { sdp: '' } } }], /^invalid_argument: .*session description/],
  ['a long answer', [{ stage: { case: 'init', value: { sdp: 'x'.repeat(65_537) } } }], /^resource_exhausted: /],
  ['no candidate', [{ stage: init }, { stage: { case: 'update', value: {} } }], /^invalid_argument: .*candidate/],
  ['a long one', [{ stage: init }, { stage: { case: 'update', value: { candidate: long } } }], /^resource_exhausted: /],
  ['101 candidates', [{ stage: init }, ...Array(101).fill({ stage: candidate('x') })], /^resource_exhausted: .*100/],
])('nonsense of a machine, %s, ends its stream with a typed error, and the call', async (_what, messages, refusal) => {
  const { machine, caller, queue, clock } = await calling();
  for (const message of messages) machine.say({ uuid: machine.uuid(), ...message });
  expect(await machine.ended).toMatch(refusal);
  expect(await caller.ended).toMatch(/^unavailable: error from answerer: its stream ended/);
  await clock.advance(10_000);
  expect(queue.size).toEqual({ parts: 0, calls: 0, ended: 0 });
});

test('nonsense of a caller is refused, and its call goes on', async () => {
  const { machine, caller, say, update, call, clock } = await calling();
  say(init);
  const uuid = machine.uuid();
  const add = (text: string) => update({ uuid, update: { case: 'candidate', value: { candidate: text } } });
  expect(await call({ sdp: '' }).ended).toMatch(/^invalid_argument: .*session description/);
  expect(await call({ sdp: 'ü'.repeat(32_769) }).ended).toMatch(/^resource_exhausted: .*65536 bytes/);
  expect(await update({ uuid })).toMatch(/^invalid_argument: /);
  expect(await update({ uuid, update: { case: 'done', value: false } })).toMatch(/^invalid_argument: /);
  expect(await add('x'.repeat(1_025))).toMatch(/^resource_exhausted: .*1024 bytes/);
  for (let more = 0; more < 100; more++) expect(await add('x')).toBe('ok');
  expect(await add('x')).toMatch(/^resource_exhausted: .*100 candidates/);
  say(done);
  expect(await caller.ended).toBe('ok');
  await clock.advance(0);
  expect(stages(machine)).toHaveLength(101);
});

test('D40 only the key or session that called may continue a call, and only for that machine', async () => {
  const { machine, say, update, clock } = await calling({ by: owner });
  say(init);
  await clock.advance(0);
  const uuid = machine.uuid();
  const another = keyWith('another', on.organization('owner'));
  const add = { uuid, update: { case: 'candidate' as const, value: { candidate: 'x' } } };
  const unknown = `not_found: no active offer for "${uuid}"`;
  expect(await update(add, another)).toBe(unknown);
  expect(await update(add, owner, 'mill-main.machines.example')).toBe(unknown);
  expect(await update({ ...add, uuid: 'u' }, owner)).toBe('not_found: no active offer for "u"');
  expect(await update(add, keyWith('foreign', on.organization('owner', 'umbrella')))).toMatch(/^not_found: part: /);
  expect(await update(add, owner)).toBe('ok');
});

test('R16 a call ends when its caller loses the right to it, and the machine is told', async () => {
  const { machine, caller, state, clock } = await calling();
  state.current = keyWith('operator', on.machine('operator', 'mill'));
  await clock.advance(4_000);
  expect(await caller.ended).toMatch(/^not_found: part: /);
  expect(await machine.ended).toBe('ok');
  expect(machine.heard.at(-1)?.stage).toMatchObject({ case: 'error', value: { status: { code: 5 } } });
});

test('after 10 s without an answer, both sides are told; after a clean end, the stream of the machine just ends', async () => {
  const silent = await calling();
  await silent.clock.advance(9_900);
  expect(stages(silent.caller)).toEqual([]);
  await silent.clock.advance(200);
  expect(await silent.caller.ended).toMatch(/^deadline_exceeded: .*within 10 s/);
  expect(silent.machine.heard.at(-1)?.stage).toMatchObject({ case: 'error', value: { status: { code: 4 } } });
  const unreachable = await calling();
  unreachable.say(init);
  await unreachable.clock.advance(10_000);
  expect(await unreachable.caller.ended).toMatch(/^deadline_exceeded: .*direct connection.* within 10 s.* UDP/);
  const finished = await calling();
  finished.say(init);
  finished.say(done);
  await finished.clock.advance(10_000);
  expect(await finished.machine.ended).toBe('ok');
  expect(stages(finished.machine)).toEqual(['init']);
});
