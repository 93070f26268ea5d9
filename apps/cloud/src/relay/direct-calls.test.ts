/** What machines may ask and report of connections that do not go through the cloud. */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import {
  CallerAccess,
  CallerPath,
  CheckCallersRequestSchema,
  ReportCallsRequestSchema,
  type ReportedCallsSchema,
} from '@platform/proto/platform/relay/v1/relay';
import { expect, test } from 'vitest';
import { issueToken } from '../access/access-token.ts';
import { auditEntries } from '../access/audit-entries.ts';
import { createAuthenticator } from '../access/authenticate.ts';
import { removeGrantsOn } from '../access/grants.ts';
import { createGuessLimit } from '../access/guess-limit.ts';
import type { Principal } from '../access/principal.ts';
import { callOf } from '../access/testing/call-of.ts';
import { type Fleet, on, openFleet } from '../access/testing/open-fleet.ts';
import { directCallHandlers } from './direct-calls.ts';

const itself: Principal = { kind: 'part', partId: 'press-main' };
const { UNSPECIFIED: none, CONTROL: control, MANAGE: manage } = CallerAccess;

/** A cloud as a machine sees it. @param authenticator that of another process of it */
function open(fleet: Fleet, authenticator: Fleet['authenticator'] = fleet.authenticator) {
  const handlers = directCallHandlers({
    ...{ db: fleet.db, access: fleet.access, clock: fleet.clock },
    principalOfTicket: authenticator.principalOfTicket,
    authorizeAnswer(principal, partId) {
      if (principal.kind !== 'part' || principal.partId !== partId) throw new PlatformError('permission_denied', 'no');
    },
  });
  return {
    async check(tickets: readonly Uint8Array[], partId = 'press-main', by = itself): Promise<readonly CallerAccess[]> {
      const answer = await handlers.checkCallers?.(
        create(CheckCallersRequestSchema, { partId, tickets: [...tickets] }),
        callOf(by),
      );
      return answer?.access ?? [];
    },
    report: async (
      calls: readonly MessageInitShape<typeof ReportedCallsSchema>[],
      partId = 'press-main',
      by = itself,
    ): Promise<void> => {
      await handlers.reportCalls?.(create(ReportCallsRequestSchema, { partId, calls: [...calls] }), callOf(by));
    },
  };
}

const ticketOf = (fleet: Fleet, token: string, partId = 'press-main'): Uint8Array =>
  fleet.authenticator.ticketOf({ metadata: new Headers({ authorization: `Bearer ${token}` }) }, partId);

test('D40 a ticket says what its caller may do now: nothing once the key is deleted or the role is lost', async () => {
  const fleet = await openFleet();
  const { check } = open(fleet);
  const owner = await fleet.keyWith(on.machine('owner', 'press'));
  const operator = await fleet.keyWith(on.location('operator', 'plant'));
  const elsewhere = await fleet.keyWith(on.machine('owner', 'mill'));
  const tickets = [owner, operator, elsewhere].map(({ token }) => ticketOf(fleet, token));
  for (const ticket of tickets) expect(ticket.length).toBeLessThan(512);
  expect(await check(tickets)).toEqual([manage, control, none]);
  await fleet.db.transaction().execute((trx) => removeGrantsOn(trx, { machineId: 'press' }));
  await fleet.db.deleteFrom('grants').where('identity_id', '=', operator.id).execute();
  fleet.authenticator.forget();
  expect(await check(tickets)).toEqual([none, none, none]);
});

test('D40 the ticket of a person ends with the session in which it was made', async () => {
  const fleet = await openFleet();
  const { check } = open(fleet);
  const personId = await fleet.personWith(on.organization('operator'));
  fleet.sessions.set('one', { personId, sessionId: 'one', email: 'ada@example.com' });
  const token = issueToken(fleet.instanceKey, { kind: 'session', id: 'one', epoch: 1 });
  const ticket = ticketOf(fleet, token);
  expect(await check([ticket, ticket])).toEqual([control, control]);
  fleet.sessions.delete('one');
  fleet.authenticator.forget();
  expect(await check([ticket])).toEqual([none]);
});

test('D40 any process of the cloud reads a ticket, also after a restart; another part, or a changed one, gets nothing from it', async () => {
  const fleet = await openFleet();
  const { token } = await fleet.keyWith(on.organization('owner'));
  const ticket = ticketOf(fleet, token);
  const rows = { requireComplete: async () => {} };
  const restarted = createAuthenticator({
    ...{ db: fleet.db, rows, instanceKey: fleet.instanceKey, clock: fleet.clock, requirePlaces: async () => {} },
    partSecrets: { check: async () => 1, isCurrent: async () => true, deletedPlace: () => undefined },
    sessions: { personOf: async () => undefined, personWith: async () => undefined },
    ...{ shares: { sharesTo: () => [] }, guesses: createGuessLimit(fleet.clock), keyUsed: () => {} },
  });
  const { check } = open(fleet, restarted);
  expect(await check([ticket])).toEqual([manage]);
  const changed = Uint8Array.from(ticket, (byte, at) => (at === 20 ? byte ^ 1 : byte));
  const foreign = fleet.instanceKey.encrypt(JSON.stringify(['key', 'k', 1, 'press-main', 0]));
  const secret = fleet.instanceKey.encrypt('a stored secret');
  const wrong = [changed, ticket.subarray(1), new Uint8Array(), new Uint8Array(2_000), foreign, secret];
  expect(await check([...wrong, ticket])).toEqual([...wrong.map(() => none), manage]);
  const other: Principal = { kind: 'part', partId: 'mill-main' };
  expect(await check([ticket], 'mill-main', other)).toEqual([none]);
});

test('only who may answer for a part asks and reports about its callers, about at most 100 at once', async () => {
  const fleet = await openFleet();
  const { check, report } = open(fleet);
  const denied = { code: 'permission_denied' };
  const operator = await fleet.principalOf((await fleet.keyWith(on.organization('operator'))).token);
  for (const by of [operator, { kind: 'part', partId: 'mill-main' } as const]) {
    await expect(check([], 'press-main', by)).rejects.toMatchObject(denied);
    await expect(report([], 'press-main', by)).rejects.toMatchObject(denied);
  }
  const many = { code: 'invalid_argument', message: expect.stringContaining('at most 100, found 101') };
  await expect(check(Array(101).fill(new Uint8Array()))).rejects.toMatchObject(many);
  await expect(report(Array(101).fill({}))).rejects.toMatchObject(many);
  await expect(check([], '')).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(report([{ id: 'x' }])).rejects.toMatchObject({
    message: expect.stringContaining('calls[0].id: expected a UUID'),
  });
});

const calls = (id: string, more: object = {}) => ({
  ...{ id: `00000000-0000-4000-8000-00000000000${id}`, caller: 'person:p', callerName: 'ada@example.com' },
  ...{ operation: 'MotorService.SetPower', resource: 'left', count: 7n, path: CallerPath.WEBRTC },
  ...more,
});
const trail = async ({ db }: Fleet, targetId = 'press-main') =>
  (await auditEntries(db, { targetId, limit: 1_000 }))
    .toReversed()
    .map((entry) => ({ ...entry, detail: JSON.parse(entry.detail) }));

test('D40 calls that a machine reports are in the audit trail once, however often it reports them, also after a restart', async () => {
  const fleet = await openFleet();
  const { report } = open(fleet);
  const firstMs = fleet.clock.now() - 9_000;
  const lastMs = fleet.clock.now() - 1_000;
  const times = { first: timestampFromMs(firstMs), last: timestampFromMs(lastMs) };
  const left = calls('1', { ...times, lastArguments: '{"powerPct":1}', dropped: 3n });
  const direct = calls('2', { caller: 'api-key:k', resource: '', path: CallerPath.DIRECT, count: 0n });
  await report([left, left]);
  await report([left, direct]);
  await Promise.all([report([direct]), open(fleet).report([direct, left])]);
  expect(await trail(fleet)).toMatchObject([
    {
      ...{ actor_kind: 'person', actor_id: 'p', actor_name: 'ada@example.com', action: 'MotorService.SetPower' },
      ...{ organization_id: 'acme', target_kind: 'part', at_ms: fleet.clock.now(), peer_address: '', stage: 0 },
      detail: {
        ...{ resource: 'left', count: 7, arguments: '{"powerPct":1}', path: 'webrtc', reported_by: 'machine' },
        ...{ first: new Date(firstMs).toISOString(), last: new Date(lastMs).toISOString(), dropped: 3 },
      },
    },
    { actor_kind: 'api-key', actor_id: 'k', detail: { count: 1, path: 'direct', reported_by: 'machine' } },
  ]);
  // The id counts for the part: another machine cannot hide calls by using it first.
  const mill: Principal = { kind: 'part', partId: 'mill-main' };
  await report([left], 'mill-main', mill);
  expect(await trail(fleet, 'mill-main')).toHaveLength(1);
});

test('a machine whose clock is wrong by a day, or that sends nonsense, makes an entry at the time of the cloud with short, printable texts', async () => {
  const fleet = await openFleet();
  const { report } = open(fleet);
  const now = fleet.clock.now();
  const dayMs = 86_400_000;
  await report([
    calls('1', { first: timestampFromMs(now + dayMs), last: timestampFromMs(now + dayMs + 5) }),
    calls('2', { first: timestampFromMs(now), last: timestampFromMs(now - dayMs) }),
    calls('3', { first: { seconds: -(2n ** 62n), nanos: 0 }, last: { seconds: 2n ** 62n, nanos: 0 } }),
    calls('4', {
      ...{ caller: `admin:${'x'.repeat(1_000)}`, callerName: '\u202eroot\u0000\n', operation: '' },
      ...{ resource: '\u001b[2J'.repeat(1_000), lastArguments: 'y'.repeat(5_000), count: 2n ** 63n },
    }),
    calls('5', { caller: 'nobody knows' }),
  ]);
  const at = (ms: number): string => new Date(ms).toISOString();
  const entries = await trail(fleet);
  expect(entries.map(({ at_ms }) => at_ms)).toEqual(Array(5).fill(now));
  const times = entries.map(({ detail }) => [detail.first, detail.last]);
  expect(times.slice(0, 3)).toEqual([
    [at(now), at(now)],
    [at(now - dayMs), at(now - dayMs)],
    [undefined, undefined],
  ]);
  const [, , , nonsense, unknown] = entries;
  expect(nonsense).toMatchObject({ actor_kind: 'unknown', actor_name: '\\u202eroot\\u0000 ', action: 'unknown' });
  expect(nonsense?.actor_id).toHaveLength(255);
  expect(nonsense?.detail.resource).toHaveLength(255);
  expect(nonsense?.detail.arguments).toHaveLength(1_024);
  expect(nonsense?.detail.count).toBe(Number.MAX_SAFE_INTEGER);
  expect(unknown).toMatchObject({ actor_kind: 'unknown', actor_id: 'nobody knows' });
});
