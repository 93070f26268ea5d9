import { expect, test } from 'vitest';
import { on } from '../access/testing/open-fleet.ts';
import { keyWith, openSignaling, press } from './testing/open-signaling.ts';

const offline = 'not_found: host appears to be offline; ensure machine is online and try again';

test('D39 callers of a machine with a link that does not answer are told UNIMPLEMENTED at once, on which clients call it with plain gRPC', async () => {
  const { call, configure } = openSignaling();
  expect(await configure()).toMatch(/^unimplemented: .*plain gRPC/);
  expect(await call().ended).toMatch(/^unimplemented: /);
});

test('D39 the caller of a machine without a link is held for 5 s, then told NOT_FOUND in the public words; more than 50 are not held', async () => {
  const { clock, state, call, configure } = openSignaling();
  state.hasLink = false;
  expect(await configure()).toEqual({});
  let answered = 0;
  const all = Array.from({ length: 50 }, () =>
    call({ host: `${press}:8080` }).ended.finally(() => {
      answered++;
    }),
  );
  expect(await call().ended).toBe('unavailable: too many connection attempts; please wait a bit and try again');
  await clock.advance(4_900);
  expect(answered).toBe(0);
  await clock.advance(200);
  expect(new Set(await Promise.all(all))).toEqual(new Set([offline]));
  // It opened its link meanwhile, and does not answer.
  const late = call();
  state.hasLink = true;
  await clock.advance(5_000);
  expect(await late.ended).toMatch(/^unimplemented: /);
});

test('a machine that comes back while its caller is held gets the call', async () => {
  const { clock, state, call, answer } = openSignaling();
  state.hasLink = false;
  const caller = call();
  await clock.advance(3_000);
  const machine = answer();
  await clock.advance(0);
  machine.say({ uuid: machine.uuid(), stage: { case: 'init', value: { sdp: 'answer' } } });
  machine.close();
  expect(await caller.ended).toBe('ok');
});

test('D39 names of no machine, no name, too many names and missing rights are refused in the words that clients compare', async () => {
  const { call, configure } = openSignaling();
  expect(await configure('cloud.example:8080')).toBe('invalid_argument: host not preconfigured');
  expect(await configure('gone.machines.example')).toMatch(/^not_found: /);
  for (const host of ['', `${press},`, Array(6).fill(press).join(',')])
    expect(await configure(host)).toMatch(/^invalid_argument: .*rpc-host/);
  expect(await call({ host: `${press},${press}` }).ended).toMatch(/^invalid_argument: .*rpc-host/);
  const elsewhere = keyWith('elsewhere', on.machine('owner', 'mill'));
  expect(await call({ by: elsewhere }).ended).toMatch(
    /^not_found: .*platform api-keys create NAME --role operator --machine/,
  );
});

test('the callers of a machine that answers get STUN servers, and a name and password of TURN that end after their time', async () => {
  const { configure, answer, call, clock } = openSignaling();
  const machine = answer();
  const username = `${clock.now() / 1_000 + 3_600}:operator`;
  expect(await configure()).toMatchObject({
    config: {
      additionalIceServers: [
        { urls: ['stun:stun.example'] },
        { urls: ['turn:turn.example:3478'], username, credential: expect.stringMatching(/^[\w+/]{27}=$/) },
      ],
    },
  });
  call({ disableTrickle: true });
  await clock.advance(0);
  const [, { username: ofMachine } = {}] =
    machine.heard[0]?.stage.case === 'init'
      ? (machine.heard[0].stage.value.optionalConfig?.additionalIceServers ?? [])
      : [];
  expect(ofMachine).toBe(`${clock.now() / 1_000 + 3_600}:press-main`);
});

test('reports about attempts are taken from everyone who names a machine', async () => {
  const { report, reports } = openSignaling();
  expect(await report({ durationMs: 5 })).toBe('ok');
  expect(reports).toMatchObject([{ durationMs: 5 }]);
  expect(await report({}, '')).toMatch(/rpc-host/);
});
