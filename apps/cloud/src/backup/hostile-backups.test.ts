/** Backups that somebody else, or a damaged disk, has changed. */
import { execFileSync, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type TemporaryDirectory, temporaryDirectory } from '@platform/testkit';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { dataVersion } from '../data-directory.ts';
import { ingestMigrations } from '../ingest/log/log-tables.ts';
import { migrations } from '../metadata/migrations.ts';
import { migrate } from '../metadata/sqlite/migrate.ts';
import { readTables } from './read-tables.ts';
import { type RestoreOptions, restoreBackup } from './restore-backup.ts';
import { sealSecrets } from './seal-secrets.ts';

const { signal } = new AbortController();
const passphrase = 'correct horse';
/** A usual guess takes half a second. */
const guessCost = { N: 2, r: 8, p: 1, maxmem: 2 ** 20 };
let written: TemporaryDirectory;

/** The smallest backup that can be restored. */
beforeAll(async () => {
  written = await temporaryDirectory();
  for (const [name, known] of [
    ['meta.sqlite', migrations],
    ['ingest.sqlite', ingestMigrations],
  ] as const) {
    using db = new DatabaseSync(written.file(name));
    migrate(db, known, name);
  }
  writeFileSync(written.file('platform.json'), JSON.stringify({ version: dataVersion, stage: 'complete' }));
  writeFileSync(written.file('secrets.sealed'), sealSecrets({ 'instance.key': 'the key' }, passphrase, guessCost));
  mkdirSync(written.file('blobs/o'), { recursive: true });
  writeFileSync(written.file('blobs/o/picture.jpg'), 'a picture');
  writeManifest(written.path);
  return () => written[Symbol.asyncDispose]();
});

function writeManifest(backup: string, changes: object = {}): void {
  const files = ['meta.sqlite', 'ingest.sqlite', 'platform.json', 'secrets.sealed', 'blobs/o/picture.jpg'].map(
    (path) => {
      const content = readFileSync(join(backup, path));
      return { path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
    },
  );
  const manifest = {
    ...{ format: 'platform-backup', version: 1, createdMs: 1_700_000_000_000, program: 'test', dataVersion },
    ...{ store: 'sqlite', metaVersion: 1, ingestVersion: 1, sealedPosition: 0, lastPosition: 3 },
    ...{ instanceKey: 'passphrase', files },
  };
  writeFileSync(join(backup, 'backup.json'), JSON.stringify({ ...manifest, ...changes }));
}

async function copyOfBackup() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  cpSync(written.path, directory.file('backup'), { recursive: true });
  return { backup: directory.file('backup'), target: directory.file('restored'), directory };
}

const restore = (source: string, target: string, options: Partial<RestoreOptions> = {}) =>
  restoreBackup({
    ...{
      source,
      target,
      newestDataVersion: dataVersion,
      passphrase,
      guessCost,
      now: () => 1,
      progress: () => {},
      signal,
    },
    ...options,
  });

function contentsOf(path: string): string[] {
  return existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
}

test('I15 what the manifest lists is restored, and nothing else that lies in the backup', async () => {
  const { backup, target } = await copyOfBackup();
  for (const name of ['meta.sqlite-wal', 'instance.key', 'blobs/o/foreign.jpg', 'lock'])
    writeFileSync(join(backup, name), 'nobody wrote this');
  await restore(backup, target);
  expect(contentsOf(target).toSorted()).toEqual([
    ...['blobs', 'blobs/o', 'blobs/o/picture.jpg', 'ingest.sqlite', 'instance.key', 'meta.sqlite', 'platform.json'],
  ]);
  expect(readFileSync(join(target, 'instance.key'), 'utf8')).toBe('the key');
});

test('I15 a restore into a database reads no table that the manifest does not list, and no file that SQLite would find beside its own', async () => {
  const { backup, directory } = await copyOfBackup();
  mkdirSync(join(backup, 'tables'));
  const head = JSON.stringify({ schema: 'meta', table: 'people', columns: ['id'] });
  for (const name of ['meta.people.ndjson', 'meta.roles.ndjson'])
    writeFileSync(join(backup, 'tables', name), `${head}\n["1"]\n`);
  const files = [{ path: 'tables/meta.people.ndjson', bytes: 1, sha256: '' }];
  const tables = await readTables(backup, { store: 'postgres', files } as never);
  expect(tables).toHaveLength(1);

  // Rows that are only in the write-ahead log.
  const live = directory.file('live.sqlite');
  using db = new DatabaseSync(live);
  db.exec('pragma journal_mode = wal; create table log (position); pragma wal_checkpoint(truncate)');
  db.exec('insert into log values (1)');
  cpSync(live, join(backup, 'ingest.sqlite'));
  cpSync(`${live}-wal`, join(backup, 'ingest.sqlite-wal'));
  const [, log] = await readTables(backup, { store: 'sqlite', files: [] } as never);
  const rows: string[] = [];
  for await (const row of log?.rows() ?? []) rows.push(row);
  expect(rows).toEqual([]);
});

const listed = ['blobs/o/picture.jpg', 'meta.sqlite', 'platform.json', 'secrets.sealed'];

describe.each(listed)('I15 instead of %s', (path) => {
  test.each([
    ['a pipe', (file: string) => execFileSync('mkfifo', [file]), 'found a pipe'],
    ['a link', (file: string) => symlinkSync('/etc/hostname', file), 'found a link'],
    ['a folder', (file: string) => mkdirSync(file), 'found a folder'],
    ['a device', (file: string) => symlinkSync('/dev/zero', file), 'found a link'],
    ['nothing', () => {}, 'found no such file'],
  ])('%s is refused at once, by its name, and nothing stays', async (_what, replace, found) => {
    const { backup, target } = await copyOfBackup();
    rmSync(join(backup, path));
    replace(join(backup, path));
    const refused = restore(backup, target);
    await expect(refused).rejects.toThrow(join(backup, path));
    await expect(refused).rejects.toThrow(found);
    expect(contentsOf(target)).toEqual([]);
  });

  test('other bytes are refused with what was expected and what was found, whichever bit is wrong, and nothing stays', async () => {
    const { backup, target } = await copyOfBackup();
    const file = join(backup, path);
    const content = readFileSync(file);
    for (const at of [0, content.length - 1, Math.floor(content.length / 2)]) {
      const wrong = Buffer.from(content);
      wrong[at] = (wrong[at] ?? 0) ^ 1;
      writeFileSync(file, wrong);
      await expect(restore(backup, target)).rejects.toMatchObject({
        code: 'data_loss',
        message: expect.stringMatching(
          `${path}: expected ${content.length} bytes with SHA-256 [0-9a-f]{64}, found ${content.length} bytes with [^:]*: the backup is damaged, nothing was restored$`,
        ),
      });
    }
    writeFileSync(file, Buffer.concat([content, Buffer.alloc(9 << 20)]));
    await expect(restore(backup, target)).rejects.toThrow('found more bytes');
    expect(contentsOf(target)).toEqual([]);
  });
});

test('I15 a link in the path of a file is refused, wherever it leads', async () => {
  const { backup, target, directory } = await copyOfBackup();
  renameSync(join(backup, 'blobs'), directory.file('elsewhere'));
  symlinkSync(directory.file('elsewhere'), join(backup, 'blobs'));
  await expect(restore(backup, target)).rejects.toThrow(
    /picture\.jpg: expected a regular file, found a link in its path/,
  );
  expect(contentsOf(target)).toEqual([]);
});

test.each<[what: string, changes: object | string, says: RegExp]>([
  ['no JSON', '{"format"', /backup\.json: expected JSON, found/],
  ['a list', '[]', /expected a JSON object, found \[\]/],
  ['null', 'null', /expected a JSON object, found null/],
  ['another format', { format: 'tar' }, /expected "format":"platform-backup", found "tar"/],
  ['a newer version', { version: 9 }, /has version 9, but this version reads only up to version 1/],
  ['no version', { version: undefined }, /has version nothing/],
  ['files that are none', { files: {} }, /expected a list at "files", found \{\}/],
  ['a file that is none', { files: [null] }, /expected an object at "files\[0\]", found null/],
  ['a file without a path', { files: [{ bytes: 1 }] }, /at "files\[0\]\.path", found nothing/],
  ['a path out of the backup', { files: [{ path: 'blobs/../../x' }] }, /found "blobs\/\.\.\/\.\.\/x"/],
  ['a file that no backup contains', { files: [{ path: 'postgres.json' }] }, /found "postgres\.json"/],
  ['no size', { files: [{ path: 'blobs/a', bytes: '1' }] }, /a whole number at "files\[0\]\.bytes", found "1"/],
  ['no checksum', { files: [{ path: 'blobs/a', bytes: 1, sha256: 'x' }] }, /a SHA-256 at "files\[0\]\.sha256"/],
  ['a time that is none', { createdMs: 1e300 }, /a time in milliseconds at "createdMs", found 1e\+300/],
  ['a position that is none', { lastPosition: -1 }, /a whole number at "lastPosition", found -1/],
  ['no place of the key', { instanceKey: 'here' }, /one of left-out, .* at "instanceKey", found "here"/],
  ['no store', { store: 'oracle' }, /one of sqlite, postgres at "store", found "oracle"/],
  ['no files', { files: [] }, /expected platform\.json among its files, found none/],
  ['damage that is none', { damaged: 'all' }, /a list at "damaged", found "all"/],
  ['damage without a path', { damaged: [{}] }, /text at "damaged\[0\]\.path", found nothing/],
])('I15 a manifest with %s is refused with what was expected and what was found', async (_what, changes, says) => {
  const { backup, target } = await copyOfBackup();
  if (typeof changes === 'string') writeFileSync(join(backup, 'backup.json'), changes);
  else writeManifest(backup, changes);
  await expect(restore(backup, target)).rejects.toMatchObject({
    name: 'PlatformError',
    message: expect.stringMatching(says),
  });
  expect(existsSync(target)).toBe(false);
});

test('I15 a file that is listed twice is refused, and so is a manifest that is a pipe', async () => {
  const { backup, target } = await copyOfBackup();
  const { files } = JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8'));
  writeManifest(backup, { files: [...files, files[4]] });
  await expect(restore(backup, target)).rejects.toThrow('expected each file once, found "blobs/o/picture.jpg" twice');
  rmSync(join(backup, 'backup.json'));
  execFileSync('mkfifo', [join(backup, 'backup.json')]);
  await expect(restore(backup, target)).rejects.toThrow(/backup\.json: expected a regular file, found a pipe/);
});

test('I15 paths that no file system can hold, and a text that would fill the memory, are refused as what they are', async () => {
  const { backup, target } = await copyOfBackup();
  const { files } = JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8'));
  const picture = files[4];
  for (const [path, says] of [
    ['blobs/o', /blobs\/o: expected a regular file, found a folder/],
    ['blobs/o/picture.jpg/x', /picture\.jpg\/x, which belongs to the backup, found no such file/],
    [`blobs/${'x'.repeat(300)}`, /x, which belongs to the backup, found no such file/],
  ] as const) {
    writeManifest(backup, { files: [...files, { ...picture, path }] });
    await expect(restore(backup, target)).rejects.toMatchObject({
      name: 'PlatformError',
      message: expect.stringMatching(says),
    });
    expect(contentsOf(target)).toEqual([]);
  }
  const marker = { ...files[2], bytes: 2_000_000_000 };
  writeManifest(backup, { files: files.map((each: object) => (each === files[2] ? marker : each)) });
  await expect(restore(backup, target)).rejects.toThrow('platform.json: expected at most 1048576 bytes');
});

test.each(['left-out', 'environment'])(
  'I15 a restore without the key (%s) says that the cloud will not start',
  async (instanceKey) => {
    const { backup, target } = await copyOfBackup();
    const { files } = JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8'));
    writeManifest(backup, {
      instanceKey,
      files: files.filter(({ path }: { path: string }) => path !== 'secrets.sealed'),
    });
    const { warnings } = await restore(backup, target);
    expect(warnings[0]).toMatch(
      /does not contain the instance key, so the cloud will not start: .*PLATFORM_INSTANCE_KEY/,
    );
  },
);

test('I15 a restore ends with the command that started it, and leaves nothing', async () => {
  const { backup, target } = await copyOfBackup();
  writeFileSync(join(backup, 'secrets.sealed'), sealSecrets({ 'instance.key': 'the key' }, passphrase));
  writeManifest(backup);
  // It would take hours.
  const bytes = 2 ** 38;
  truncateSync(join(backup, 'blobs/o/picture.jpg'), bytes);
  const manifest = JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8'));
  const files = manifest.files.map((file: { path: string }) =>
    file.path.startsWith('blobs/') ? { ...file, bytes } : file,
  );
  writeFileSync(join(backup, 'backup.json'), JSON.stringify({ ...manifest, files }));
  writeFileSync(join(dirname(backup), 'passphrase'), passphrase);
  const request = {
    command: 'restore',
    source: backup,
    dataDirectory: target,
    passphraseFile: join(dirname(backup), 'passphrase'),
  };
  const child = fork(fileURLToPath(new URL('../admin-main.ts', import.meta.url)), [JSON.stringify(request)], {
    execArgv: ['--conditions=@platform/source'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  await expect.poll(() => contentsOf(target)).toContain('blobs/o/picture.jpg');
  child.disconnect();
  expect(await ended).toEqual([1, null]);
  expect(contentsOf(target)).toEqual([]);
});
