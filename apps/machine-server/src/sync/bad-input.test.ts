import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { type CodeName, concatBytes, PlatformError, silentLog, systemClock } from '@platform/base';
import { captureFileBytes } from '@platform/capture-file';
import { DataCaptureMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { ReadingEncoder } from '../capture/encode.ts';
import { Directories } from '../directories/directories.ts';
import { lockDirectory } from '../directories/lock/lock-directory.ts';
import { SeqLedger } from '../directories/seq-ledger.ts';
import { createSync, createSyncWith, quietly } from '../testing/create-sync.ts';
import { until } from '../testing/start-test-server.ts';

const encoder = new ReadingEncoder();
const readingOf = (n: number): Uint8Array =>
  encoder.encode({ requestedMicros: n + 1, receivedMicros: n + 1, document: { readings: { n } } });
const metadataOf = (name: string) =>
  ({ componentType: 'core:component:sensor', componentName: name, methodName: 'Readings' }) as const;

function ours(name: string, { stream = 1, seq = 1, part = 'part', readings = 3 } = {}): Uint8Array {
  const header = create(CaptureFileHeaderSchema, {
    ...{ stream: new Uint8Array(16).fill(stream), seq: BigInt(seq), partId: part, metadata: metadataOf(name) },
  });
  return captureFileBytes(
    header,
    Array.from({ length: readings }, (_, n) => readingOf(n)),
  );
}

function ofPublicServer(name: string, readings = 3): Uint8Array {
  const about = create(DataCaptureMetadataSchema, { ...metadataOf(name), componentType: 'rdk:component:sensor' });
  const messages = [
    toBinary(DataCaptureMetadataSchema, about),
    ...Array.from({ length: readings }, (_, n) => readingOf(n)),
  ];
  return concatBytes(messages.flatMap((message) => [Uint8Array.of(message.length), message]));
}

async function put(path: string, content: Uint8Array | string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

const names = ({ stored }: ReturnType<typeof createSync>['link']): string[] =>
  stored.map(({ metadata }) => metadata.componentName).toSorted();

test('C12 links, folders, pipes, sockets and other files delay nothing; files that are not capture files are set aside', async () => {
  await using directory = await temporaryDirectory();
  await using elsewhere = await temporaryDirectory();
  const at = (name: string): string => join(directory.path, name);
  await put(at('a_1_3.capture'), ours('good'));
  await put(at('2027-01-15T08_00_00.000000Z.capture'), ofPublicServer('public'));
  const foreign = await put(join(elsewhere.path, 'x.capture'), ours('elsewhere'));
  await symlink(foreign, at('link.capture'));
  await symlink(at('nowhere'), at('broken.capture'));
  await symlink(elsewhere.path, at('linked-folder'));
  await mkdir(at('folder.capture'));
  execFileSync('mkfifo', [at('pipe.capture')]);
  const socket = createServer().listen(at('socket.capture'));
  await put(at('empty.capture'), '');
  await put(at('text.capture'), 'These are notes.\n'.repeat(100));
  await put(at('zeros.capture'), new Uint8Array(5_000));
  await put(at('other.txt'), 'text');
  const { sync, link } = createSync(directory.path);
  await using _sync = sync;
  await sync.flush();
  socket.close();
  expect(names(link)).toEqual(['good', 'public']);
  const [found] = link.stored.filter(({ metadata }) => metadata.componentName === 'public');
  expect(found?.metadata).toMatchObject({ partId: 'part', componentType: 'core:component:sensor' });
  expect(found?.metadata.identity).toBeUndefined();
  expect(found?.readings.map((each) => Buffer.from(each).toString('hex'))).toEqual(
    [0, 1, 2].map((n) => Buffer.from(readingOf(n)).toString('hex')),
  );
  expect((await readdir(at('failed'))).toSorted()).toEqual(
    ['empty.capture', 'text.capture', 'zeros.capture'].flatMap((name) => [name, `${name}.reason`]).toSorted(),
  );
  expect(await readFile(at('failed/text.capture.reason'), 'utf8')).toMatch(/data_loss: not a capture file/);
  expect((await readdir(directory.path)).filter((name) => /capture$|txt$/.test(name)).toSorted()).toEqual(
    ['broken.capture', 'folder.capture', 'link.capture', 'other.txt', 'pipe.capture', 'socket.capture'].filter(
      (name) => name !== 'socket.capture' || existsSync(at(name)),
    ),
  );
  expect(existsSync(foreign)).toBe(true);
});

test('D15 whatever error the cloud returns for one file, the others are sent; it waits or is set aside, and is stored once later', async () => {
  const final = new Set<CodeName>(['invalid_argument', 'already_exists', 'data_loss']);
  const codes: CodeName[] = [
    ...(['canceled', 'unknown', 'invalid_argument', 'deadline_exceeded', 'not_found', 'already_exists'] as const),
    ...(['permission_denied', 'resource_exhausted', 'failed_precondition', 'aborted', 'out_of_range'] as const),
    ...(['unimplemented', 'internal', 'unavailable', 'data_loss', 'unauthenticated'] as const),
  ];
  for (const code of codes) {
    await using directory = await temporaryDirectory();
    const bad = await put(join(directory.path, '0_1_3.capture'), ours('bad', { seq: 1 }));
    for (let seq = 2; seq < 6; seq++)
      await put(join(directory.path, `1_${seq}_3.capture`), ours(`good${seq}`, { seq }));
    const { sync, link, time } = createSync(directory.path);
    await using _sync = sync;
    link.before = ({ metadata }) => {
      if (metadata.componentName === 'bad') throw new PlatformError(code, 'not this one');
    };
    for (let pass = 0; pass < 4; pass++, time.ms += 100) await sync.flush();
    expect(names(link), code).toEqual(['good2', 'good3', 'good4', 'good5']);
    const aside = join(directory.path, 'failed', '0_1_3.capture');
    expect([existsSync(bad), existsSync(aside)], code).toEqual(final.has(code) ? [false, true] : [true, false]);
    if (final.has(code)) {
      expect(await readFile(`${aside}.reason`, 'utf8')).toContain(`${code}: not this one`);
      continue;
    }
    // The acknowledgement is also lost once.
    link.before = () => {};
    let lost = 0;
    link.after = () => {
      if (lost++ === 0) throw new PlatformError('unavailable', 'the answer is lost');
    };
    for (let pass = 0; pass < 3; pass++) {
      time.ms += 4_000_000;
      await sync.flush();
    }
    expect(names(link).filter((name) => name === 'bad')).toEqual(['bad']);
    expect(existsSync(bad), code).toBe(false);
  }
});

test('D15 a file for which the cloud is never available delays no other: after a pause, another one is tried next', async () => {
  await using directory = await temporaryDirectory();
  const bad = await put(join(directory.path, '0_1_3.capture'), ours('bad', { seq: 1 }));
  for (let seq = 2; seq < 9; seq++) await put(join(directory.path, `1_${seq}_3.capture`), ours(`good${seq}`, { seq }));
  const clock = new FakeClock();
  const { sync, link } = createSyncWith(clock, [directory.path]);
  await using _sync = sync;
  let isAway = true;
  link.before = ({ metadata }) => {
    if (isAway || metadata.componentName === 'bad') throw new PlatformError('unavailable', 'no answer');
  };
  sync.configure({ ...quietly, disabled: false, intervalMs: 1_000 }, async () => undefined);
  await until('failures', async () => {
    await clock.advance(5_000);
    return link.attempts >= 12;
  });
  expect(link.stored).toEqual([]);
  isAway = false;
  await until('the others', async () => {
    await clock.advance(5_000);
    return link.stored.length === 7;
  });
  expect(existsSync(bad)).toBe(true);
});

test('I5 a cloned capture directory: common readings are stored once despite lost acknowledgements; different ones are kept', async () => {
  await using one = await temporaryDirectory();
  await using two = await temporaryDirectory();
  // Sealed before the clone; open at the clone, so that one machine continued and the other recovered; captured after it.
  for (const { path } of [one, two])
    for (let seq = 1; seq <= 3; seq++) await put(join(path, `${seq}_${seq}_3.capture`), ours(`same${seq}`, { seq }));
  await put(join(one.path, '4_4_9.capture'), ours('open', { seq: 4, readings: 9 }));
  await put(join(two.path, '4_4_3.capture'), ours('open', { seq: 4, readings: 3 }));
  await put(join(one.path, '5_5_3.capture'), ours('one', { stream: 1, seq: 5 }));
  await put(join(two.path, '1_1_3.capture'), ours('same1', { seq: 1 }));
  await put(join(two.path, '5_1_3.capture'), ours('two', { stream: 2, seq: 1 }));
  const first = createSync(one.path);
  const second = createSync(two.path);
  // Both send to the same cloud as the same part.
  Object.assign(second.link, { client: first.link.client });
  await using _first = first.sync;
  await using _second = second.sync;
  const both = async (): Promise<void> => {
    await Promise.all([first.sync.flush(), second.sync.flush()]);
    for (const { time } of [first, second]) time.ms += 4_000_000;
  };
  let answers = 0;
  first.link.after = () => {
    if (answers++ % 2 === 0) throw new PlatformError('unavailable', 'the answer is lost');
  };
  for (let pass = 0; pass < 12; pass++) await both();
  expect(names(first.link)).toEqual(['one', 'open', 'same1', 'same2', 'same3', 'two']);
  const left = [one, two].map(({ path }) => existsSync(join(path, 'failed')));
  expect(left.filter(Boolean)).toHaveLength(1);
  const aside =
    left[0] === true ? join(one.path, 'failed', '4_4_9.capture') : join(two.path, 'failed', '4_4_3.capture');
  expect(await readFile(`${aside}.reason`, 'utf8')).toMatch(/already_exists/);
  expect(existsSync(aside)).toBe(true);
});

test('files of a renamed component are sent under the old name; files of a deleted part wait and delay nothing', async () => {
  await using directory = await temporaryDirectory();
  const gone = await put(join(directory.path, '0_1_3.capture'), ours('of-another', { part: 'deleted', seq: 1 }));
  await put(join(directory.path, '1_2_3.capture'), ours('old-name', { seq: 2 }));
  await put(join(directory.path, '2_3_3.capture'), ours('new-name', { seq: 3 }));
  const { sync, link, time } = createSync(directory.path);
  await using _sync = sync;
  link.before = ({ metadata }) => {
    if (metadata.partId === 'deleted') throw new PlatformError('permission_denied', 'no such part for this key');
  };
  for (let pass = 0; pass < 5; pass++, time.ms += 4_000_000) await sync.flush();
  expect(names(link)).toEqual(['new-name', 'old-name']);
  expect(existsSync(gone)).toBe(true);
  expect(sync.tally.lastError).toBe('permission_denied: no such part for this key');
});

test('C10 while a folder of a capture directory cannot be read, the low-water mark does not pass its files', async () => {
  await using directory = await temporaryDirectory();
  await using home = await temporaryDirectory();
  await put(join(directory.path, 'a_7_3.capture'), ours('seen', { seq: 7 }));
  // Root can read every folder, whatever its mode, but no user can open a path that is too long.
  const deep = join(directory.path, 'deep');
  await mkdir(deep);
  const script = `for (let i = 0; i < 20; i++) { fs.mkdirSync('x'.repeat(250)); process.chdir('x'.repeat(250)); }`;
  execFileSync(process.execPath, ['--eval', script], { cwd: deep });
  const marks = async (): Promise<number> => {
    const ledger = new SeqLedger();
    await using directories = new Directories({ home: home.path, ledger, clock: systemClock, log: silentLog });
    await directories.own(directory.path);
    await directories.survey(new AbortController().signal);
    return ledger.lowWaterMark(new Uint8Array(16).fill(1), 9);
  };
  expect(await marks()).toBe(0);
  execFileSync('rm', ['-rf', deep]);
  expect(await marks()).toBe(7);
});

test('I5 C9 nested capture directories: the open files of another process are not touched, ours are sent once', async () => {
  await using outer = await temporaryDirectory();
  await using home = await temporaryDirectory();
  const inner = join(outer.path, 'inner');
  await put(join(outer.path, 'a_1_3.capture'), ours('outer', { seq: 1 }));
  const open = await put(join(inner, 'b_2.prog'), ours('open', { seq: 2 }));
  const sealed = await put(join(inner, 'c_3_3.capture'), ours('inner', { seq: 3 }));
  const other = await lockDirectory(inner);
  const deps = { home: home.path, ledger: new SeqLedger(), clock: systemClock, log: silentLog };
  await using directories = new Directories(deps);
  expect(await directories.own(outer.path)).toBe(true);
  expect(await directories.own(inner)).toBe(false);
  const { sync, link } = createSync(outer.path);
  await using _sync = sync;
  await sync.flush();
  expect(names(link)).toEqual(['outer']);
  expect([existsSync(open), existsSync(sealed)]).toEqual([true, true]);
  // Once it is ours, both are recovered and sent once each, although both directories contain them.
  await other[Symbol.asyncDispose]();
  expect(await directories.own(inner)).toBe(true);
  const twice = createSync(outer.path, inner);
  await using _twice = twice.sync;
  await twice.sync.flush();
  expect(names(twice.link)).toEqual(['inner', 'open']);
});

test('C12 an open file of a public machine-server is sealed once it has not changed for a minute', async () => {
  await using directory = await temporaryDirectory();
  await using home = await temporaryDirectory();
  const quiet = await put(join(directory.path, 'quiet.prog'), ofPublicServer('quiet').subarray(0, -4));
  const busy = await put(join(directory.path, 'busy.prog'), ofPublicServer('busy'));
  const hourAgo = new Date(Date.now() - 3_600_000);
  await utimes(quiet, hourAgo, hourAgo);
  await using directories = new Directories({
    ...{ home: home.path, ledger: new SeqLedger(), clock: systemClock, log: silentLog },
  });
  await directories.own(directory.path);
  expect([existsSync(quiet), existsSync(busy)]).toEqual([false, true]);
  const { sync, link } = createSync(directory.path);
  await using _sync = sync;
  await sync.flush();
  expect(link.stored.map(({ metadata, readings }) => [metadata.componentName, readings.length])).toEqual([
    ['quiet', 2],
  ]);
});
