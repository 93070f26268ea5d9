import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLog, systemClock } from '@platform/base';
import { memoryDirectory, type TemporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { dataVersion } from '../data-directory.ts';
import { createFirstAccount } from '../identity/create-first-account.ts';
import { openIngestLog } from '../ingest/log/open-ingest-log.ts';
import { createDeletionPause } from '../instance/deletion-pause.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { openStores, type StoreSettings } from '../open-stores.ts';
import { type RestoreOptions, restoreBackup } from './restore-backup.ts';
import { type BackupOptions, writeBackup } from './write-backup.ts';

const { signal } = new AbortController();
const backedUpMs = 1_700_000_000_000;

const settingsOf = (dataDirectory: string): StoreSettings => ({
  dataDirectory,
  instanceKey: undefined,
  nextInstanceKey: undefined,
  keepBeforeUpgrade: true,
});
const fatal = (caught: unknown): never => {
  throw caught;
};

/** A data directory with an account, one listed file, one payload, and readings 1 to 3 in the log; closed. */
async function dataDirectory(directory: TemporaryDirectory): Promise<string> {
  const path = directory.file('data');
  await using stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
  await createFirstAccount(stores.db, stores.instanceKey, 1);
  await using log = await openIngestLog({
    onFatal: throwUncaught,
    file: stores.data.at('ingest.sqlite'),
    log: silentLog,
    clock: systemClock,
  });
  for (let seq = 1; seq <= 3; seq++) {
    await log.append({
      partId: 'p',
      stream: new Uint8Array(16),
      seq,
      lowWaterMark: 0,
      sha256: new Uint8Array(32).fill(seq),
      batch: Uint8Array.of(seq),
      fileId: `f${seq}`,
      ...(seq === 3 && { blobPath: 'o/l/picture.jpg' }),
    });
  }
  mkdirSync(join(path, 'blobs', 'o', 'l'), { recursive: true });
  writeFileSync(join(path, 'blobs', 'o', 'l', 'picture.jpg'), 'a picture');
  writeFileSync(join(path, 'blobs', 'o', 'l', 'orphan.jpg'), 'no row names it');
  mkdirSync(join(path, 'parquet'));
  writeFileSync(join(path, 'parquet', 'listed.parquet'), 'rows');
  writeFileSync(join(path, 'parquet', 'unlisted.parquet'), 'rows of a seal that was cut short');
  await stores.db
    .insertInto('tabular_files')
    .values({
      ...{ file: 'listed.parquet', organization_id: 'o', capture_day: '2026-01-01', format: 2, rows: 1 },
      ...{ logical_bytes: 4, file_bytes: 4, min_position: 1, max_position: 1, path_sets: '{}', created_ms: 1 },
      ...{ min_time_received: null, max_time_received: null, min_time_requested: null, max_time_requested: null },
      ...{ sha256: createHash('sha256').update('rows').digest('hex'), block_crcs: '', row_check: '', proof_day: '' },
    })
    .execute();
  await stores.db.updateTable('tabular_state').set({ sealed_position: 1 }).execute();
  stores.data.complete();
  return path;
}

const backUp = (from: string, to: string, options: Partial<BackupOptions> = {}) =>
  writeBackup({
    dataDirectory: from,
    destination: to,
    hold: async () => ({ stands: async () => {}, [Symbol.asyncDispose]: async () => {} }),
    key: { kind: 'left-out' },
    keyInEnvironment: false,
    program: 'test',
    now: () => backedUpMs,
    monotonic: () => 0,
    progress: () => {},
    signal,
    ...options,
  });

const restore = (from: string, to: string, options: Partial<RestoreOptions> = {}) =>
  restoreBackup({
    source: from,
    target: to,
    newestDataVersion: dataVersion,
    now: () => backedUpMs + 1,
    progress: () => {},
    signal,
    ...options,
  });

function filesOf(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(path, name)).isFile())
    .toSorted();
}

test('I15 a backup contains exactly both databases, the listed files and the named payloads', async () => {
  await using directory = await memoryDirectory();
  const data = await dataDirectory(directory);
  const report = await backUp(data, directory.file('backup'));
  expect(report).toMatchObject({
    createdMs: backedUpMs,
    files: 5,
    sealedPosition: 1,
    lastPosition: 3,
    instanceKey: 'left-out',
  });
  expect(filesOf(directory.file('backup'))).toEqual([
    'backup.json',
    'blobs/o/l/picture.jpg',
    'ingest.sqlite',
    'meta.sqlite',
    'parquet/listed.parquet',
    'platform.json',
  ]);
  expect(statSync(directory.file('backup')).mode & 0o077).toBe(0);
  expect(statSync(join(directory.file('backup'), 'parquet/listed.parquet')).ino).toBe(
    statSync(join(data, 'parquet/listed.parquet')).ino,
  );
});

test('I15 a restored directory opens with its key and continues far after its positions, and the restore is audited', async () => {
  await using directory = await memoryDirectory();
  const data = await dataDirectory(directory);
  await backUp(data, directory.file('backup'), { key: { kind: 'included' } });
  const target = directory.file('restored');
  const report = await restore(directory.file('backup'), target);
  expect(report.warnings[0]).toContain(
    'readings that were uploaded after 2023-11-14T22:13:20.000Z are not in the backup',
  );
  expect(report.warnings.join()).not.toContain('instance key');

  await using stores = await openStores(settingsOf(target), { clock: systemClock, log: silentLog, onFatal: fatal });
  const { webhook_secret: secret } = await stores.db
    .selectFrom('organizations')
    .select('webhook_secret')
    .executeTakeFirstOrThrow();
  expect(stores.instanceKey.decrypt(secret)).toMatch(/^whsec_/);
  const entry = await stores.db.selectFrom('audit_entries').selectAll().executeTakeFirstOrThrow();
  expect(entry).toMatchObject({ actor_kind: 'admin', action: 'admin.restore' });

  await using log = await openIngestLog({
    onFatal: throwUncaught,
    file: stores.data.at('ingest.sqlite'),
    log: silentLog,
    clock: systemClock,
  });
  const rows = await log.read(0, { rows: 10, bytes: 1_000 });
  expect(rows.slice(0, 3).map(({ position, batch }) => [position, batch[0]])).toEqual([
    ...[[1, 1]],
    ...[[2, 2]],
    ...[[3, 3]],
  ]);
  expect(log.lastPosition()).toBeGreaterThan(2 ** 40);
  const again = {
    partId: 'p',
    stream: new Uint8Array(16),
    seq: 2,
    lowWaterMark: 0,
    sha256: new Uint8Array(32).fill(2),
  };
  expect(await log.append({ ...again, batch: Uint8Array.of(2), fileId: 'x' })).toMatchObject({
    outcome: 'repeated',
    position: 2,
  });
});

test('I15 a restored cloud does not start without its key, and the restore warns about that', async () => {
  await using directory = await memoryDirectory();
  await backUp(await dataDirectory(directory), directory.file('backup'));
  const { warnings } = await restore(directory.file('backup'), directory.file('restored'));
  expect(warnings.join()).toContain('The backup does not contain the instance key');
  await expect(
    openStores(settingsOf(directory.file('restored')), { clock: systemClock, log: silentLog, onFatal: fatal }),
  ).rejects.toThrow(/expected instance.key of earlier starts/);
});

test('I15 a key under a passphrase is read only with that passphrase', async () => {
  await using directory = await memoryDirectory();
  const data = await dataDirectory(directory);
  const backup = directory.file('backup');
  await backUp(data, backup, { key: { kind: 'passphrase', passphrase: 'correct horse' } });
  const key = readFileSync(join(data, 'instance.key'), 'utf8');
  for (const name of filesOf(backup)) expect(readFileSync(join(backup, name), 'latin1')).not.toContain(key.trim());
  const target = directory.file('restored');
  await expect(restore(backup, target)).rejects.toThrow(/encrypted with a passphrase.*--passphrase-file/);
  await expect(restore(backup, target, { passphrase: 'battery staple' })).rejects.toMatchObject({
    code: 'permission_denied',
  });
  expect(existsSync(target)).toBe(false);
  await restore(backup, target, { passphrase: 'correct horse' });
  expect(readFileSync(join(target, 'instance.key'), 'utf8')).toBe(key);
});

test.each([
  ['changed', (file: string) => appendFileSync(file, 'x')],
  ['missing', (file: string) => rmSync(file)],
])('I15 a backup with a %s file is refused by its name, and nothing stays of the restore', async (_what, damage) => {
  await using directory = await memoryDirectory();
  const backup = directory.file('backup');
  await backUp(await dataDirectory(directory), backup);
  damage(join(backup, 'blobs/o/l/picture.jpg'));
  await expect(restore(backup, directory.file('restored'))).rejects.toMatchObject({
    code: 'data_loss',
    message: expect.stringContaining('blobs/o/l/picture.jpg'),
  });
  expect(readdirSync(directory.file('restored'))).toEqual([]);
});

test('I15 nothing is overwritten, neither by a backup nor by a restore into a non-empty directory', async () => {
  await using directory = await memoryDirectory();
  const data = await dataDirectory(directory);
  mkdirSync(directory.file('full'));
  writeFileSync(directory.file('full/thesis.txt'), 'mine');
  await expect(backUp(data, directory.file('full'))).rejects.toThrow(/expected an empty or new directory.*thesis.txt/);
  await backUp(data, directory.file('backup'));
  await expect(restore(directory.file('backup'), directory.file('full'))).rejects.toThrow(
    /found thesis.txt.*never overwrites/,
  );
  expect(readdirSync(directory.file('full'))).toEqual(['thesis.txt']);
  await expect(backUp(data, join(data, 'backup'))).rejects.toThrow(/outside the data directory/);
});

const missing = 'it is missing';
const changed = 'its bytes differ from those that were written';
const listed = 'parquet/listed.parquet';
const picture = 'blobs/o/l/picture.jpg';

test.each([
  ['a missing file', listed, (file: string) => rmSync(file), missing],
  ['a changed file', listed, (file: string) => writeFileSync(file, 'Rows'), changed],
  ['a cut file', listed, (file: string) => writeFileSync(file, 'r'), 'it has 1 bytes instead of 4'],
  [
    'a link',
    listed,
    (file: string) => [rmSync(file), symlinkSync('/etc/passwd', file)],
    'a symbolic link is in its place',
  ],
  ['a missing payload', picture, (file: string) => rmSync(file), missing],
  ['a changed payload', picture, (file: string) => writeFileSync(file, 'A picture'), changed],
])(
  'D33 a backup reports %s, omits it and contains everything else; a restore reports it again',
  async (_what, path, damage, reason) => {
    await using directory = await memoryDirectory();
    const data = await dataDirectory(directory);
    const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
    {
      using db = new DatabaseSync(join(data, 'meta.sqlite'));
      db.prepare('update tabular_files set sha256 = ?').run(hashOf('rows'));
      const stored: Record<string, string | number> = {
        id: 'p',
        blob_path: 'o/l/picture.jpg',
        size_bytes: 9,
        sha256: hashOf('a picture'),
      };
      const columns = db.prepare('select name, type from pragma_table_info(?)').all('binary_data');
      const values = columns.map(({ name, type }) => stored[String(name)] ?? (String(type) === 'text' ? '' : 0));
      db.prepare(`insert into binary_data values (${columns.map(() => '?').join(', ')})`).run(...values);
    }
    const whole = await backUp(data, directory.file('whole'));
    expect(whole.damaged).toEqual([]);
    damage(join(data, path));
    const said: string[] = [];
    const report = await backUp(data, directory.file('backup'), { progress: (text) => void said.push(text) });
    expect(report).toMatchObject({ damaged: [{ path, reason }], files: whole.files - 1 });
    expect(said).toContain(`damaged and not in the backup: ${path}: ${reason}`);
    expect(filesOf(directory.file('backup'))).toEqual(filesOf(directory.file('whole')).filter((name) => name !== path));
    const { warnings } = await restore(directory.file('backup'), directory.file('restored'));
    expect(warnings[0]).toContain(`lacks 1 files that were damaged when it was taken (${path}: ${reason})`);
  },
);

test('a backup reports how many files and bytes it has read, at the start, every 2 s and at the end', async () => {
  await using directory = await memoryDirectory();
  const data = await dataDirectory(directory);
  const said: string[] = [];
  let ms = 0;
  await backUp(data, directory.file('backup'), {
    progress: (text) => void said.push(text),
    monotonic: () => (ms += 2_000),
  });
  expect(said.filter((text) => text.startsWith('copying files'))).toEqual(
    [0, 1, 2].map((done) => `copying files: ${done} of 2, 0 MiB read`),
  );
});

test('I15 a backup that fails releases its hold and leaves nothing behind', async () => {
  await using directory = await memoryDirectory();
  const data = await dataDirectory(directory);
  rmSync(join(data, 'platform.json'));
  let released = 0;
  const hold = async () => ({ stands: async () => {}, [Symbol.asyncDispose]: async () => void released++ });
  await expect(backUp(data, directory.file('backup'), { hold })).rejects.toMatchObject({ code: 'data_loss' });
  expect(readdirSync(directory.file('backup'))).toEqual([]);
  expect(released).toBe(1);
});

test('I15 a directory without backup.json is not a backup, and one of a newer layout is refused', async () => {
  await using directory = await memoryDirectory();
  const backup = directory.file('backup');
  await backUp(await dataDirectory(directory), backup);
  await expect(restore(backup, directory.file('r1'), { newestDataVersion: dataVersion - 1 })).rejects.toThrow(
    `has version ${dataVersion}, but this version supports only versions up to ${dataVersion - 1}`,
  );
  rmSync(join(backup, 'backup.json'));
  await expect(restore(backup, directory.file('r2'))).rejects.toThrow(/not a backup, or an incomplete one/);
});

test('I15 deletions wait while they are held, and a hold waits for running deletions', async () => {
  const pause = createDeletionPause();
  const events: string[] = [];
  const first = Promise.withResolvers<void>();
  const running = pause.run(() => first.promise.then(() => void events.push('deleted')));
  const holding = pause.hold().then((hold) => {
    events.push('held');
    return hold;
  });
  expect(pause.held).toBe(true);
  first.resolve();
  const hold = await holding;
  await running;
  const second = pause.run(async () => void events.push('deleted again'));
  await new Promise(setImmediate);
  expect(events).toEqual(['deleted', 'held']);
  hold[Symbol.dispose]();
  await second;
  expect(events).toEqual(['deleted', 'held', 'deleted again']);
  expect(pause.held).toBe(false);
});

test('I15 a backup is invalid if the hold ended during it, for example because the cloud restarted', async () => {
  await using directory = await memoryDirectory();
  const data = await dataDirectory(directory);
  const stands = async (): Promise<void> => {
    throw new Error('the cloud ended');
  };
  const hold = async () => ({ stands, [Symbol.asyncDispose]: async () => {} });
  await expect(backUp(data, directory.file('backup'), { hold })).rejects.toThrow('the cloud ended');
  expect(readdirSync(directory.file('backup'))).toEqual([]);
});
