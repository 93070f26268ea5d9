import { BsonDocument, type BsonValue, encodeBson, Int32 } from '@platform/query';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenTabular, openTabular } from '../tabular/testing/open-tabular.ts';
import { type ServedQueries, serveQueries } from './testing/serve-queries.ts';

let store: OpenTabular;
let queries: ServedQueries;
const unwind = new AsyncDisposableStack();
const dayMs = 86_400_000;
const now = Date.now();

beforeAll(async () => {
  store = unwind.use(await openTabular());
  queries = unwind.use(await serveQueries(store));
  // `pressure` is only in an old reading, `temperature` in sealed ones, `humidity` in one that is not sealed.
  store.append({ readings: [{ data: { readings: { pressure: 1, temperature: 20 } }, receivedMs: now - 9 * dayMs }] });
  store.append({ readings: [{ data: { readings: { temperature: 21 } } }] });
  await store.tabular.seal();
  const place = { organizationId: 'org-1', locationId: 'loc-2', robotId: 'robot-2', partId: 'part-2' };
  store.append({ place, metadata: { componentName: 'oven' }, readings: [{ data: { humidity: 40 } }] }, 'part-2');
});
afterAll(() => unwind.disposeAsync());

function doc(fields: Record<string, BsonValue>): BsonDocument {
  return BsonDocument.of(fields);
}

async function told(
  ask: (options: { headers: Record<string, string>; onHeader: (header: Headers) => void }) => Promise<unknown>,
  who: string,
): Promise<string[]> {
  let text = '[]';
  const onHeader = (header: Headers): void => {
    text = decodeURIComponent(header.get('platform-notices') ?? text);
  };
  await ask({ headers: { 'x-who': who }, onHeader });
  return JSON.parse(text);
}

function sql(sqlQuery: string, who = 'operator'): Promise<string[]> {
  return told((options) => queries.client.tabularDataBySQL({ organizationId: 'org-1', sqlQuery }, options), who);
}

function mql(...stages: BsonDocument[]): Promise<string[]> {
  const mqlBinary = stages.map((stage) => encodeBson(stage));
  return told(
    (options) => queries.client.tabularDataByMQL({ organizationId: 'org-1', mqlBinary }, options),
    'operator',
  );
}

const misspelled = 'no stored reading has a field "data.readings.temprature"; nearest: "data.readings.temperature"';

test('a field that is in no stored reading gives a notice with the nearest name, in SQL and in MQL', async () => {
  expect(await sql('SELECT time_received FROM readings WHERE data.readings.temprature > 3')).toEqual([misspelled]);
  expect(await sql('SELECT time_received, data.readings.temprature AS t FROM readings')).toEqual([misspelled]);
  expect(await sql('SELECT avg(data.readings.temprature) AS mean FROM readings')).toEqual([misspelled]);
  expect(await mql(doc({ $match: doc({ 'data.readings.temprature': doc({ $gt: 3 }) }) }))).toEqual([misspelled]);
  expect(await mql(doc({ $project: doc({ time_received: true, t: '$data.readings.temprature' }) }))).toEqual([
    misspelled,
  ]);
  const group = doc({ _id: '$component_name', mean: doc({ $avg: '$data.readings.temprature' }) });
  expect(await mql(doc({ $group: group }))).toEqual([misspelled]);
  expect(await mql(doc({ $match: doc({ temperature: 20 }) }))).toEqual([
    'no stored reading has a field "temperature"; nearest: "data.readings.temperature"',
  ]);
  expect(await sql('SELECT data.voltage FROM readings')).toEqual(['no stored reading has a field "data.voltage"']);
});

test('an unknown component, machine or part gives a notice with the nearest one, or the id of the name', async () => {
  expect(await sql("SELECT data FROM readings WHERE component_name = 'cpx'")).toEqual([
    'no stored reading has component_name "cpx"; nearest: "cpu"',
  ]);
  expect(
    await mql(doc({ $match: doc({ robot_id: 'machine 1', component_name: doc({ $in: ['ovn', 'cpu'] }) }) })),
  ).toEqual([
    'no stored reading has component_name "ovn"; nearest: "oven"',
    'no stored reading has robot_id "machine 1", which is a name; its id: "robot-1"',
  ]);
  expect(await sql("SELECT count(*) AS n FROM readings WHERE part_id = 'part-9'")).toEqual([
    expect.stringMatching(/^no stored reading has part_id "part-9"; nearest: "part-[12]"$/),
  ]);
});

test('names that some stored reading has give no notice, however the answer looks', async () => {
  // Found in an old file, in sealed ones, and in a row that is not sealed.
  for (const field of ['readings.pressure', 'readings.temperature', 'humidity', 'readings']) {
    expect(
      await sql(`SELECT data.${field} AS v FROM readings WHERE component_name = 'cpu' AND data.${field} = -1`),
    ).toEqual([]);
  }
  expect(await sql('SELECT data.readings.temperature AS t FROM readings')).toEqual([]);
  expect(await mql(doc({ $match: doc({ time_received: doc({ $lt: 0 }) }) }))).toEqual([]);
  expect(await sql('SELECT NULL AS nothing')).toEqual([]);
});

test('nearest names are those that the caller may see', async () => {
  const query = "SELECT data.humidty FROM readings WHERE component_name = 'ovem'";
  expect(await sql(query)).toEqual([
    'no stored reading has component_name "ovem"; nearest: "oven"',
    'no stored reading has a field "data.humidty"; nearest: "data.humidity"',
  ]);
  expect(await sql(query, 'operator loc-1')).toEqual([
    'no stored reading has component_name "ovem"',
    'no stored reading has a field "data.humidty"',
  ]);
  expect(await sql("SELECT data FROM readings WHERE robot_id = 'machine 2'", 'operator loc-1')).toEqual([
    'no stored reading has robot_id "machine 2"',
  ]);
});

test('long names and many names: few short sentences, and the answer still comes', async () => {
  const long = 'x'.repeat(10_000);
  const many = Array.from({ length: 5_000 }, (_, at) => `cpu-${at}`);
  const notices = await mql(
    doc({ $match: doc({ component_name: doc({ $in: [long, ...many] }), [`data.${long}`]: new Int32(1) }) }),
  );
  expect(notices).toHaveLength(5);
  for (const notice of notices) expect(notice.length).toBeLessThan(300);
  expect(notices.join('\n')).toContain('cpu-1"; nearest: "cpu"');
});

test('what the store is asked for a notice is not metered', async () => {
  const headers = new Headers();
  const sqlQuery = "SELECT data.a FROM readings WHERE component_name = 'nowhere'";
  const onHeader = (header: Headers): void => {
    for (const [name, value] of header) headers.set(name, value);
  };
  await queries.client.tabularDataBySQL({ organizationId: 'org-1', sqlQuery }, { onHeader });
  expect(headers.get('platform-scanned-bytes')).toBe('0');
  expect(headers.get('platform-notices')).toContain('nowhere');
});
