import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type FilterSchema, Order, TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import type { Principal } from '../../access/principal.ts';
import { on as grant } from '../../access/testing/open-fleet.ts';
import { ofFile } from '../store.ts';
import { callers, data, dataset, type OpenBinary, openBinary } from '../testing/open-binary.ts';

type FilterInit = MessageInitShape<typeof FilterSchema>;

const dayMs = Date.UTC(2026, 0, 1);

async function namesFound(on: OpenBinary, principal: Principal, filter: FilterInit): Promise<readonly string[]> {
  const { data: found } = await on.ask(principal, data.binaryDataByFilter, { dataRequest: { filter } });
  return found.map(({ metadata }) => metadata?.fileName ?? '').toSorted();
}

/** Seven named files on four machines in two organizations. */
async function openSeven(): Promise<OpenBinary & { readonly byName: ReadonlyMap<string, string> }> {
  const on = await openBinary();
  const byName = new Map<string, string>();
  const put = async (fileName: string, shape: Parameters<OpenBinary['upload']>[0] & { metadata?: object }) => {
    byName.set(fileName, await on.upload({ ...shape, metadata: { ...shape.metadata, fileName } }));
  };
  await put('one', { atMs: dayMs, metadata: { tags: ['a', 'b'], mimeType: 'image/jpeg' } });
  await put('two', {
    atMs: dayMs + 1_000,
    metadata: { tags: ['b'], mimeType: 'image/png', methodName: 'NextPointCloud' },
  });
  await put('three', {
    atMs: dayMs + 2_000,
    metadata: { mimeType: 'image/png', componentName: 'lidar', componentType: 'core:component:lidar' },
    annotations: { bboxes: [{ label: 'dog', xMaxNormalized: 1, yMaxNormalized: 1 }] },
  });
  await put('mill', { atMs: dayMs, machine: 'mill', metadata: { tags: ['b', 'of mill'] } });
  await put('report.txt', {
    machine: 'mill',
    metadata: { type: DataType.FILE, methodName: '', componentName: '', componentType: '' },
  });
  await put('foreign', {
    machine: 'probe',
    atMs: dayMs,
    metadata: { tags: ['canary'] },
    annotations: { bboxes: [{ label: 'canary', xMaxNormalized: 1, yMaxNormalized: 1 }] },
  });
  return { ...on, byName };
}

test('each field of a filter narrows the result, all fields must match, and lists are alternatives', async () => {
  const on = await openSeven();
  const { id: datasetId } = await on.ask(callers.owner, dataset.createDataset, { name: 'd', organizationId: 'acme' });
  const inDataset = [on.byName.get('one') ?? '', on.byName.get('mill') ?? ''];
  await on.ask(callers.owner, data.addBinaryDataToDatasetByIDs, { binaryDataIds: inDataset, datasetId });
  const found = (filter: FilterInit) => namesFound(on, callers.owner, filter);
  const tags = (type: TagsFilterType, ...named: string[]): FilterInit => ({ tagsFilter: { type, tags: named } });

  expect(await found({})).toEqual(['mill', 'one', 'report.txt', 'three', 'two']);
  expect(await found({ componentName: 'cam' })).toEqual(['mill', 'one', 'two']);
  expect(await found({ componentType: 'core:component:lidar' })).toEqual(['three']);
  expect(await found({ componentType: 'lidar' })).toEqual(['three']);
  expect(await found({ method: 'NextPointCloud' })).toEqual(['two']);
  expect(await found({ robotName: 'mill machine' })).toEqual(['mill', 'report.txt']);
  expect(await found({ robotId: 'press' })).toEqual(['one', 'three', 'two']);
  expect(await found({ partName: 'main', partId: 'mill-main' })).toEqual(['mill', 'report.txt']);
  expect(await found({ locationIds: ['office', 'plant'] })).toEqual(['mill', 'report.txt']);
  expect(await found({ organizationIds: ['acme'], mimeType: ['image/png', 'text/plain'] })).toEqual([
    'report.txt',
    'three',
    'two',
  ]);
  expect(await found({ interval: { start: timestampFromMs(dayMs + 1_000) } })).toEqual(['report.txt', 'three', 'two']);
  const second = { start: timestampFromMs(dayMs), end: timestampFromMs(dayMs + 1_000) };
  expect(await found({ interval: second })).toEqual(['mill', 'one']);
  expect(await found(tags(TagsFilterType.MATCH_BY_OR, 'a', 'of mill'))).toEqual(['mill', 'one']);
  expect(await found(tags(TagsFilterType.MATCH_BY_OR))).toEqual(await found({}));
  expect(await found(tags(TagsFilterType.UNSPECIFIED, 'a'))).toEqual(['one']);
  expect(await found(tags(TagsFilterType.TAGGED))).toEqual(['mill', 'one', 'two']);
  expect(await found(tags(TagsFilterType.UNTAGGED))).toEqual(['report.txt', 'three']);
  expect(await found({ bboxLabels: ['dog', 'cat'] })).toEqual(['three']);
  expect(await found({ datasetId })).toEqual(['mill', 'one']);
  expect(await found({ datasetId, robotId: 'press', ...tags(TagsFilterType.TAGGED) })).toEqual(['one']);
  expect(await found({ componentName: "cam' or 1=1 --" })).toEqual([]);
});

test('callers find exactly the files covered by their roles, and tags, labels and counts reveal no others', async () => {
  const on = await openSeven();
  const seen = async (principal: Principal) => {
    const { count, totalSizeBytes } = await on.ask(principal, data.binaryDataByFilter, { countOnly: true });
    const { tags } = await on.ask(principal, data.tagsByFilter, {});
    const { labels } = await on.ask(principal, data.boundingBoxLabelsByFilter, {});
    return { names: await namesFound(on, principal, {}), count, totalSizeBytes, tags, labels };
  };
  const none = { names: [], count: 0n, totalSizeBytes: 0n, tags: [], labels: [] };
  expect(await seen(callers.operator)).toEqual({
    names: ['mill', 'one', 'report.txt', 'three', 'two'],
    count: 5n,
    totalSizeBytes: 45n,
    tags: ['a', 'b', 'of mill'],
    labels: ['dog'],
  });
  const ofHall = { names: ['one', 'three', 'two'], count: 3n, totalSizeBytes: 27n, tags: ['a', 'b'], labels: ['dog'] };
  expect(await seen(callers.plantOwner)).toEqual(ofHall);
  expect(await seen(callers.hallOperator)).toEqual(ofHall);
  expect(await seen(callers.pressOwner)).toEqual(ofHall);
  expect(await seen(callers.millOperator)).toMatchObject({ names: ['mill', 'report.txt'], labels: [] });
  expect(await seen(callers.stranger)).toMatchObject({ names: ['foreign'], tags: ['canary'], labels: ['canary'] });
  expect(await seen(callers.part)).toEqual(none);
  expect(await seen({ kind: 'key', keyId: 'none', grants: [] })).toEqual(none);
  const shared: Principal = {
    kind: 'key',
    keyId: 'guest',
    grants: [grant.organization('operator', 'umbrella'), { ...grant.location('operator', 'hall'), shared: true }],
  };
  expect((await seen(shared)).names).toEqual(['foreign', 'one', 'three', 'two']);
});

test("R2 a file, place or dataset of others is treated as nonexistent, by id and by filter, even beside one's own", async () => {
  const on = await openSeven();
  const foreign = on.byName.get('foreign') ?? '';
  const own = on.byName.get('one') ?? '';
  const { id: theirs } = await on.ask(callers.stranger, dataset.createDataset, {
    name: 'd',
    organizationId: 'umbrella',
  });
  const refusal = async (asked: Promise<unknown>): Promise<string> => {
    const caught: unknown = await asked.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(caught).toMatchObject({ code: 'not_found' });
    return String(caught).replace(/found "[^"]*"/, 'found ID');
  };
  const byIds = (...binaryDataIds: string[]) => on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds });
  expect(await refusal(byIds(own, foreign))).toBe(await refusal(byIds('never', own)));
  const older = { fileId: own, organizationId: 'umbrella', locationId: 'hall' };
  expect(await refusal(on.ask(callers.owner, data.binaryDataByIDs, { binaryIds: [older] }))).toBe(
    await refusal(byIds('never')),
  );
  const found = (filter: FilterInit) => namesFound(on, callers.owner, filter);
  for (const id of ['umbrella', 'never']) expect(await found({ organizationIds: [id] })).toEqual([]);
  for (const id of ['lab', 'never']) expect(await found({ locationIds: [id] })).toEqual([]);
  for (const robotId of ['probe', 'never']) expect(await found({ robotId })).toEqual([]);
  for (const partId of ['probe-main', 'never']) expect(await found({ partId })).toEqual([]);
  for (const datasetId of [theirs, 'never']) expect(await found({ datasetId })).toEqual([]);
  // From a list, the others remain.
  const all = await found({ organizationIds: ['acme'] });
  expect(all).toContain('one');
  for (const id of ['umbrella', 'never']) expect(await found({ organizationIds: ['acme', id] })).toEqual(all);
  const ofHall = await found({ locationIds: ['hall'] });
  for (const id of ['lab', 'never']) expect(await found({ locationIds: ['hall', id] })).toEqual(ofHall);
  const older2 = { fileId: own, organizationId: 'acme', locationId: 'hall' };
  expect((await on.ask(callers.hallOperator, data.binaryDataByIDs, { binaryIds: [older2] })).count).toBe(1n);
});

test('files of a deleted machine can still be found by id by callers who may see them', async () => {
  const on = await openBinary();
  await on.upload({ machine: 'scrapped', metadata: { fileName: 'old' } });
  expect(await namesFound(on, callers.operator, { robotId: 'scrapped' })).toEqual(['old']);
  expect(await namesFound(on, callers.hallOperator, { partId: 'scrapped-main' })).toEqual(['old']);
  expect(await namesFound(on, callers.millOperator, { robotId: 'scrapped' })).toEqual([]);
});

test('pages continue without gaps or repetitions in either order, even with uploads in between, and end at the end', async () => {
  const on = await openBinary();
  // Several at one instant: the order is still total.
  for (let at = 0; at < 9; at++)
    await on.upload({ atMs: dayMs + Math.floor(at / 3), metadata: { fileName: `f${at}` } });
  for (const sortOrder of [Order.ASCENDING, Order.DESCENDING, Order.UNSPECIFIED]) {
    const seen: string[] = [];
    const times: number[] = [];
    let last = '';
    for (let page = 0; page < 20; page++) {
      const answer = await on.ask(callers.operator, data.binaryDataByFilter, {
        dataRequest: { limit: 2n, last, sortOrder, filter: { interval: { end: timestampFromMs(dayMs + 1_000) } } },
      });
      expect(answer.count).toBe(BigInt(answer.data.length));
      seen.push(...answer.data.map(({ metadata }) => metadata?.binaryDataId ?? ''));
      times.push(...answer.data.map(({ metadata }) => Number(metadata?.timeRequested?.nanos)));
      // A repeated request with the last token stays at the end.
      if (answer.data.length === 0) expect(answer.last).toBe(last);
      last = answer.last;
      await on.upload({ content: `later ${page} ${sortOrder}` });
    }
    expect(new Set(seen).size).toBe(9);
    expect(seen).toHaveLength(9);
    const sorted = times.toSorted((a, b) => a - b);
    expect(times).toEqual(sortOrder === Order.ASCENDING ? sorted : sorted.toReversed());
  }
});

test('a page ends before it gets too large but has at least one file; files by id that are too large together fail', async () => {
  const on = await openBinary();
  const large = new Uint8Array(2_100_000).fill(7);
  const ids: string[] = [];
  for (let at = 0; at < 3; at++) ids.push(await on.upload({ atMs: dayMs + at, content: large }));
  const huge = await on.upload({ atMs: dayMs + 5_000, content: new Uint8Array(31_000_000) });
  const first = await on.ask(callers.operator, data.binaryDataByFilter, {
    includeBinary: true,
    dataRequest: { sortOrder: Order.ASCENDING, limit: 3n },
  });
  expect(first.data.map(({ metadata }) => metadata?.binaryDataId)).toEqual(ids.slice(0, 1));
  expect(first.data[0]?.binary).toEqual(large);
  const next = await on.ask(callers.operator, data.binaryDataByFilter, {
    includeBinary: true,
    dataRequest: { sortOrder: Order.ASCENDING, last: first.last, limit: 1n },
  });
  expect(next.data.map(({ metadata }) => metadata?.binaryDataId)).toEqual(ids.slice(1, 2));
  await expect(
    on.ask(callers.operator, data.binaryDataByIDs, { binaryDataIds: [huge], includeBinary: true }),
  ).rejects.toMatchObject({ code: 'resource_exhausted', message: expect.stringContaining('uri') });
  const described = await on.ask(callers.operator, data.binaryDataByIDs, { binaryDataIds: [huge] });
  expect(described.data[0]?.metadata?.fileSizeBytes).toBe(31_000_000n);
});

test('an invalid filter or page is refused by name', async () => {
  const on = await openBinary();
  const asked = (dataRequest: object) => on.ask(callers.operator, data.binaryDataByFilter, { dataRequest });
  const refused = async (dataRequest: object, words: RegExp) => {
    await expect(asked(dataRequest)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(words),
    });
  };
  await refused({ last: 'nonsense' }, /^last: expected the value from an earlier page/);
  await refused({ last: Buffer.from('[1.5,"x"]').toString('base64url') }, /^last:/);
  await refused({ filter: { mimeType: Array.from({ length: 1_001 }, String) } }, /mime_type: expected at most 1000/);
  const backwards = { start: timestampFromMs(2), end: timestampFromMs(1) };
  await refused({ filter: { interval: backwards } }, /interval: expected a start/);
  await refused({ filter: { tagsFilter: { type: 7 as TagsFilterType } } }, /tags_filter.type: expected 0 to 3/);
  await expect(on.ask(callers.operator, data.binaryDataByIDs, {})).rejects.toThrow(
    /expected 1 to 1000 ids, found none/,
  );
});

test('thousands of files of several organizations and locations are paged, counted and searched like a few', async () => {
  const on = await openBinary();
  await on.upload();
  await on.upload({ machine: 'probe' });
  await on.binary.caughtUp(new AbortController().signal);
  const rows = await on.db.selectFrom('binary_data').selectAll().orderBy('position').execute();
  const many = Array.from({ length: 5_000 }, (_, at) => {
    const row = rows[at % 2];
    if (row === undefined) throw new Error('expected two rows');
    // Many at one instant, and in the places that callers see.
    const place = at % 4 === 0 ? { location_id: 'office', robot_id: 'mill' } : {};
    const times = { captured_us: 1e15 + (at % 700) * 1_000, time_requested_us: 1e15 + (at % 700) * 1_000 };
    return { ...row, ...place, ...times, id: `f${at}`, position: -1 - at, blob_path: `p${at}`, size_bytes: 3 };
  });
  for (let at = 0; at < many.length; at += 500)
    await on.db
      .insertInto('binary_data')
      .values(many.slice(at, at + 500))
      .execute();
  const rare = many.filter(({ id }) => id.endsWith('77'));
  await on.db
    .insertInto('binary_data_tags')
    .values(rare.map((row) => ({ binary_data_id: row.id, tag: `rare ${row.id.slice(-3)}`, ...ofFile(row) })))
    .execute();

  const both: Principal = { ...callers.operator, grants: [...callers.operator.grants, ...callers.stranger.grants] };
  const end = timestampFromMs(1e12 + 1_000);
  for (const [caller, seen] of [
    [both, many],
    [callers.millOperator, many.filter(({ robot_id }) => robot_id === 'mill')],
    [callers.hallOperator, many.filter(({ location_id }) => location_id === 'hall')],
  ] as const) {
    const request = { filter: { interval: { end } }, limit: 900n };
    const counted = await on.ask(caller, data.binaryDataByFilter, { dataRequest: request, countOnly: true });
    const expected = caller === callers.millOperator ? seen.filter((row) => row.organization_id === 'acme') : seen;
    expect([counted.count, counted.totalSizeBytes]).toEqual([BigInt(expected.length), BigInt(3 * expected.length)]);
    for (const sortOrder of [Order.ASCENDING, Order.DESCENDING]) {
      const found: string[] = [];
      for (let last = ''; ; ) {
        const page = await on.ask(caller, data.binaryDataByFilter, { dataRequest: { ...request, last, sortOrder } });
        if (page.data.length === 0) break;
        found.push(...page.data.map(({ metadata }) => metadata?.binaryDataId ?? ''));
        ({ last } = page);
      }
      const sign = sortOrder === Order.ASCENDING ? 1 : -1;
      const ordered = expected.toSorted((a, b) => sign * (a.captured_us - b.captured_us || (a.id < b.id ? -1 : 1)));
      expect(found).toEqual(ordered.map(({ id }) => id));
    }
    const { tags } = await on.ask(caller, data.tagsByFilter, { filter: request.filter });
    const texts = new Set(expected.filter((row) => rare.includes(row)).map(({ id }) => `rare ${id.slice(-3)}`));
    expect(tags).toEqual([...texts].toSorted());
  }
  const { deletedCount } = await on.ask(callers.owner, data.deleteBinaryDataByFilter, {
    filter: { tagsFilter: { type: TagsFilterType.TAGGED } },
  });
  expect(deletedCount).toBe(BigInt(rare.filter(({ organization_id }) => organization_id === 'acme').length));
});
