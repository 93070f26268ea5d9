import { DataService, TabularDataSourceType } from '@platform/proto/platform/app/data/v1/data';
import { BsonDocument, type BsonValue, decodeBson, encodeBson, Int32 } from '@platform/query';
import { connect, type Link } from '@platform/rpc/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTabular, plain } from '../tabular/testing/open-tabular.ts';
import { type ServedQueries, serveQueries } from './testing/serve-queries.ts';

/** For requests that are refused. */
let empty: ServedQueries;
const unwind = new AsyncDisposableStack();
beforeAll(async () => {
  const store = unwind.use(await openTabular());
  empty = unwind.use(await serveQueries(store));
});
afterAll(() => unwind.disposeAsync());

function doc(fields: Record<string, BsonValue>): BsonDocument {
  return BsonDocument.of(fields);
}

test('TabularDataByMQL and TabularDataBySQL return one BSON document for each row', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  store.append({ readings: [{ data: { load: 1 } }, { data: { load: 3 } }] });
  const grouped = await queries.mql([
    doc({ $match: doc({ component_name: 'cpu' }) }),
    doc({ $group: doc({ _id: '$part_id', load: doc({ $avg: '$data.load' }), n: doc({ $sum: new Int32(1) }) }) }),
  ]);
  expect(grouped.map(plain)).toEqual([{ _id: 'part-1', load: 2, n: 2 }]);
  const sqlQuery =
    "SELECT component_name, count(*) AS n FROM readings WHERE part_id = 'part-1' GROUP BY component_name";
  const { rawData } = await queries.client.tabularDataBySQL({ organizationId: 'org-1', sqlQuery });
  expect(rawData.map((row) => plain(decodeBson(row)))).toEqual([{ component_name: 'cpu', n: 2 }]);
});

test('platform-explain: true returns what was pushed instead of the rows; every answer reports its metered bytes', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  store.append({ readings: [{ data: { load: 1 } }, { data: { load: 3 } }] });
  await store.tabular.seal();
  const ask = async (headers: Record<string, string>) => {
    const found = new Headers();
    const sqlQuery = "SELECT part_id, avg(data['load']) AS l FROM readings WHERE data['load'] > 0 GROUP BY part_id";
    const { rawData } = await queries.client.tabularDataBySQL(
      { organizationId: 'org-1', sqlQuery: sqlQuery.replaceAll("data['load']", 'data.`load`') },
      { headers, onHeader: (header) => header.forEach((value, name) => void found.set(name, value)) },
    );
    return { rows: rawData.map((row) => plain(decodeBson(row)) as Record<string, unknown>), found };
  };
  const plainly = await ask({});
  const explained = await ask({ 'platform-explain': 'true' });
  expect(plainly.rows).toEqual([{ part_id: 'part-1', l: 2 }]);
  expect(explained.rows).toHaveLength(1);
  expect(explained.rows[0]).toMatchObject({
    push_down: true,
    files_listed: 1n,
    sources: [{ does: 'group', files: 1n, rows: 1n }],
    scanned_bytes: BigInt(plainly.found.get('platform-scanned-bytes') ?? 0),
  });
  expect(Number(plainly.found.get('platform-scanned-bytes'))).toBeGreaterThan(100);
  expect(Number(plainly.found.get('platform-elapsed-ms'))).toBeGreaterThan(0);
});

test('explain has a notice if $match compares an expression instead of evaluating it', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const explainOf = async (condition: BsonDocument): Promise<unknown> => {
    const [row] = await queries.mql([doc({ $match: condition })], { 'platform-explain': 'true' });
    return plain(row as BsonDocument);
  };
  const since = doc({ $toDate: '2026-01-01' });
  expect(await explainOf(doc({ time_received: doc({ $gte: since }) }))).toMatchObject({
    notices: [expect.stringMatching(/^stage 0 \(\$match\) at \$match\.time_received\.\$gte: .* write \{\$expr: /)],
  });
  expect(await explainOf(doc({ $expr: doc({ $gte: ['$time_received', since] }) }))).not.toHaveProperty('notices');
});

test('explain names the pushed clauses of a statement with their positions, and the pushed stages of a pipeline', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  store.append({ readings: Array.from({ length: 20 }, (_, load) => ({ data: { load } })) });
  await store.tabular.seal();
  const headers = { 'platform-explain': 'true' };
  const pushedBy = async (sqlQuery: string): Promise<unknown> => {
    const { rawData } = await queries.client.tabularDataBySQL({ organizationId: 'org-1', sqlQuery }, { headers });
    const { sources } = plain(decodeBson(rawData[0] as Uint8Array)) as { sources: { pushed: string[] }[] };
    return sources[0]?.pushed;
  };
  const where = "FROM readings WHERE data.load > 3\n AND component_name = 'cpu'";
  const places = ['WHERE (line 1, column 59)', 'WHERE (line 2, column 21)'];
  expect(await pushedBy(`SELECT part_id, SUM(1) AS n ${where} GROUP BY part_id`)).toEqual([...places, 'GROUP BY']);
  expect(await pushedBy(`SELECT DISTINCT part_id     ${where}`)).toEqual([...places, 'SELECT']);
  expect(await pushedBy(`SELECT COUNT(*) AS number_n ${where}`)).toEqual([...places, 'aggregates']);
  expect(await pushedBy(`SELECT part_id, data.load   ${where} ORDER BY time_received LIMIT 2`)).toEqual([
    ...places,
    'ORDER BY',
    'LIMIT',
  ]);
  const [mql] = await queries.mql(
    [doc({ $match: doc({ component_name: 'cpu' }) }), doc({ $group: doc({ _id: '$part_id' }) })],
    headers,
  );
  expect(plain(mql as BsonDocument)).toMatchObject({ sources: [{ pushed: [expect.stringMatching(/^\$/), '$group'] }] });
});

test('D2 a peer that calls /viam… reads rdk:component:sensor', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  store.append({ readings: [{ data: { load: 1 } }] });
  const read = async (name: string): Promise<unknown> => {
    const response = await fetch(`${queries.baseUrl}/${name}.app.data.v1.DataService/TabularDataBySQL`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ organizationId: 'org-1', sqlQuery: 'SELECT component_type FROM readings' }),
    });
    const { rawData } = (await response.json()) as { rawData: string[] };
    return plain(decodeBson(new Uint8Array(Buffer.from(rawData[0] ?? '', 'base64'))));
  };
  expect(await read('viam')).toEqual({ component_type: 'rdk:component:sensor' });
  expect(await read('platform')).toEqual({ component_type: 'core:component:sensor' });
});

test('D47 both spellings of component_type find the rows over every codec and name of DataService, in SQL and MQL', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  store.append({ readings: [{ data: { load: 1 } }] });
  const organizationId = 'org-1';
  const post = async (name: string, method: string, request: object): Promise<Uint8Array[]> => {
    const answer = await fetch(`${queries.baseUrl}/${name}.app.data.v1.DataService/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ organizationId, ...request }),
    });
    const { rawData = [] } = (await answer.json()) as { rawData?: string[] };
    return rawData.map((row) => Buffer.from(row, 'base64'));
  };
  const json = (name: string) => ({
    sql: (sqlQuery: string) => post(name, 'TabularDataBySQL', { sqlQuery }),
    mql: (stages: Uint8Array[]) =>
      post(name, 'TabularDataByMQL', { mqlBinary: stages.map((stage) => Buffer.from(stage).toString('base64')) }),
  });
  const grpc = (link: Link) => {
    const client = link.client(DataService);
    return {
      sql: async (sqlQuery: string) => (await client.tabularDataBySQL({ organizationId, sqlQuery })).rawData,
      mql: async (mqlBinary: Uint8Array[]) => (await client.tabularDataByMQL({ organizationId, mqlBinary })).rawData,
    };
  };
  await using ours = connect({ baseUrl: queries.baseUrl });
  await using theirs = connect({ baseUrl: queries.baseUrl, vocabulary: 'rdk' });
  const doors = {
    'gRPC, platform': [grpc(ours), 'core'],
    'gRPC, viam': [grpc(theirs), 'rdk'],
    'JSON, platform': [json('platform'), 'core'],
    'JSON, viam': [json('viam'), 'rdk'],
  } as const;
  for (const [door, [ask, spelled]] of Object.entries(doors))
    for (const name of ['core:component:sensor', 'rdk:component:sensor']) {
      const matches = [doc({ component_type: name }), doc({ component_type: doc({ $in: [name] }) })];
      const found = await Promise.all([
        ask.sql(`SELECT component_type FROM readings WHERE component_type = '${name}'`),
        ask.sql(`SELECT component_type FROM readings WHERE component_type IN ('${name}')`),
        ...matches.map((match) =>
          ask.mql(
            [doc({ $match: match }), doc({ $project: doc({ _id: 0, component_type: new Int32(1) }) })].map((stage) =>
              encodeBson(stage),
            ),
          ),
        ),
      ]);
      const row = { component_type: `${spelled}:component:sensor` };
      expect(
        found.map((rows) => rows.map((each) => plain(decodeBson(each)))),
        `${door}: ${name}`,
      ).toEqual([[row], [row], [row], [row]]);
    }
});

test('D26 the scope is the caller’s, and an organization that the caller may not see is not found', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  store.append({ readings: [{ data: { load: 1 } }] });
  expect(await queries.mql([], { 'x-who': 'operator' })).toHaveLength(1);
  expect(await queries.mql([], { 'x-who': 'operator loc-2' })).toHaveLength(0);
  await expect(queries.client.tabularDataByMQL({ organizationId: 'org-2' })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(queries.client.tabularDataByMQL({})).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('organization_id'),
  });
});

test('an invalid query is INVALID_ARGUMENT with what was found and where', async () => {
  const queries = empty;
  await expect(queries.mql([doc({ $match: doc({}) }), doc({ $lookup: doc({}) })])).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/stage 1 .*\$lookup/),
  });
  const sql = queries.client.tabularDataBySQL({ organizationId: 'org-1', sqlQuery: 'SELECT *\nFORM readings' });
  await expect(sql).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/line 2, column 1/),
  });
  const bytes = queries.client.tabularDataByMQL({ organizationId: 'org-1', mqlBinary: [Uint8Array.of(1, 2, 3)] });
  await expect(bytes).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('a query or request that is nested 20,000 deep is INVALID_ARGUMENT, whatever its encoding', async () => {
  const queries = empty;
  const levels = 20_000;
  // Builds {a: {a: … {}}} from the inside out, because a recursive encoder would fail at this depth.
  const nested = (type: number): Uint8Array => {
    const bytes = new Uint8Array(5 + levels * 8);
    for (let level = 0; level <= levels; level++) {
      new DataView(bytes.buffer).setInt32(level * 7, bytes.length - level * 8, true);
      if (level < levels) bytes.set([type, type === 3 ? 0x61 : 0x30, 0], level * 7 + 4);
    }
    return bytes;
  };
  const refused = { code: 'invalid_argument', message: expect.stringMatching(/nested/) };
  for (const type of [3, 4]) {
    const ask = queries.client.tabularDataByMQL({ organizationId: 'org-1', mqlBinary: [nested(type)] });
    await expect(ask).rejects.toMatchObject(refused);
  }
  const expression = `${'('.repeat(levels)}1${')'.repeat(levels)}`;
  for (const sqlQuery of [`SELECT ${expression} FROM readings`, `SELECT ${'NOT '.repeat(levels)} TRUE FROM readings`]) {
    const ask = queries.client.tabularDataBySQL({ organizationId: 'org-1', sqlQuery });
    await expect(ask).rejects.toMatchObject({ code: 'invalid_argument' });
  }
  const deepJson = (open: string, close: string): string => `${open.repeat(levels)}1${close.repeat(levels)}`;
  const bodies = [
    `{"organizationId":"org-1","mqlBinary":${deepJson('[', ']')}}`,
    `{"organizationId":"org-1","mqlBinary":[${deepJson('{"a":', '}')}]}`,
    `{"organizationId":${deepJson('{"a":', '}')}}`,
    `{"unknown":${deepJson('[', ']')}}`,
    `{"organizationId":"org-1","mqlBinary":["${Buffer.from(nested(3)).toString('base64')}"]}`,
  ];
  for (const body of bodies) {
    const response = await fetch(`${queries.baseUrl}/platform.app.data.v1.DataService/TabularDataByMQL`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(await response.json(), body.slice(0, 60)).toMatchObject({ code: 'invalid_argument' });
  }
});

test('hot storage, under its current and its older name, returns the recent rows of methods configured for it', async () => {
  const paths = { part_id: ['part-1'], component_name: ['cpu'], method_name: ['Readings'] };
  const standingRulesOf = async () => ({ expired: [], recent: [{ paths, storedHours: 1 }] });
  await using store = await openTabular({}, { standingRulesOf });
  await using queries = await serveQueries(store);
  store.append({ readings: [{ data: { i: 1 } }, { data: { i: 2 }, receivedMs: Date.now() - 7_200_000 }] });
  store.append({ metadata: { componentName: 'gpu' }, readings: [{ data: { i: 3 } }] });
  const ask = async (request: object) =>
    (await queries.client.tabularDataByMQL({ organizationId: 'org-1', ...request })).rawData.map((row) =>
      plain(decodeBson(row)),
    );
  const type = TabularDataSourceType.HOT_STORAGE;
  expect(await ask({ dataSource: { type } })).toMatchObject([{ data: { i: 1 } }]);
  expect(await ask({ useRecentData: true })).toMatchObject([{ data: { i: 1 } }]);
  expect(await ask({ useRecentData: true, dataSource: { type: TabularDataSourceType.STANDARD } })).toHaveLength(3);
  expect(await ask({ useRecentData: false })).toHaveLength(3);
});

test('an empty hot store reports that it is not configured, and a literal of the other vocabulary that it never matches', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  store.append({ readings: [{ data: { i: 1 } }] });
  const noticesOf = async (useRecentData: boolean, match: BsonDocument): Promise<string[]> => {
    const found: string[] = [];
    const { rawData } = await queries.client.tabularDataByMQL(
      { organizationId: 'org-1', useRecentData, mqlBinary: [encodeBson(doc({ $match: match }))] },
      { onHeader: (header) => void found.push(decodeURIComponent(header.get('platform-notices') ?? '[]')) },
    );
    expect(rawData).toEqual([]);
    return JSON.parse(found[0] ?? '[]');
  };
  expect(await noticesOf(true, doc({}))).toEqual([
    expect.stringContaining('the hot store is empty: no capture method'),
  ]);
  expect(await noticesOf(false, doc({ component_type: doc({ $gt: 'rdk:component:sensor' }) }))).toEqual([
    expect.stringContaining('write "core:component:sensor"'),
  ]);
});

test('nonexistent data sources are refused by name', async () => {
  const queries = empty;
  const ask = (request: object) => queries.client.tabularDataByMQL({ organizationId: 'org-1', ...request });
  await expect(ask({ dataSource: { type: TabularDataSourceType.PIPELINE_SINK } })).rejects.toMatchObject({
    code: 'unimplemented',
    message: expect.stringContaining('pipelines'),
  });
  await expect(ask({ queryPrefixName: 'mine' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('mine'),
  });
  await expect(ask({ dataSource: { type: 77 } })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('77'),
  });
  expect(await ask({ dataSource: { type: TabularDataSourceType.STANDARD } })).toMatchObject({ rawData: [] });
});

test('a misspelt field in JSON is an error that names it', async () => {
  const queries = empty;
  const response = await fetch(`${queries.baseUrl}/platform.app.data.v1.DataService/TabularDataBySQL`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ organizationId: 'org-1', sqlQuerry: 'SELECT 1' }),
  });
  expect(await response.json()).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('sqlQuerry'),
  });
});
