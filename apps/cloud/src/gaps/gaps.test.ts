import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { PlatformError } from '@platform/base';
import { GapReason, type GapSchema } from '@platform/proto/platform/gaps/v1/gaps';
import { CompiledQuery, sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { callOf } from '../access/testing/call-of.ts';
import { app, openMachines } from '../machines/testing/open-machines.ts';
import type { Database } from '../metadata/tables.ts';
import { defaultStore } from '../metadata/testing/test-store.ts';
import { deleteGaps, deleteGapsOfPart, gapBinding, newestFirst } from './feature.ts';

type GapInit = MessageInitShape<typeof GapSchema>;

const gap = (id: string, more: Partial<Omit<GapInit, 'partId' | '$typeName' | '$unknown'>> = {}): GapInit => ({
  ...{ id, componentType: 'core:component:sensor', componentName: 'temp', methodName: 'Readings' },
  ...{ reason: GapReason.MISSED, start: timestampFromMs(1_000), end: timestampFromMs(2_000), readings: 3n },
  ...more,
});

async function open() {
  const given = await openMachines({ partDeleting: deleteGapsOfPart });
  const { db, access, registry } = given;
  const binding = gapBinding({ db, access, registry });
  const call = async (
    principal: Principal,
    name: string,
    request: Record<string, unknown>,
  ): Promise<{ gaps: GapInit[]; nextPageToken: string }> => {
    const bound = binding.methods.find(({ method }) => method.name === name);
    if (bound?.kind !== 'unary') throw new Error(`expected ${name} to be bound`);
    return (await bound.handler(create(bound.method.input, request) as never, callOf(principal))) as never;
  };
  return { ...given, call };
}

test('gaps of a part are listed newest first, in pages, by series, reason and time', async () => {
  const { call, itself, owner, partId } = await open();
  const at = (seconds: number) => ({
    start: timestampFromMs(seconds * 1_000),
    end: timestampFromMs(seconds * 1_000 + 500),
  });
  await call(itself, 'ReportGaps', {
    partId,
    gaps: [
      gap('a', at(1)),
      gap('b', { ...at(3), reason: GapReason.CRASH }),
      gap('c', { ...at(2), componentName: 'door' }),
      gap('d', at(3)),
    ],
  });
  const ids = async (filter: Record<string, unknown>): Promise<(string | undefined)[]> =>
    (await call(owner, 'ListGaps', { partId, ...filter })).gaps.map(({ id }) => id);
  expect(await ids({})).toEqual(['d', 'b', 'c', 'a']);
  expect(await ids({ componentName: 'temp' })).toEqual(['d', 'b', 'a']);
  expect(await ids({ componentType: 'sensor', methodName: 'Readings', reasons: [GapReason.CRASH] })).toEqual(['b']);
  expect(await ids({ start: timestampFromMs(2_500), end: timestampFromMs(3_001) })).toEqual(['d', 'b']);
  const pages: unknown[] = [];
  for (let pageToken = '', more = true; more; more = pageToken !== '') {
    const page = await call(owner, 'ListGaps', { partId, limit: 3, pageToken });
    pages.push(page.gaps.map(({ id }) => id));
    pageToken = page.nextPageToken;
  }
  expect(pages).toEqual([['d', 'b', 'c'], ['a']]);
});

test('gaps of an organization have one order across pages, even if two parts have gaps of the same id and time', async () => {
  const { call, registry, itself, owner, organizationId, partId, locationId } = await open();
  const { partId: twin } = await registry.register(locationId, 'twin', 2);
  const gaps = Array.from({ length: 20 }, (_, index) =>
    gap(`g${index}`, { start: timestampFromMs(1_000 + Math.floor(index / 4)) }),
  );
  await call(itself, 'ReportGaps', { partId, gaps });
  await call({ kind: 'part', partId: twin }, 'ReportGaps', { partId: twin, gaps });
  const list = (limit: number, pageToken = '') => call(owner, 'ListGaps', { organizationId, limit, pageToken });
  const whole = (await list(100)).gaps;
  const paged: GapInit[] = [];
  for (let pageToken = '', more = true; more; more = pageToken !== '') {
    const page = await list(3, pageToken);
    paged.push(...page.gaps);
    pageToken = page.nextPageToken;
  }
  expect(paged).toEqual(whole);
  expect(new Set(whole.map(({ id, partId: of }) => `${of} ${id}`)).size).toBe(40);
  const times = whole.map(({ start }) => Number(start?.nanos));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
});

test('indexes have the gaps of an organization, and of a part, in the order of a listing', async () => {
  const { db, organizationId, partId } = await open();
  const plan = async (column: 'organization_id' | 'part_id', id: string): Promise<string> => {
    const query = newestFirst(db.selectFrom('gaps').selectAll().where(column, '=', id), 100);
    return db.transaction().execute(async (trx) => {
      if (defaultStore === 'postgres')
        // An empty table would be read as a whole and then sorted.
        for (const way of ['seqscan', 'bitmapscan', 'sort'])
          await sql`set local enable_${sql.raw(way)} = off`.execute(trx);
      const { rows } = await explained(trx, query.compile());
      return JSON.stringify(rows);
    });
  };
  const ofOrganization = await plan('organization_id', organizationId);
  expect(ofOrganization).toContain('gaps_by_organization');
  expect(ofOrganization).not.toMatch(/sort|temp b-tree/i);
  const ofPart = await plan('part_id', partId);
  expect(ofPart).toContain('gaps_by_start');
  expect(ofPart).not.toMatch(/sort|temp b-tree/i);
});

function explained(trx: Database, { sql: text, parameters }: CompiledQuery) {
  const how = defaultStore === 'postgres' ? 'explain' : 'explain query plan';
  return trx.executeQuery<Record<string, unknown>>(CompiledQuery.raw(`${how} ${text}`, [...parameters]));
}

test('a gap that is reported again replaces itself if it has grown; a late report of less changes nothing', async () => {
  const { call, itself, partId } = await open();
  const tell = (readings: bigint, endMs: number) =>
    call(itself, 'ReportGaps', { partId, gaps: [gap('a', { readings, end: timestampFromMs(endMs) })] });
  await tell(3n, 2_000);
  await tell(9n, 8_000);
  await tell(5n, 4_000);
  expect((await call(itself, 'ListGaps', { partId })).gaps).toMatchObject([{ readings: 9n, end: { seconds: 8n } }]);
});

test('only callers who may upload for a part report its gaps, and only those who may read it see them', async () => {
  const { call, key, db, organizationId, owner, itself, partId } = await open();
  const stranger = key('owner', { organizationId: 'other', locationId: null, machineId: null } as never);
  const code = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'ok',
      (caught: PlatformError) => caught.code,
    );
  expect(await code(call(stranger, 'ReportGaps', { partId, gaps: [gap('a')] }))).toBe('not_found');
  expect(await code(call(stranger, 'ListGaps', { partId }))).toBe('not_found');
  await call(itself, 'ReportGaps', { partId, gaps: [gap('a')] });
  await deleteGaps(db, 'other');
  expect((await call(owner, 'ListGaps', { partId })).gaps).toHaveLength(1);
  await deleteGaps(db, organizationId);
  expect((await call(owner, 'ListGaps', { partId })).gaps).toEqual([]);
});

test("an organization's gaps are those of the parts that the caller may read; a deleted machine takes its gaps with it", async () => {
  const { call, ask, key, registry, itself, owner, organizationId, partId, machineId, locationId } = await open();
  const second = await registry.register(locationId, 'oven', 2);
  await call(itself, 'ReportGaps', { partId, gaps: [gap('a')] });
  await call({ kind: 'part', partId: second.partId }, 'ReportGaps', {
    partId: second.partId,
    gaps: [gap('b', { start: timestampFromMs(1_500) })],
  });
  const listed = async (principal: Principal): Promise<unknown[]> =>
    (await call(principal, 'ListGaps', { organizationId })).gaps.map(({ id, partId: of }) => [id, of]);
  const both = [
    ['b', second.partId],
    ['a', partId],
  ];
  expect(await listed(owner)).toEqual(both);
  expect(await listed(key('operator', { locationId }))).toEqual(both);
  expect(await listed(key('operator', { locationId, robotId: machineId }))).toEqual([['a', partId]]);
  await expect(listed(key('owner', { organizationId: 'other' }))).rejects.toMatchObject({ code: 'not_found' });
  await expect(call(owner, 'ListGaps', { organizationId, partId })).rejects.toMatchObject({
    message: 'ListGaps: organization_id: expected either organization_id or part_id, found both',
  });
  await ask(owner, app.deleteRobot, { id: second.machineId });
  expect(await listed(owner)).toEqual([['a', partId]]);
});

test('a gap without name, series, reason or times is refused with its path, and nothing is stored', async () => {
  const { call, itself, partId } = await open();
  const refusal = async (wrong: GapInit): Promise<string> =>
    call(itself, 'ReportGaps', { partId, gaps: [gap('fine'), wrong] }).then(
      () => 'accepted',
      (caught: PlatformError) => caught.message,
    );
  expect(await refusal(gap(''))).toBe('ReportGaps: gaps[1].id: expected 1 to 64 letters, digits, - and _, found ""');
  expect(await refusal(gap('b', { methodName: '' }))).toBe(
    'ReportGaps: gaps[1].method_name: expected a name, found none',
  );
  expect(await refusal(gap('b', { reason: 77 as GapReason }))).toBe(
    'ReportGaps: gaps[1].reason: expected a GapReason, found 77',
  );
  expect(await refusal(gap('b', { end: timestampFromMs(1) }))).toBe(
    'ReportGaps: gaps[1].end: expected a time not before start, found 1000000 to 1000 µs',
  );
  expect((await call(itself, 'ListGaps', { partId })).gaps).toEqual([]);
});
