import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@platform/base';
import { FtdcEncoder, readFtdc, type Sample } from '@platform/ftdc';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { RequestCounts } from '../serve/request-counts.ts';
import { FtdcFiles, maxFileBytes, maxFiles } from './ftdc-files.ts';
import { measureProcess } from './measure-process.ts';
import { measureServer } from './measure-server.ts';
import { Recorder } from './recorder.ts';

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'ftdc-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

async function samplesIn(path: string): Promise<readonly Sample[]> {
  const names = (await readdir(path)).toSorted();
  const files = await Promise.all(names.map((name) => readFile(join(path, name))));
  return files.flatMap((file) => readFtdc(file).samples);
}

test('a sample is taken each second, written after ten, and the rest at the stop', async () => {
  const [path, clock] = [await directory(), new FakeClock(Date.UTC(2026, 0, 2, 3, 4, 5))];
  let count = 0;
  const sample = () => ({ labels: { revision: 'r1' }, values: new Map([['count', ++count]]) });
  const recorder = new Recorder({ directory: join(path, 'ftdc'), sample, clock, log: createLog(() => {}) });
  recorder.start();
  await clock.advance(12_000);
  await expect.poll(async () => (await samplesIn(join(path, 'ftdc')).catch(() => [])).length).toBe(10);
  await recorder[Symbol.asyncDispose]();
  const samples = await samplesIn(join(path, 'ftdc'));
  expect(samples.map(({ values }) => values.get('count'))).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
  expect(samples[0]).toMatchObject({ timeMs: Date.UTC(2026, 0, 2, 3, 4, 6), labels: { revision: 'r1' } });
  const [name = ''] = await readdir(join(path, 'ftdc'));
  expect(name).toBe('2026-01-02T03-04-15-000Z.ftdc');
  expect((await stat(join(path, 'ftdc', name))).mode & 0o777).toBe(0o600);
});

test('a sample that cannot be taken is left out, which the log reports once; the following ones are recorded', async () => {
  const [path, clock] = [await directory(), new FakeClock()];
  const lines: string[] = [];
  let taken = 0;
  const sample = () => {
    taken++;
    if (taken > 2 && taken < 6) throw new Error('EMFILE: too many open files');
    return { labels: {}, values: new Map([['count', taken]]) };
  };
  const log = createLog((level, _logger, message) => lines.push(`${level} ${message}`));
  const recorder = new Recorder({ directory: join(path, 'ftdc'), sample, clock, log });
  recorder.start();
  await clock.advance(8_000);
  await recorder[Symbol.asyncDispose]();
  expect((await samplesIn(join(path, 'ftdc'))).map(({ values }) => values.get('count'))).toEqual([1, 2, 6, 7, 8]);
  expect(lines).toEqual(['warn full-time diagnostics lack samples']);
});

test('if the disk refuses the files, their samples are lost; the log reports this once, and when it works again', async () => {
  const [path, clock] = [await directory(), new FakeClock()];
  const lines: string[] = [];
  await writeFile(join(path, 'ftdc'), 'a file in the way');
  const log = createLog((level, _logger, message) => lines.push(`${level} ${message}`));
  const sample = () => ({ labels: {}, values: new Map([['count', 1]]) });
  const recorder = new Recorder({ directory: join(path, 'ftdc'), sample, clock, log });
  recorder.start();
  await clock.advance(20_000);
  await expect.poll(() => lines).toEqual(['warn full-time diagnostics cannot be written']);
  await rm(join(path, 'ftdc'));
  await clock.advance(10_000);
  await expect.poll(() => lines).toHaveLength(2);
  await recorder[Symbol.asyncDispose]();
  expect(lines[1]).toBe('info full-time diagnostics are recorded again');
  expect(await samplesIn(join(path, 'ftdc'))).toHaveLength(10);
});

test('files are bounded in size and number: the oldest are deleted, other files stay', async () => {
  const path = await directory();
  await writeFile(join(path, 'notes.txt'), 'mine');
  const [files, encoder] = [new FtdcFiles(path), new FtdcEncoder()];
  expect(files.isFull).toBe(true);
  for (let i = 0; i < maxFiles + 3; i++) {
    await files.begin(Date.UTC(2026, 0, 1) + i * 1_000, encoder.header());
    expect(files.isFull).toBe(false);
  }
  const names = (await readdir(path)).toSorted();
  expect(names).toHaveLength(maxFiles + 1);
  expect([names[0], names.at(-2), names.at(-1)]).toEqual([
    '2026-01-01T00-00-03-000Z.ftdc',
    '2026-01-01T00-00-34-000Z.ftdc',
    'notes.txt',
  ]);
  await files.append(new Uint8Array(maxFileBytes));
  expect(files.isFull).toBe(true);
});

test('each metric of the process and of the server exists once', () => {
  using own = measureProcess();
  const [values, requests] = [new Map<string, number>(), new RequestCounts()];
  own.measure(values);
  for (let i = 0; i < 202; i++) requests.add(`core:component:sensor/s${i}`);
  requests.add('core:component:sensor/s1');
  const capture = { key: '', taken: 3, late: 1, held: 0, failed: 2, dropped: 0, queued: 0, diskFailures: 4 };
  const sync = { uploadedFiles: 5, uploadedReadings: 50, setAsideFiles: 1, failedAttempts: 7 };
  measureServer(
    {
      graph: { status: () => [] },
      capture: { counts: () => [capture, capture] },
      sync: { tally: sync },
      requests,
    },
    values,
  );
  expect(Object.fromEntries(values)).toMatchObject({
    ...{ 'capture.taken': 6, 'capture.late': 2, 'capture.failed': 4, 'capture.disk_failures': 8 },
    ...{ 'sync.uploaded_readings': 50, 'sync.failed_attempts': 7, 'resources.all': 0 },
    ...{ 'requests.core:component:sensor/s1': 2, 'requests.others': 2 },
  });
  expect(values.get('process.rss_bytes')).toBeGreaterThan(10_000_000);
  expect(values.get('process.open_files')).toBeGreaterThan(2);
  expect(values.get('process.cpu_user_us')).toBeGreaterThan(0);
  for (const [name, value] of values) expect([name, Number.isFinite(value)]).toEqual([name, true]);
});
