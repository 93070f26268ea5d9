/** `platform capture` on a folder with a thousand capture files, without a machine-server or a cloud. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { captureFileBytes } from '@platform/capture-file';
import { DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandLine, openCommandLine } from './command-line.ts';

const files = 1_001;
const each = 2;
let cli: CommandLine;
beforeAll(async () => {
  cli = await openCommandLine();
  for (let seq = 1; seq <= files; seq++)
    put(`ok/load/${String(seq).padStart(5, '0')}_aaaaaaaa_${seq}_${each}.capture`, fileOf(seq));
  const damaged = fileOf(files + 1);
  damaged[damaged.length - 20] = (damaged.at(-20) ?? 0) ^ 1;
  put(`bad/load/x_aaaaaaaa_9_${each}.capture`, damaged);
  put('bad/load/y.capture', 'no capture file');
});
afterAll(() => cli[Symbol.asyncDispose]());

function put(path: string, content: string | Uint8Array): void {
  const full = join(cli.directory, path);
  mkdirSync(join(full, '..'), { recursive: true });
  writeFileSync(full, content);
}

function fileOf(seq: number): Uint8Array {
  const header = create(CaptureFileHeaderSchema, {
    ...{ stream: new Uint8Array(16).fill(0xaa), seq: BigInt(seq), partId: 'part' },
    metadata: {
      ...{ componentType: 'core:component:sensor', componentName: 'load', methodName: 'Readings', tags: ['a'] },
      type: DataType.TABULAR_SENSOR,
    },
  });
  const readings = Array.from({ length: each }, (_, index) => {
    const at = timestampFromMs(1_767_323_045_000 + seq * 10 + index);
    const n = (seq - 1) * each + index;
    const data = { case: 'struct' as const, value: { readings: { n } } };
    return toBinary(
      SensorDataSchema,
      create(SensorDataSchema, { metadata: { timeRequested: at, timeReceived: at }, data }),
    );
  });
  return captureFileBytes(header, readings);
}

const numbers = Array.from({ length: files * each }, (_, n) => n);

test('platform capture ls and cat list files and readings in order, with progress every 1,000 files', async () => {
  const [listed, printed] = await Promise.all([
    cli.ok(['capture', 'ls', 'ok', '--json']),
    cli.ok(['capture', 'cat', 'ok', '--json'], { asProcess: true }),
  ]);
  const rows = listed.json<Record<string, unknown>[]>();
  expect(rows).toHaveLength(files);
  expect(rows[0]).toEqual({
    ...{ path: expect.stringContaining('00001_aaaaaaaa_1_2.capture'), resource: 'core:component:sensor/load' },
    ...{ method: 'Readings', bytes: expect.any(Number), readings: each, fault: null },
  });
  expect(listed.stderr).toContain('1000 files read');
  const lines = printed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ payload }) => payload.readings.n)).toEqual(numbers);
  expect(lines[0]).toMatchObject({ part_id: 'part', resource_name: 'load', method_name: 'Readings', tags: ['a'] });
  expect(printed.stderr).toContain('1000 files read');
});

test('platform capture verify reports damaged files and fails; repair writes the intact parts, which verify accepts', async () => {
  const [whole, bad] = await Promise.all([
    cli.ok(['capture', 'verify', 'ok']),
    cli.run(['capture', 'verify', 'bad', '--json']),
  ]);
  expect(whole.stderr).toContain(`${files} files with ${files * each} readings, 0 damaged`);
  expect(bad.code).not.toBe(0);
  expect(bad.stdout).toMatch(/x_aaaaaaaa_9_2\.capture/);
  expect(bad.stdout).toMatch(/y\.capture/);
  const repaired = (await cli.ok(['capture', 'repair', 'bad', 'mended', '--json'])).json<Record<string, unknown>[]>();
  expect(new Set(repaired.map(({ readings }) => readings))).toEqual(new Set([0, 1]));
  expect((await cli.ok(['capture', 'verify', 'mended'])).stderr).toContain('1 files with 1 readings, 0 damaged');
});

test('platform capture convert writes every reading once as JSON lines, CSV and Parquet, with progress, and replaces no file', async () => {
  const ran = await Promise.all(
    ['ndjson', 'csv', 'parquet'].map((name) => cli.ok(['capture', 'convert', 'ok', `all.${name}`, '--json'])),
  );
  expect(ran.map((one) => one.json())).toEqual(
    ['ndjson', 'csv', 'parquet'].map((name) => ({ file: `all.${name}`, readings: files * each })),
  );
  expect(ran.every(({ stderr }) => stderr.includes('1000 files read'))).toBe(true);
  const text = (name: string): string => readFileSync(join(cli.directory, name), 'latin1');
  const lines = text('all.ndjson').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).payload.readings.n)).toEqual(numbers);
  const [head = '', ...rows] = text('all.csv').trim().split('\n');
  const at = head
    .trim()
    .split(',')
    .findIndex((name) => /readings\.n$/.test(name));
  expect(rows.map((row) => Number(row.trim().split(',')[at]))).toEqual(numbers);
  expect([text('all.parquet').slice(0, 4), text('all.parquet').slice(-4)]).toEqual(['PAR1', 'PAR1']);
  const refused = await Promise.all([
    cli.run(['capture', 'convert', 'ok', 'all.csv']),
    cli.run(['capture', 'convert', 'ok', 'all.xlsx']),
  ]);
  expect(refused.map(({ code }) => code === 0)).toEqual([false, false]);
  expect(refused[0]?.stderr).toContain('expected no file at all.csv, found one');
  expect(refused[1]?.stderr).toContain('.ndjson, .csv or .parquet');
});
