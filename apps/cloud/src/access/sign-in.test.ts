import { expect, test } from 'vitest';
import { issueToken } from './access-token.ts';
import { type Fleet, on, openFleet } from './testing/open-fleet.ts';

const here = '127.0.0.1:4711';
const signIn = (fleet: Fleet, type: string, entity: string, payload: string, from = here): Promise<string> =>
  fleet.authenticator.signIn({ type, entity, payload }, from);
const refusal = (answer: Promise<unknown>): Promise<{ code: string; message: string }> =>
  answer.then(
    () => ({ code: 'ok', message: '' }),
    ({ code, message }) => ({ code, message }),
  );

test('a session token identifies its person, with their current roles, while the session lasts', async () => {
  const fleet = await openFleet();
  const personId = await fleet.personWith(on.location('owner', 'plant'));
  const token = issueToken(fleet.instanceKey, { kind: 'session', id: 's1', epoch: 1 });
  fleet.sessions.set('s1', { personId, sessionId: 'session 1', email: 'ann@example.com' });
  expect(await fleet.principalOf(token)).toEqual({
    kind: 'person',
    personId,
    sessionId: 'session 1',
    email: 'ann@example.com',
    grants: [on.location('owner', 'plant')],
  });
  expect(await signIn(fleet, 'access-token', 'ann@example.com', token)).toBe(token);

  fleet.sessions.delete('s1');
  await fleet.clock.advance(2_000);
  await expect(fleet.principalOf(token)).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(signIn(fleet, 'access-token', 'ann@example.com', token)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});

test('D49 who made a signed address in a session has standing with the roles of today while that session lasts, and not by another', async () => {
  const fleet = await openFleet();
  const personId = await fleet.personWith(on.location('owner', 'plant'));
  for (const sessionId of ['s1', 's2'])
    fleet.sessions.set(sessionId, { personId, sessionId, email: 'ann@example.com' });
  const standing = () => fleet.authenticator.standing({ kind: 'session', id: 's1' }, fleet.clock.now());
  expect(await standing()).toMatchObject({ personId, sessionId: 's1', grants: [on.location('owner', 'plant')] });
  fleet.sessions.delete('s1');
  expect(await standing()).toBeUndefined();
});

test('R16 when the key behind a token ends, its calls and its open streams are refused within 2 s', async () => {
  const fleet = await openFleet();
  const key = await fleet.keyWith(on.organization('operator'));
  const call = { metadata: new Headers({ authorization: `Bearer ${key.token}` }) };
  await expect(fleet.authenticator.recheck(call)).resolves.toMatchObject({ keyId: key.id });
  // Change the table directly, as another process would: nothing calls forget().
  await fleet.db.updateTable('api_keys').set({ revoked_ms: 1 }).where('id', '=', key.id).execute();
  await fleet.clock.advance(2_000);
  await expect(fleet.authenticator.recheck(call)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('R3 a caller with a role on a whole organization operates the locations shared with it, until the sharing ends', async () => {
  const fleet = await openFleet();
  const whole = await fleet.keyWith(on.organization('owner', 'umbrella'));
  const narrow = await fleet.keyWith(on.location('owner', 'lab', 'umbrella'));
  fleet.shared.set('umbrella', [{ organizationId: 'acme', locationId: 'plant' }]);
  fleet.authenticator.forget();
  const guest = await fleet.principalOf(whole.token);
  expect(guest).toMatchObject({
    grants: [on.organization('owner', 'umbrella'), { ...on.location('operator', 'plant'), shared: true }],
  });
  const may = (action: Parameters<Fleet['access']['allows']>[1], id: string): boolean =>
    fleet.access.allows(guest, action, id);
  expect([may('machine.read', 'press'), may('location.read', 'hall'), may('part.read', 'press-main')]).toEqual([
    true,
    true,
    true,
  ]);
  expect([may('machine.manage', 'press'), may('location.manage', 'plant'), may('part.secrets', 'press-main')]).toEqual([
    false,
    false,
    false,
  ]);
  expect([may('machine.read', 'mill'), may('organization.read', 'acme'), may('location.see', 'office')]).toEqual([
    false,
    false,
    false,
  ]);
  expect(fleet.access.scopeIn(guest, 'acme')).toEqual({
    organizationId: 'acme',
    locationIds: ['plant', 'hall'],
    robotIds: [],
  });
  expect(await fleet.principalOf(narrow.token)).toMatchObject({ grants: [on.location('owner', 'lab', 'umbrella')] });

  fleet.shared.clear();
  await fleet.clock.advance(2_000);
  expect(await fleet.principalOf(whole.token)).toMatchObject({ grants: [on.organization('owner', 'umbrella')] });
});

test('D6 a location secret does not open the cloud, and the refusal states its purpose', async () => {
  const fleet = await openFleet();
  expect(await refusal(signIn(fleet, 'robot-location-secret', 'press', 'x'))).toEqual({
    code: 'invalid_argument',
    message: expect.stringContaining(
      'a location secret gives access to the machines of its location, not to the cloud',
    ),
  });
});

test('too many wrong keys answer RESOURCE_EXHAUSTED with the wait, in the same words whether or not the key exists', async () => {
  const fleet = await openFleet();
  const key = await fleet.keyWith(on.organization('owner'));
  const unknown = '00000000-0000-4000-8000-000000000000';
  const series = async (id: string, from: string): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for (let turn = 0; turn < 8; turn++) {
      const { code, message } = await refusal(signIn(fleet, 'api-key', id, `guess ${turn}`, from));
      seen.push([code, message.replace(id, 'ID')]);
    }
    return seen;
  };
  const known = await series(key.id, '10.0.0.1:1');
  expect(known).toEqual(await series(unknown, '10.0.0.2:1'));
  expect(known.at(-1)).toEqual([
    'resource_exhausted',
    'sign-in: too many failed attempts from this address; try again after 1 s',
  ]);
});

test('guessing at a key or part does not lock out its owner: the right secret works from anywhere, even from the guessing address', async () => {
  const fleet = await openFleet();
  const key = await fleet.keyWith(on.organization('owner'));
  for (let turn = 0; turn < 100; turn++) {
    await refusal(signIn(fleet, 'api-key', key.id, 'guess', '10.0.0.1:1'));
    await refusal(signIn(fleet, 'robot-secret', 'press-main', 'guess', '10.0.0.1:1'));
  }
  for (const from of ['10.0.0.1:2', '10.0.0.2:1']) {
    expect(await signIn(fleet, 'api-key', key.id, key.key, from)).toBe(key.token);
    expect(await signIn(fleet, 'robot-secret', 'press-main', 'secret of press-main', from)).toMatch(/^pt1\./);
    expect(await fleet.authenticator.principalOfKey(key.id, key.key, from)).toMatchObject({ keyId: key.id });
  }
});

test('wrong keys at the configuration endpoint and at Authenticate are counted together', async () => {
  const fleet = await openFleet();
  const key = await fleet.keyWith(on.organization('owner'));
  for (let turn = 0; turn < 3; turn++) {
    expect(await refusal(signIn(fleet, 'api-key', key.id, 'guess'))).toMatchObject({ code: 'permission_denied' });
    const asked = fleet.authenticator.principalOfKey(key.id, 'guess', here);
    expect(await refusal(asked)).toMatchObject({ code: turn < 2 ? 'unauthenticated' : 'resource_exhausted' });
  }
});

test('refused tokens are not cached: after a thousand invalid ones, a valid one still works', async () => {
  const fleet = await openFleet();
  const key = await fleet.keyWith(on.organization('owner'));
  for (let turn = 0; turn < 1_000; turn++)
    expect(await refusal(fleet.principalOf(`pt1.${turn}.x`))).toMatchObject({ code: 'unauthenticated' });
  expect(await fleet.principalOf(key.token)).toMatchObject({ keyId: key.id });
});
