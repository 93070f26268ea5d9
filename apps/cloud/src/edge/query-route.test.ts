import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PlatformError, silentLog } from '@platform/base';
import { tableFromIPC } from 'apache-arrow';
import { expect, onTestFinished, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { callerOf, serveQueries } from '../queries/testing/serve-queries.ts';
import { openTabular } from '../tabular/testing/open-tabular.ts';
import { headerOf, sendError } from './http.ts';
import { queryRoute } from './query-route.ts';

type Ask = (body: unknown, headers?: Record<string, string>, method?: string) => Promise<Response>;

/** Creates three readings of part-1 in org-1. Callers are those of serveQueries, selected by the header x-who; without it, none. */
async function startRoute(): Promise<Ask> {
  const store = await openTabular();
  const queries = await serveQueries(store);
  store.append({ readings: [{ data: { load: 1 } }, { data: { load: 2.5 } }, { data: { load: 4 } }] });
  const route = queryRoute({
    queries,
    async principalOf(request): Promise<Principal> {
      const who = headerOf(request, 'x-who');
      if (who === '') throw new PlatformError('unauthenticated', 'expected a key, found none');
      return callerOf(who);
    },
  });
  const server = createServer((request, response) => {
    route(request, response, new URL(request.url ?? '/', 'http://localhost')).then(
      (handled) => void (handled || response.writeHead(404).end()),
      (caught: unknown) => sendError(response, caught, '/api/query', silentLog),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await queries[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  const { port } = server.address() as AddressInfo;
  return (body, headers = {}, method = 'POST') =>
    fetch(`http://127.0.0.1:${port}/api/query`, {
      method,
      headers: { 'content-type': 'application/json', 'x-who': 'operator', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
}

const sql = 'SELECT component_name, data.load AS l FROM readings ORDER BY data.load';
const rows = [1, 2.5, 4].map((l) => ({ component_name: 'cpu', l }));

test('SQL and MQL return a JSON array, and a caller with one organization need not name it', async () => {
  const ask = await startRoute();
  const answer = await ask({ sql });
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(Number(answer.headers.get('platform-scanned-bytes'))).toBeGreaterThan(0);
  const [used, limit] = ['platform-month-bytes', 'platform-month-limit-bytes'].map((name) =>
    Number(answer.headers.get(name)),
  );
  expect(used).toBe(Number(answer.headers.get('platform-scanned-bytes')));
  expect(limit).toBeGreaterThan(used ?? 0);
  expect(await answer.json()).toEqual(rows);
  const mql = [{ $match: { 'data.load': { $gt: { $numberDouble: '1.5' } } } }, { $count: 'n' }];
  expect(await (await ask({ organization_id: 'org-1', mql })).json()).toEqual([{ n: 2 }]);
  expect(await (await ask({ sql: `${sql} LIMIT 0` })).json()).toEqual([]);
});

test('since excludes what arrived earlier and until what arrived later, in SQL and in MQL, and errors name the stages of the caller', async () => {
  const ask = await startRoute();
  const counted = async (since: string, query: object): Promise<unknown> => (await ask({ ...query, since })).json();
  const queries = [{ sql: 'SELECT COUNT(*) AS n FROM readings' }, { mql: [{ $group: { _id: null, n: { $sum: 1 } } }] }];
  for (const query of queries) {
    expect(await counted('1970-01-01T00:00:00Z', query)).toEqual([expect.objectContaining({ n: 3 })]);
    expect(await counted('2999-01-01T00:00:00Z', query)).not.toEqual([expect.objectContaining({ n: 3 })]);
  }
  expect(await counted('2999-01-01T00:00:00Z', { sql })).toEqual([]);
  expect(await counted('2999-01-01T00:00:00Z', { sql: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
  const within = async (times: object): Promise<unknown> => (await ask({ ...queries[0], ...times })).json();
  expect(await within({ until: '2999-01-01T00:00:00Z' })).toEqual([{ n: 3 }]);
  expect(await within({ since: '1970-01-01T00:00:00Z', until: '2999-01-01T00:00:00Z' })).toEqual([{ n: 3 }]);
  expect(await within({ until: '1970-01-01T00:00:00Z' })).toEqual(await within({ since: '2999-01-01T00:00:00Z' }));
  const mql = [{ $match: {} }, { $nothing: 1 }];
  const without = await (await ask({ mql })).json();
  expect(await counted('2999-01-01T00:00:00Z', { mql })).toEqual(without);
});

test('with the header platform-explain the answer describes how the query was executed', async () => {
  const ask = await startRoute();
  const answer = await ask({ sql, format: 'ndjson' }, { 'platform-explain': 'true' });
  expect(await answer.json()).toEqual([expect.objectContaining({ push_down: expect.anything(), rows: 3 })]);
});

test('a body that is nested too deeply is refused with the limit, whatever its depth', async () => {
  const ask = await startRoute();
  const nested = (levels: number): string =>
    `{"mql": [{"$match": ${'{"$and": ['.repeat(levels / 2)}${']}'.repeat(levels / 2)}}]}`;
  for (const levels of [198, 210, 4_000, 100_000]) {
    const answer = await ask(nested(levels));
    expect(answer.status).toBe(400);
    const { message } = (await answer.json()) as { message: string };
    expect(message).toMatch(
      levels === 198 ? /the query is nested deeper than 200|\$and/ : /^body: .*at most 200 nested/,
    );
  }
  expect((await ask({ sql: `SELECT '${'['.repeat(500)}' AS a FROM readings LIMIT 1` })).status).toBe(200);
});

test('D48 a body of too many elements is refused before it is parsed', async () => {
  const ask = await startRoute();
  const matching = (values: number): string => `{"mql": [{"$match": {"a": {"$in": [${'0,'.repeat(values)}0]}}}]}`;
  expect((await ask(matching(24_000))).status).toBe(200);
  // Not even JSON, which a parser would say.
  for (const body of [matching(30_000), `{"sql": [${'0,'.repeat(30_000)}`]) {
    const answer = await ask(body);
    expect(answer.status).toBe(413);
    const { message } = (await answer.json()) as { message: string };
    expect(message).toMatch(/^body: expected at most 50000 fields and elements .* in "(mql|sql)"$/);
  }
});

test('NDJSON and Arrow are selected by format or by Accept', async () => {
  const ask = await startRoute();
  const lines = async (answer: Response): Promise<unknown[]> =>
    (await answer.text()).split('\n').map((line) => (line === '' ? null : JSON.parse(line)));
  expect(await lines(await ask({ sql, format: 'ndjson' }))).toEqual([...rows, null]);
  expect(await lines(await ask({ sql }, { accept: 'application/x-ndjson' }))).toEqual([...rows, null]);
  const answer = await ask({ sql }, { accept: 'application/vnd.apache.arrow.stream' });
  const table = tableFromIPC(new Uint8Array(await answer.arrayBuffer()));
  expect([...(table.getChild('l') ?? [])]).toEqual([1, 2.5, 4]);
});

test('callers see only rows that they may read', async () => {
  const ask = await startRoute();
  expect(await (await ask({ sql }, { 'x-who': 'operator loc-2' })).json()).toEqual([]);
  const foreign = await ask({ organization_id: 'org-2', sql });
  expect(foreign.status).toBe(404);
  expect(await foreign.json()).toMatchObject({ code: 'not_found' });
  expect((await ask({ sql }, { 'x-who': '' })).status).toBe(401);
});

test.each<[unknown, Record<string, string>, string]>([
  ['{', {}, 'body: expected a JSON object'],
  ['[]', {}, 'body: expected a JSON object, found a list'],
  ['['.repeat(500_000), {}, 'body: expected a query of at most 200 nested'],
  [{}, {}, 'query: expected either "sql" or "mql", found none'],
  [{ sql, mql: [] }, {}, 'query: expected either "sql" or "mql", found both'],
  [{ query: sql }, {}, '"query": expected one of the fields organization_id, sql, mql, since, until, format'],
  [{ sql: 1 }, {}, 'sql: expected text, found a value of type'],
  [{ mql: {} }, {}, 'mql: expected a list of stages'],
  [{ mql: [1] }, {}, 'mql[0]: expected a stage'],
  [{ mql: [{ $nothing: 1 }] }, {}, '$nothing'],
  [{ sql: 'SELEC 1' }, {}, 'line 1, column 1'],
  [{ sql, since: 'yesterday' }, {}, 'since: expected a time such as'],
  [{ sql, since: '2026-99-01T00:00:00Z' }, {}, 'since: expected a time such as'],
  [{ sql, until: 7 }, {}, 'until: expected a time such as'],
  [
    { sql, since: '2026-01-02T00:00:00Z', until: '2026-01-02T00:00:00Z' },
    {},
    'until: expected a time after since, 2026-01-02T00:00:00.000Z, found "2026-01-02T00:00:00Z"',
  ],
  [{ sql, format: 'xml' }, {}, 'format: expected json, ndjson, arrow, found "xml"'],
  [{ sql }, { 'content-type': 'text/plain' }, 'content-type: expected application/json, found "text/plain"'],
])('%o is refused', async (body, headers, message) => {
  const ask = await startRoute();
  const answer = await ask(body, headers);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({ code: 'invalid_argument', message: expect.stringContaining(message) });
});

test('a body above 1 MiB is refused with 413', async () => {
  const ask = await startRoute();
  const answer = await ask({ sql: `SELECT ${' '.repeat(1024 * 1024)} 1 FROM readings` });
  expect(answer.status).toBe(413);
  expect(await answer.json()).toMatchObject({ code: 'resource_exhausted' });
});

test('D47 answers spell API names core:, or rdk: if the header asks for it; both spellings find the rows', async () => {
  const ask = await startRoute();
  for (const [headers, spelled] of [
    [{}, 'core'],
    [{ 'platform-vocabulary': 'rdk' }, 'rdk'],
  ] as const)
    for (const space of ['core', 'rdk']) {
      const name = `${space}:component:sensor`;
      for (const query of [
        { sql: `SELECT component_type FROM readings WHERE component_type = '${name}'` },
        { sql: `SELECT component_type FROM readings WHERE component_type IN ('${name}', 'x') ORDER BY data.load` },
        {
          sql: `SELECT component_type, COUNT(*) AS n FROM readings WHERE component_type = '${name}' GROUP BY component_type`,
        },
        { mql: [{ $match: { component_type: name } }] },
        { mql: [{ $match: { component_type: { $in: [name] } } }, { $group: { _id: '$component_type' } }] },
      ]) {
        const answer = await ask(query, headers);
        const found = (await answer.json()) as Record<string, unknown>[];
        expect(found.length, JSON.stringify(query)).toBeGreaterThan(0);
        for (const row of found) expect(row['component_type'] ?? row['_id']).toBe(`${spelled}:component:sensor`);
        expect(answer.headers.get('platform-notices')).toBeNull();
      }
    }
  const other = await ask({ sql: `SELECT 1 AS one FROM readings WHERE component_type LIKE 'rdk:%'` });
  expect(decodeURIComponent(other.headers.get('platform-notices') ?? '')).toContain('core:%');
});

test('a page of another origin can send queries: preflight and answer as for calls', async () => {
  const ask = await startRoute();
  const origin = 'https://dashboard.example';
  const asked = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'key_id,key' };
  const preflight = await ask(undefined, asked, 'OPTIONS');
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
  expect(preflight.headers.get('access-control-allow-headers')).toBe('key_id,key');
  for (const answer of [await ask({ sql }, { origin }), await ask({ sql: 'SELEKT' }, { origin })]) {
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('access-control-expose-headers')).toContain('platform-scanned-bytes');
  }
});
