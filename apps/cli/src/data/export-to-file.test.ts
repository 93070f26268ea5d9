import { appendFileSync, copyFileSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type Cloud, type JsonObject, PlatformError, timestampFromDate, timestampMs } from '@platform/sdk/cloud';
import { temporaryDirectory } from '@platform/testkit';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../invocation/context.ts';
import { createOutput } from '../results/output.ts';
import type { ExportFormat } from './export-record.ts';
import type { Asked } from './export-state.ts';
import { exportToFile } from './export-to-file.ts';

interface Stored {
  readonly name: string;
  readonly ms: number;
  /** Microseconds in addition to the milliseconds. */
  readonly microseconds?: number;
  readonly payload: JsonObject;
}

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let file: string;
beforeEach(async () => {
  directory = await temporaryDirectory('export-');
  file = join(directory.path, 'rows');
});
afterEach(() => directory[Symbol.asyncDispose]());

/** A cloud that fails once, after this many rows. */
function cloudWith(stored: readonly Stored[], breaksAfter = Number.POSITIVE_INFINITY) {
  const asked: (number | undefined)[] = [];
  let left = breaksAfter;
  const data = {
    async *exportTabularData({ resourceName, interval }: Parameters<Cloud['data']['exportTabularData']>[0]) {
      const fromMs = interval?.start === undefined ? undefined : timestampMs(interval.start as never);
      asked.push(fromMs);
      for (const { name, ms, microseconds = 0, payload } of stored) {
        if (name !== resourceName || ms < (fromMs ?? 0)) continue;
        const time = timestampFromDate(new Date(ms));
        if (left-- === 0) throw new PlatformError('unavailable', 'the cloud stops');
        yield {
          timeCaptured: { ...time, nanos: time.nanos + microseconds * 1_000 },
          ...{ organizationId: 'o', locationId: 'l', robotId: 'r', robotName: 'vm', partId: 'p', partName: 'vm' },
          resourceName,
          resourceSubtype: 'core:component:sensor',
          methodName: 'Readings',
          methodParameters: {},
          tags: [],
          payload,
        };
      }
    },
  } as unknown as Cloud['data'];
  return { data, asked };
}

function run(
  cloud: { readonly data: Cloud['data'] },
  stored: readonly Stored[],
  options: Partial<{ format: ExportFormat; resume: boolean; asked: Partial<Asked>; agrees: boolean }> = {},
) {
  const out = createOutput(
    { json: false, quiet: true, colours: false },
    new PassThrough(),
    new PassThrough(),
    () => {},
  );
  const context = {
    out,
    invocation: process,
    signal: new AbortController().signal,
    progress: { pause() {}, resume() {} },
    async confirm(question: string) {
      if (options.agrees !== true) throw new PlatformError('canceled', question);
    },
  } as unknown as Context;
  const asked = { url: 'http://x', partId: 'p', resource: null, method: null, from: null, to: null, ...options.asked };
  const names = [...new Set(stored.map(({ name }) => name))];
  const series = names.map((name) => ({ api: 'core:component:sensor', name, method: 'Readings', rows: 1 }));
  const { format = 'ndjson', resume = false } = options;
  return exportToFile(context, cloud.data, { file, format, resume, asked, plan: async () => ({ asked, series }) });
}

const rowsIn = (path: string): [string, number, JsonObject][] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ resource_name, time_captured, payload }) => [resource_name, Date.parse(time_captured), payload]);

test('an export that is truncated at any byte, or interrupted after any row, continues without gaps or duplicates', async () => {
  const reading = fc.record({
    name: fc.constantFrom('a', 'b'),
    // Several rows with the same time, and equal rows.
    ms: fc.integer({ min: 0, max: 4 }),
    payload: fc.record({ n: fc.integer({ min: 0, max: 2 }), t: fc.constantFrom('x', 'line\u2028end\n', 'ü') }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(reading, { maxLength: 20 }), fc.nat(20), fc.nat(), async (rows, after, cut) => {
      const stored = rows.toSorted((a, b) => (a.name === b.name ? a.ms - b.ms : a.name < b.name ? -1 : 1));
      await Promise.all(['', '.partial', '.partial.json'].map((end) => rm(file + end, { force: true })));
      const broken = run(cloudWith(stored, after), stored);
      if (after < stored.length) {
        await expect(broken).rejects.toThrow(/the cloud stops\nWhat was exported is kept in .*--resume/);
        const partial = `${file}.partial`;
        truncateSync(partial, cut % (readFileSync(partial).length + 1));
        expect(existsSync(file)).toBe(false);
        // Rows with the same time may come in another order.
        await run(cloudWith(stored), stored, { resume: true });
      } else await broken;
      expect(rowsIn(file)).toEqual(stored.map(({ name, ms, payload }) => [name, ms, payload]));
      expect(existsSync(`${file}.partial`) || existsSync(`${file}.partial.json`)).toBe(false);
    }),
    { numRuns: 60 },
  );
});

test('received rows are not requested again', async () => {
  const stored = Array.from({ length: 10 }, (_, ms) => ({ name: 'a', ms, payload: { ms } }));
  await expect(run(cloudWith(stored, 7), stored)).rejects.toThrow('the cloud stops');
  const again = cloudWith(stored);
  await run(again, stored, { resume: true });
  expect(again.asked).toEqual([6]);
});

test('a damaged end of the file is removed before the export continues', async () => {
  const stored = Array.from({ length: 4 }, (_, ms) => ({ name: 'a', ms, payload: { ms } }));
  await expect(run(cloudWith(stored, 3), stored)).rejects.toThrow('the cloud stops');
  const partial = `${file}.partial`;
  writeFileSync(partial, `${readFileSync(partial, 'utf8')}\0\0\0\0\n{"time_captured":"2026`);
  await run(cloudWith(stored), stored, { resume: true });
  expect(rowsIn(file)).toHaveLength(4);
});

test('a different request does not continue the file, and nothing is discarded without asking', async () => {
  const stored = [0, 1].map((ms) => ({ name: 'a', ms, payload: { ms } }));
  await expect(run(cloudWith(stored, 1), stored)).rejects.toThrow('the cloud stops');
  await expect(run(cloudWith(stored), stored, { resume: true, asked: { from: '2h' } })).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('a different export (from none, now 2h)'),
  });
  await expect(run(cloudWith(stored), stored)).rejects.toThrow(
    / contains an interrupted export, which --resume continues\. Start over\?$/,
  );
  await run(cloudWith(stored), stored, { agrees: true });
  await expect(run(cloudWith(stored), stored)).rejects.toThrow(`Replace ${file}?`);
  expect(rowsIn(file)).toHaveLength(2);
});

const four = Array.from({ length: 4 }, (_, ms) => ({ name: 'a', ms, payload: { ms } }));

test('--resume reports a file as complete only if it is exactly what an export has completed', async () => {
  for (const format of ['ndjson', 'csv', 'parquet'] as const) {
    await run(cloudWith(four), four, { format, agrees: true });
    const resumed = (asked: Partial<Asked> = {}, as: ExportFormat = format) =>
      run(cloudWith(four), four, { format: as, resume: true, asked });
    expect(await resumed()).toEqual({ rows: 4, already: true });
    await expect(resumed({ from: '2h' })).rejects.toThrow(`${file} belongs to a different export (from none, now 2h)`);
    const other = format === 'csv' ? 'ndjson' : 'csv';
    await expect(resumed({}, other)).rejects.toThrow(`(format ${format}, now ${other})`);

    const whole = readFileSync(file);
    const refused = async (found: Buffer, why: RegExp): Promise<void> => {
      writeFileSync(file, found);
      await expect(resumed()).rejects.toMatchObject({
        code: 'failed_precondition',
        message: expect.stringMatching(why),
      });
      await expect(resumed()).rejects.toThrow(/start over without --resume, which asks before it replaces it$/);
      expect(readFileSync(file)).toEqual(found);
    };
    await refused(whole.subarray(0, -1), /found neither: it has \d+ bytes, but the 4 rows that were exported had \d+;/);
    await refused(Buffer.concat([whole.subarray(0, -1), Buffer.from('x')]), /it has changed/);
    writeFileSync(file, whole);
    expect(await resumed()).toEqual({ rows: 4, already: true });
    rmSync(`${file}.export.json`);
    await refused(whole, /there is no .*rows\.export\.json .* so it may be incomplete;/);
  }
});

test('a crash right after the file is created leaves a complete file, whatever other files exist', async () => {
  await expect(run(cloudWith(four, 3), four, { format: 'csv' })).rejects.toThrow('the cloud stops');
  const beside = ['.partial', '.partial.json'].map((end) => file + end);
  for (const path of beside) copyFileSync(path, `${path}.kept`);
  await run(cloudWith(four), four, { format: 'csv', resume: true });
  for (const left of [beside, beside.slice(1)]) {
    for (const path of left) copyFileSync(`${path}.kept`, path);
    const again = cloudWith(four);
    expect(await run(again, four, { format: 'csv', resume: true })).toEqual({ rows: 4, already: true });
    expect(again.asked).toEqual([]);
    expect(beside.some(existsSync)).toBe(false);
  }
});

test('an export over a complete file continues with its own rows, and the old file stays until it is complete', async () => {
  await run(cloudWith(four.slice(0, 2)), four.slice(0, 2));
  await expect(run(cloudWith(four, 3), four, { agrees: true })).rejects.toThrow('the cloud stops');
  expect(rowsIn(file)).toHaveLength(2);
  expect(await run(cloudWith(four), four, { resume: true })).toEqual({ rows: 4, already: false });
  expect(rowsIn(file)).toHaveLength(4);
});

test('partial rows without a description of their export are neither continued nor discarded', async () => {
  await expect(run(cloudWith(four, 3), four)).rejects.toThrow('the cloud stops');
  rmSync(`${file}.partial.json`);
  const refused = run(cloudWith(four), four, { resume: true });
  await expect(refused).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringMatching(
      /expected .*\.partial\.json, which describes the export in .*, found none; put it back/,
    ),
  });
  expect(rowsIn(`${file}.partial`)).toHaveLength(3);
});

test('an export that has received nothing does not replace a file without asking', async () => {
  await run(cloudWith(four), four);
  appendFileSync(file, 'a note\n');
  await expect(run(cloudWith(four, 0), four, { agrees: true })).rejects.toThrow('the cloud stops');
  rmSync(`${file}.partial`);
  await expect(run(cloudWith(four), four, { resume: true })).rejects.toThrow(`Replace ${file}?`);
  expect(readFileSync(file, 'utf8')).toContain('a note');
});

const mixed: readonly JsonObject[] = [
  { temp: 21.5, on: true, name: 'a', list: [1], either: 1, 'a.b': 1, deep: { 'c d': null } },
  { temp: Number.NaN, name: '=1', either: 'x', a: { b: 2 }, none: null },
  { temp: -3, on: false },
];

test('Parquet has typed columns, the time as an instant, and nulls for missing values', async () => {
  const stored = mixed.map((payload, ms) => ({ name: 'a', ms, payload }));
  await run(cloudWith(stored), stored, { format: 'parquet' });
  const bytes = readFileSync(file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  // DuckDB: TIMESTAMP WITH TIME ZONE.
  expect(parquetMetadata(buffer).schema.find(({ name }) => name === 'time_captured')).toMatchObject({
    type: 'INT64',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  });
  const rows = await parquetReadObjects({ file: buffer });
  const nothing = Object.fromEntries(
    ['temp', 'on', 'name', 'either', 'a.b', 'none'].map((name) => [`payload.${name}`, null]),
  );
  const common = { resource_name: 'a', method_name: 'Readings', tags: [] };
  expect(rows).toMatchObject([
    {
      ...common,
      time_captured: new Date(0),
      'payload.temp': 21.5,
      'payload.on': true,
      'payload.name': 'a',
      'payload.list': [1n],
      'payload.either': '1',
      'payload["a.b"]': 1n,
      'payload.deep.c d': null,
    },
    {
      ...common,
      'payload.temp': Number.NaN,
      'payload.on': null,
      'payload.name': '=1',
      'payload.either': 'x',
      'payload.a.b': 2n,
    },
    { ...common, ...nothing, 'payload.temp': -3, 'payload.on': false },
  ]);
});

test('Parquet keeps integers and lists as such, as far as all values of a column allow it', async () => {
  const payloads: readonly JsonObject[] = [
    {
      count: 3,
      big: 2 ** 53 - 1,
      zero: 0,
      axes: [1, -2],
      names: ['a', null],
      flags: [true],
      any: [1, 'x'],
      nested: [[1]],
      some: [],
    },
    { count: -4, big: 2 ** 53, zero: -0, axes: [0.5, Number.NaN], names: [], some: [], maybe: 1 },
    { count: 5, big: 1, zero: 1, axes: null, any: 1, maybe: [1] },
  ];
  const stored = payloads.map((payload, ms) => ({ name: 'a', ms, payload }));
  await run(cloudWith(stored), stored, { format: 'parquet' });
  const bytes = readFileSync(file);
  const rows = await parquetReadObjects({
    file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  });
  const column = (name: string): unknown[] =>
    // hyparquet reads an absent list as undefined.
    rows.map((row) => row[`payload.${name}`] ?? null);
  expect(column('count')).toEqual([3n, -4n, 5n]);
  // One value is not a safe integer, or is -0: DOUBLE.
  expect(column('big')).toEqual([2 ** 53 - 1, 2 ** 53, 1]);
  expect(column('zero')).toEqual([0, -0, 1]);
  expect(column('axes')).toEqual([[1, -2], [0.5, Number.NaN], null]);
  expect(column('names')).toEqual([['a', null], [], null]);
  expect(column('flags')).toEqual([[true], null, null]);
  expect(column('some')).toEqual([[], [], null]);
  // Mixed values are text: JSON, except for strings.
  expect(column('any')).toEqual(['[1,"x"]', null, '1']);
  expect(column('nested')).toEqual(['[[1]]', null, null]);
  expect(column('maybe')).toEqual([null, '1', '[1]']);
});

test('CSV has the columns of all rows, and no formulas', async () => {
  const stored = mixed.map((payload, ms) => ({ name: 'a', ms, payload }));
  await run(cloudWith(stored), stored, { format: 'csv' });
  const [head = '', ...lines] = readFileSync(file, 'utf8').split('\r\n');
  expect(head).toMatch(
    /^time_captured,time_requested,time_synced,.*,tags,payload\.temp,payload\.on,payload\.name,payload\.list,payload\.either,"payload\[""a\.b""\]"/,
  );
  expect(lines[0]).toContain(',21.5,true,a,[1],1,1,');
  expect(lines[1]).toContain(",NaN,,'=1,,x,,");
  expect(lines).toHaveLength(4);
});

test('an export without rows is a file with columns only', async () => {
  for (const format of ['ndjson', 'csv', 'parquet'] as const) {
    await rm(file, { force: true });
    expect(await run(cloudWith([]), [], { format })).toEqual({ rows: 0, already: false });
  }
  const bytes = readFileSync(file);
  expect(
    await parquetReadObjects({ file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) }),
  ).toEqual([]);
});

test('D35 an export has the microseconds of a time, even after an interruption', async () => {
  const stored = [3, 501, 999].map((microseconds, i) => ({ name: 'a', ms: 1_000, microseconds, payload: { i } }));
  await expect(run(cloudWith(stored, 2), stored, { format: 'ndjson' })).rejects.toThrow('the cloud stops');
  await run(cloudWith(stored), stored, { format: 'ndjson', resume: true });
  const times = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).time_captured);
  expect(times).toEqual(['003', '501', '999'].map((digits) => `1970-01-01T00:00:01.000${digits}Z`));
  rmSync(file);
  await run(cloudWith(stored), stored, { format: 'parquet' });
  const bytes = readFileSync(file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const parsers = { timestampFromMicroseconds: (value: bigint) => value };
  const rows = await parquetReadObjects({ file: buffer, columns: ['time_captured'], parsers } as never);
  expect(rows.map((row) => row['time_captured'])).toEqual([1_000_003n, 1_000_501n, 1_000_999n]);
});
