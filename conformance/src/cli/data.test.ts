/**
 * `platform data` against a real cloud: exports, killed and resumed; deletion after a preview; retention as a version of the configuration.
 */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { chunks } from '@platform/base';
import type { ViamClient } from '@viamrobotics/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signInPublicClient } from '../clients/public-client.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine, type Ran } from './command-line.ts';

let cloud: CloudProcess;
let cli: CommandLine;
beforeAll(async () => {
  cloud = await startCloud();
  cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

/** Signs in again: a connection that was idle for seconds may be closed while a request is in flight. */
function signIn(): Promise<ViamClient> {
  return signInPublicClient(cloud);
}

const start = Date.UTC(2026, 0, 2);

/** Three readings of each time, 10 ms apart. */
async function upload(component: string, count: number, noteBytes = 100): Promise<void> {
  const { dataClient } = await signIn();
  const numbers = Array.from({ length: count }, (_, n) => n);
  for (const some of chunks(numbers, 2_000)) {
    await dataClient.tabularDataCaptureUpload(
      some.map((n) => ({ readings: { n, note: `=${'x'.repeat(noteBytes)}` } })),
      cloud.partId,
      'rdk:component:sensor',
      component,
      'Readings',
      some.map((n): [Date, Date] => {
        const at = new Date(start + Math.floor(n / 3) * 10);
        return [at, at];
      }),
    );
  }
}

interface Way extends AsyncDisposable {
  readonly url: string;
  /** Lets this many more bytes through; further ones wait forever. */
  give(bytes: number): void;
}

async function openWay(): Promise<Way> {
  let left = 0;
  const server = createServer((near) => {
    const far = connect(Number(new URL(cloud.url).port), '127.0.0.1');
    for (const socket of [near, far])
      socket.on('error', () => {}).on('close', () => [near, far].map((one) => one.destroy()));
    near.pipe(far);
    far.on('data', (chunk) => {
      near.write(chunk);
      left -= chunk.length;
      if (left <= 0) far.pause();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    give(bytes) {
      left = bytes;
    },
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

const numbersIn = (text: string): number[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).payload.readings.n);
const inDirectory = (name: string): string => join(cli.directory, name);

test('a killed export continues where it ended: every reading once, in order', async () => {
  await upload('oven', 4_000, 500);
  const args = ['data', 'export', '--part', cloud.partId, '--resource', 'oven', '--output', 'oven.ndjson'];
  const partial = inDirectory('oven.ndjson.partial');
  await using way = await openWay();
  const env = { PLATFORM_URL: way.url };
  const size = (): number => (existsSync(partial) ? statSync(partial).size : 0);
  /** Ends a run once the file has grown by this many bytes. The two runs together do not receive all of the 3.1 MB. */
  const ended = async (more: readonly string[], bytes: number, by: 'SIGINT' | 'SIGKILL'): Promise<Ran> => {
    way.give(1_200_000);
    const enough = size() + bytes;
    const run = cli.startProcess([...args, ...more], { env });
    while (size() < enough) {
      expect(run.child.exitCode).toBeNull();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    run.child.kill(by);
    return run.ended;
  };
  const interrupted = await ended([], 500_000, 'SIGINT');
  expect(interrupted).toMatchObject({ code: 130, stdout: '' });
  expect(interrupted.stderr).toContain(
    `What was exported is kept in ${partial}; run the same command with --resume to continue`,
  );
  await ended(['--resume'], 800_000, 'SIGKILL');
  expect(existsSync(inDirectory('oven.ndjson'))).toBe(false);
  const before = size();
  way.give(Number.POSITIVE_INFINITY);

  const other = await cli.run([...args.slice(0, 4), '--output', 'oven.ndjson', '--resume'], { env });
  expect(other).toMatchObject({ code: 5, stdout: '' });
  const refused = await cli.run(args, { env });
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('--resume continues');
  expect(size()).toBe(before);

  const resumed = await cli.ok([...args, '--resume', '--json'], { env });
  expect(resumed.json()).toEqual({ file: inDirectory('oven.ndjson'), format: 'ndjson', rows: 4_000 });
  expect(numbersIn(readFileSync(inDirectory('oven.ndjson'), 'utf8'))).toEqual(
    Array.from({ length: 4_000 }, (_, n) => n),
  );
  expect(existsSync(partial)).toBe(false);
  const [again, told] = [
    await cli.ok([...args, '--resume'], { env }),
    await cli.ok([...args, '--resume', '--json'], { env }),
  ];
  expect(again.stderr).toContain('is already complete: 4,000 rows');
  expect(told.json()).toEqual(resumed.json());
  truncateSync(inDirectory('oven.ndjson'), 1_000_000);
  const cut = await cli.run([...args, '--resume'], { env });
  expect(cut).toMatchObject({ code: 5, stdout: '' });
  expect(cut.stderr).toMatch(
    /it has 1000000 bytes, but the 4,000 rows that were exported had \d+; move the file away, or/,
  );
  expect(statSync(inDirectory('oven.ndjson')).size).toBe(1_000_000);
});

test('an export accepts names, time ranges and formats; an unknown name is not found', async () => {
  await upload('hall', 30);
  const hall = ['data', 'export', '--part', 'vm', '--resource', 'hall'];
  const bounds = ['--since', new Date(start + 10).toISOString(), '--until', new Date(start + 30).toISOString()];
  const [all, some, csv, typed, parquet, none, wrong, noFile, times] = await Promise.all([
    cli.ok(hall),
    cli.ok([...hall, ...bounds, '--json=payload,resource_name']),
    cli.ok([...hall, ...bounds, '--format', 'csv']),
    cli.ok([...hall.slice(0, 4), '--resource', 'rdk:component:sensor/hall', '--method', 'Readings']),
    cli.ok([...hall, '--output', 'hall.parquet', '--quiet']),
    cli.ok([...hall, '--until', '2020-01-01']),
    cli.run(['data', 'export', '--part', 'vm', '--resource', 'hal']),
    cli.run([...hall, '--format', 'parquet']),
    cli.run([...hall, '--since', '2026-01-02', '--until', '2026-01-01']),
  ]);
  expect(numbersIn(all.stdout)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  expect(JSON.parse(all.stdout.split('\n')[0] ?? '')).toMatchObject({
    time_captured: new Date(start).toISOString(),
    part_id: cloud.partId,
    resource_name: 'hall',
    method_name: 'Readings',
    tags: [],
  });
  expect(numbersIn(some.stdout)).toEqual([3, 4, 5, 6, 7, 8]);
  expect(Object.keys(JSON.parse(some.stdout.split('\n')[0] ?? ''))).toEqual(['payload', 'resource_name']);
  expect(csv.stdout.split('\r\n')).toHaveLength(8);
  expect(csv.stdout).toContain(",'=xxx");
  expect(typed.stdout).toBe(all.stdout);
  expect(parquet).toMatchObject({ stdout: '', stderr: '' });
  expect(readFileSync(inDirectory('hall.parquet')).subarray(0, 4).toString()).toBe('PAR1');
  expect(none.stdout).toBe('');
  expect(wrong).toMatchObject({ code: 3, stdout: '' });
  expect(wrong.stderr).toContain('hall Readings');
  for (const ran of [noFile, times]) expect(ran).toMatchObject({ code: 2, stdout: '' });
});

test('a deletion first shows the number of readings, asks, and reports how many it deleted', async () => {
  await upload('old', 9);
  await upload('kept', 6);
  const old = ['data', 'delete', '--part', 'vm', '--resource', 'old'];
  const [dry, unasked, nothing, wrong] = await Promise.all([
    cli.ok([...old, '--older-than-days', '30', '--dry-run']),
    cli.run(old),
    cli.run(['data', 'delete']),
    cli.run(['data', 'delete', '--older-than-days', 'soon']),
  ]);
  expect(dry.stderr).toMatch(
    /^9 readings of the organization .*part "vm", resource "old", captured before .*nothing was deleted/,
  );
  expect(unasked).toMatchObject({ code: 2, stdout: '' });
  expect(unasked.stderr).toContain('Delete 9 readings');
  for (const ran of [nothing, wrong]) expect(ran).toMatchObject({ code: 2, stdout: '' });

  const gone = await cli.ok([...old, '--yes', '--json']);
  expect(gone.json()).toEqual({ readings: 9, deleted: 9, captured_before: null });
  const left = await cli.ok([
    'query',
    'sql',
    "SELECT COUNT(*) AS n FROM readings WHERE component_name IN ('old', 'kept')",
    '--csv',
  ]);
  expect(left.stdout).toBe('n\r\n6\r\n');
  const again = await cli.ok([...old, '--yes']);
  expect(again.stderr).toContain('there is nothing to delete');
});

test('retention is a version of the configuration; a fragment’s days show as such', async () => {
  const set = await cli.ok(['data', 'retention', 'set', 'vm', '400', '--yes']);
  expect(set.stderr).toMatch(/captured before \d{4}-\d\d-\d\d \(UTC\) will be deleted.*saved as version/s);
  const shown = await cli.ok(['data', 'retention', 'get', 'vm', '--json=resource,effective_days,part_days']);
  expect(shown.json()).toContainEqual({ resource: 'host', effective_days: 400, part_days: 400 });
  const [zero, half, unasked] = await Promise.all([
    cli.run(['data', 'retention', 'set', 'vm', '0', '--yes']),
    cli.run(['data', 'retention', 'set', 'vm', '1.5', '--yes']),
    cli.run(['data', 'retention', 'set', 'vm', '7']),
  ]);
  for (const ran of [zero, half, unasked]) expect(ran).toMatchObject({ code: 2, stdout: '' });
  await cli.ok(['data', 'retention', 'set', 'vm', 'none', '--yes']);
  const after = await cli.ok(['data', 'retention', 'get', 'vm', '--json=effective_days']);
  for (const row of after.json<{ effective_days: number | null }[]>()) expect(row.effective_days).toBeNull();
  await cli.ok(['fragments', 'create', 'kept-90', '-'], { input: '{"data_retention_policy":{"days":90}}' });
  const { fragments: _none, ...current } = (await cli.ok(['config', 'get', 'vm'])).json();
  const { id } = (await cli.ok(['fragments', 'get', 'kept-90', '--json=id'])).json<{ id: string }>();
  await cli.ok(['config', 'set', 'vm', '-', '--yes'], { input: JSON.stringify({ ...current, fragments: [id] }) });
  const merged = await cli.ok(['data', 'retention', 'get', 'vm']);
  expect(merged.stderr).toContain('the part keeps data for 90 days (from a fragment)');
});

test('files are listed by filter and downloaded completely, once; partial files are resumed, unknown ones are not found', async () => {
  const at = new Date();
  const camera = ['rdk:component:camera', 'eye', 'GetImages'] as const;
  const { dataClient } = await signIn();
  const contents = [Buffer.alloc(3_000_000, 'a'), Buffer.from('b')];
  for (const bytes of contents)
    await dataClient.binaryDataCaptureUpload(bytes, cloud.partId, ...camera, '.jpg', [at, at], ['seen']);
  const listed = await cli.ok(['data', 'binary', 'list', '--part', 'vm', '--tags', 'seen', '--oldest-first', '--json']);
  const files = listed.json<{ id: string; bytes: number; resource: string; tags: string[] }[]>();
  expect(files.map(({ bytes }) => bytes).toSorted((a, b) => a - b)).toEqual([1, 3_000_000]);
  expect(files[0]).toMatchObject({ resource: 'eye', method: 'GetImages', tags: ['seen'], part_id: cloud.partId });

  const download = ['data', 'binary', 'download', '--resource', 'eye', '--output-dir', 'files', '--json'];
  const first = await cli.ok(download);
  expect(first.json()).toMatchObject({ files: 2, downloaded: 2, bytes: 3_000_001 });
  const names = readdirSync(inDirectory('files'));
  const sizes = names.map((name) => readFileSync(join(inDirectory('files'), name)));
  expect(sizes.toSorted((a, b) => b.length - a.length)).toEqual(contents);

  const large = names.find((name) => statSync(join(inDirectory('files'), name)).size > 1) ?? '';
  rmSync(join(inDirectory('files'), large));
  writeFileSync(join(inDirectory('files'), `${large}.partial`), contents[0]?.subarray(0, 1_000_000) ?? '');
  const again = await cli.ok(download);
  expect(again.json()).toMatchObject({ files: 2, downloaded: 1, bytes: 2_000_000 });
  expect(readFileSync(join(inDirectory('files'), large))).toEqual(contents[0]);

  const [byId, unknown, nothing, none] = await Promise.all([
    cli.ok(['data', 'binary', 'download', '--ids', files[0]?.id ?? '', '--output-dir', 'one', '--json=files']),
    cli.run(['data', 'binary', 'download', '--ids', 'nosuch', '--output-dir', 'one']),
    cli.run(['data', 'binary', 'download']),
    cli.ok(['data', 'binary', 'list', '--mime', 'video/mp4', '--json']),
  ]);
  expect(byId.json()).toEqual({ files: 1 });
  expect(unknown).toMatchObject({ code: 3, stdout: '' });
  expect(nothing).toMatchObject({ code: 2, stdout: '' });
  expect(none.json()).toEqual([]);
});

test('D33 a download continues after a damaged file, reports it at the end, leaves no part of it, and fails', async () => {
  const camera = ['rdk:component:camera', 'torn', 'GetImages'] as const;
  const { dataClient } = await signIn();
  const marks = ['one of three', 'two of three', 'three of three'];
  for (const text of marks) {
    const at = new Date();
    await dataClient.binaryDataCaptureUpload(Buffer.from(text), cloud.partId, ...camera, '.jpg', [at, at]);
  }
  const listed = await cli.ok(['data', 'binary', 'list', '--resource', 'torn', '--json=id']);
  expect(listed.json()).toHaveLength(3);
  const blobs = join(cloud.dataDir, 'blobs');
  const payload = readdirSync(blobs, { recursive: true, encoding: 'utf8' })
    .map((name) => join(blobs, name))
    .find((path) => statSync(path).isFile() && readFileSync(path, 'utf8') === marks[0]);
  truncateSync(payload ?? '', 3);
  const download = ['data', 'binary', 'download', '--resource', 'torn', '--output-dir', 'torn'];
  const ran = await cli.run([...download, '--json']);
  expect(ran.code).toBe(1);
  const { failed, ...rest } = ran.json<{ failed: { id: string; reason: string }[] }>();
  expect(rest).toMatchObject({ files: 3, downloaded: 2 });
  expect(failed).toEqual([{ id: expect.any(String), reason: expect.stringContaining('damaged') }]);
  const names = readdirSync(inDirectory('torn'));
  expect(names).toHaveLength(2);
  expect(names.map((name) => readFileSync(join(inDirectory('torn'), name), 'utf8')).toSorted()).toEqual(
    marks.slice(1).toSorted(),
  );
  const forPeople = await cli.run(download);
  expect(forPeople.code).toBe(1);
  expect(forPeople.stderr).toMatch(new RegExp(`2 existed already\nNot downloaded: ${failed[0]?.id}: .*damaged`));
  expect(forPeople.stderr).toContain('1 of 3 files could not be downloaded; all others are complete');
});

test('a part of another organization is answered exactly as one that does not exist', async () => {
  const own = ['--organization', cloud.organizationId];
  const key = (await cli.ok(['api-keys', 'create', 'only here', '--role', 'owner', '--json'], { reveals: true })).json<{
    id: string;
    key: string;
  }>();
  await cli.ok(['organizations', 'create', 'Elsewhere']);
  const there = ['--organization', 'Elsewhere', '--json'];
  await cli.ok(['locations', 'create', 'Hall', ...there]);
  await cli.ok(['machines', 'create', 'lathe', '--location', 'Hall', ...there]);
  const [part] = (await cli.ok(['machines', 'part', 'list', 'lathe', ...there])).json<{ id: string }[]>();
  const foreign = part?.id ?? '';
  const nobodys = '0b1e6f0a-0000-4000-8000-000000000001';
  const stranger = { PLATFORM_API_KEY_ID: key.id, PLATFORM_API_KEY: key.key };
  const exported = (id: string, more: readonly string[], env = {}): Promise<Ran> =>
    cli.run(['data', 'export', '--part', id, ...own, ...more], { env });
  for (const more of [[], ['--resource', 'oven', '--method', 'Readings']]) {
    const answers = await Promise.all([
      exported(nobodys, more),
      exported(foreign, more),
      exported(nobodys, more, stranger),
      exported(foreign, more, stranger),
    ]);
    for (const { code, stdout, stderr } of answers) {
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr.replace(foreign, nobodys)).toBe(
        `platform data export: part: expected the id of a part or machine that you may see, found "${nobodys}"\n`,
      );
    }
  }
  expect(await exported(cloud.partId, [], stranger)).toMatchObject({ code: 0 });
});
