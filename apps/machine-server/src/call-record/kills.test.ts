/** A kill at any moment: every call that was allowed to run is in the trail once, with or without an answer of the cloud. */
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { FakeCallCloud, type Recorder, startRecorder } from './testing/call-record-rig.ts';

/** The files at one moment, and what must come of them. */
interface Moment {
  readonly path: string;
  readonly stored: FakeCallCloud['stored'];
  /** Calls that ran, and calls that had begun. */
  readonly ran: number;
  readonly begun: number;
}

/** Copies the files at each step of the disk. */
function watch({ disk }: Recorder, root: string, path: string, cloud: FakeCallCloud) {
  const moments: Moment[] = [];
  const counts = { ran: 0, begun: 0 };
  const keep = (): void => {
    const to = join(root, `${moments.length}`);
    mkdirSync(to);
    if (existsSync(path)) cpSync(path, to, { recursive: true });
    moments.push({ path: to, stored: new Map(cloud.stored), ...counts });
  };
  disk.before = keep;
  disk.half = keep;
  disk.after = keep;
  return { moments, counts, keep };
}

async function replayed({ path, stored }: Moment): Promise<FakeCallCloud> {
  const cloud = new FakeCallCloud();
  for (const [id, record] of stored) cloud.stored.set(id, record);
  const recorder = await startRecorder(path, cloud);
  await recorder.clock.advance(1_000);
  await recorder[Symbol.asyncDispose]();
  expect(await readdir(path)).toEqual([]);
  return cloud;
}

test('at every step of the disk, a kill loses and doubles no call', async () => {
  await using directory = await temporaryDirectory();
  const [path, cloud] = [directory.file('live'), new FakeCallCloud()];
  await using recorder = await startRecorder(path, cloud, { limits: { segmentBytes: 2_000 } });
  const { moments, counts } = watch(recorder, directory.path, path, cloud);
  let lost = 0;
  cloud.after = () => {
    if (lost++ % 2 === 0) throw new PlatformError('unavailable', 'the answer is lost');
  };
  for (let n = 0; n < 24; n++) {
    const resources = n % 3 === 0 ? ['a', 'b', 'c'] : ['a'];
    counts.begun += resources.length;
    await Promise.all(
      resources.map(async (resource) => {
        await recorder.call({ resource, arguments: `{"n":${n}}` });
        counts.ran++;
      }),
    );
    await recorder.clock.advance(1_500);
  }
  await recorder.clock.advance(15_000);
  expect(moments.length).toBeGreaterThan(48);
  for (const moment of moments) {
    const { count, dropped } = await replayed(moment);
    expect(count).toBeGreaterThanOrEqual(moment.ran);
    expect(count).toBeLessThanOrEqual(moment.begun);
    expect(dropped).toBe(0);
  }
  expect(cloud.count).toBe(counts.begun);
});

test('a kill while records are dropped neither sends them nor counts them twice', async () => {
  await using directory = await temporaryDirectory();
  const [path, cloud] = [directory.file('live'), new FakeCallCloud()];
  cloud.refuse('unavailable');
  await using recorder = await startRecorder(path, cloud, { limits: { maxBytes: 6_000, segmentBytes: 1_500 } });
  const { moments, counts } = watch(recorder, directory.path, path, cloud);
  for (let n = 0; n < 40; n++) {
    counts.begun++;
    await recorder.call({ resource: `motor ${n}` });
    counts.ran++;
  }
  for (const moment of moments) {
    const { stored, dropped } = await replayed(moment);
    expect(stored.size + dropped).toBeGreaterThanOrEqual(moment.ran);
    expect(stored.size + dropped).toBeLessThanOrEqual(moment.begun);
  }
  cloud.refuse(undefined);
});

test('a kill while a broken segment is replaced loses and doubles nothing', async () => {
  await using directory = await temporaryDirectory();
  const [path, cloud] = [directory.file('live'), new FakeCallCloud()];
  cloud.refuse('unavailable');
  await using recorder = await startRecorder(path, cloud);
  const { moments, counts, keep } = watch(recorder, directory.path, path, cloud);
  for (let n = 0; n < 5; n++) {
    counts.begun++;
    await recorder.call({ resource: `motor ${n % 3}` });
    counts.ran++;
  }
  let faults = 1;
  recorder.disk.before = (operation) => {
    keep();
    if (operation === 'sync' && faults-- > 0) throw Object.assign(new Error('EIO: sync'), { code: 'EIO' });
  };
  const again = 'info direct calls are recorded on the disk again';
  while (recorder.lines.at(-1) !== again) await recorder.clock.advance(500);
  for (const moment of moments) {
    const { count } = await replayed(moment);
    expect(count).toBeGreaterThanOrEqual(moment.ran);
    expect(count).toBeLessThanOrEqual(moment.begun);
  }
});

test('torn and damaged lines, foreign files and links are skipped; the other records are sent', async () => {
  await using directory = await temporaryDirectory();
  const [path, cloud] = [directory.file('live'), new FakeCallCloud()];
  cloud.refuse('unavailable');
  const recorder = await startRecorder(path, cloud);
  for (const resource of ['a', 'b', 'c']) await recorder.call({ resource });
  await recorder[Symbol.asyncDispose]();
  const [segment = ''] = await readdir(path);
  const text = await readFile(join(path, segment), 'utf8');
  writeFileSync(join(path, segment), text.replace('"resource":"b"', '"resource":"x"'));
  appendFileSync(join(path, segment), 'o          1   1764582000000 0badc0de {"id":"torn');
  await writeFile(join(path, 'note.txt'), 'not of this server');
  await writeFile(directory.file('elsewhere'), text);
  await symlink(directory.file('elsewhere'), join(path, '0000000000000002.calls'));
  await mkdir(join(path, '0000000000000003.calls'));
  cloud.refuse(undefined);
  await using back = await startRecorder(path, cloud);
  while (cloud.stored.size < 2) await back.clock.advance(1_000);
  expect(cloud.records.map(({ resource }) => resource)).toEqual(['a', 'c']);
  expect(back.lines).toEqual(Array(2).fill('error calls recorded earlier cannot be read'));
  expect(await readFile(directory.file('elsewhere'), 'utf8')).toBe(text);
  await back.call({ resource: 'd' });
  await back.clock.advance(11_000);
  expect(cloud.records.map(({ resource }) => resource)).toEqual(['a', 'c', 'd']);
});

test('a link in place of the folder is not followed: the records are sent without the disk', async () => {
  await using directory = await temporaryDirectory();
  await mkdir(directory.file('elsewhere'));
  await symlink(directory.file('elsewhere'), directory.file('live'));
  const cloud = new FakeCallCloud();
  await using recorder = await startRecorder(directory.file('live'), cloud);
  await recorder.call();
  await recorder.clock.advance(11_000);
  expect(cloud.count).toBe(1);
  expect(readdirSync(directory.file('elsewhere'))).toEqual([]);
  expect(recorder.lines).toEqual([expect.stringContaining('expected a folder of this server')]);
});
