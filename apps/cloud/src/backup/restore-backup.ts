/**
 * Restores a backup into an empty directory and, for Postgres, an empty database (I15).
 *
 * Everything is first copied and compared with its SHA-256. `platform.json` is written last, so that an interrupted restore is not a data
 * directory. The log continues far beyond its last position (resume-after-restore.ts).
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newId, PlatformError } from '@platform/base';
import { makeDirectory } from '../instance/make-directory.ts';
import { writeFileAtomic } from '../instance/write-file-atomic.ts';
import { writeInstallation } from '../metadata/claim-installation.ts';
import { copyWithHash, measureFile, syncDirectories } from './copy-with-hash.ts';
import { type DamagedFile, type KeyPlace, type Manifest, readManifest } from './manifest.ts';
import { filler, restoredEntry, resumePosition } from './resume-after-restore.ts';
import { openSecrets } from './seal-secrets.ts';
import { sealedSecretsName, secretNames } from './write-backup.ts';

const marker = 'platform.json';

export interface RestoreOptions {
  readonly source: string;
  /** Missing or empty. */
  readonly target: string;
  /** `postgres://…` of an empty database for metadata and log, whichever store they come from. Absent: SQLite. */
  readonly database?: string | undefined;
  /** Passphrase of the backup's key, if it has one. */
  readonly passphrase?: string | undefined;
  readonly newestDataVersion: number;
  readonly now: () => number;
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface RestoreReport {
  readonly target: string;
  readonly createdMs: number;
  readonly files: number;
  readonly bytes: number;
  /** Last position of the log in the backup. */
  readonly lastPosition: number;
  /** New uploads get positions after this one; the original cloud has used the positions in between. */
  readonly goesOnAfter: number;
  readonly instanceKey: KeyPlace;
  /** Warnings for the host administrator. */
  readonly warnings: readonly string[];
}

/**
 * @throws failed_precondition if the source is not a complete backup or is newer, or the target is not empty; data_loss naming the file
 * that differs from the manifest; permission_denied for a wrong passphrase.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { source, target } = options;
  const manifest = readManifest(source);
  if (manifest.dataVersion > options.newestDataVersion)
    throw new PlatformError(
      'failed_precondition',
      `${source}: expected a data directory of version ${options.newestDataVersion} or older, found version ${manifest.dataVersion}: restore with the version that wrote it (${manifest.program})`,
    );
  if (manifest.store === 'postgres' && options.database === undefined)
    throw new PlatformError(
      'failed_precondition',
      `${source}: this backup is of an installation in Postgres and can be restored only to Postgres: expected PLATFORM_DATABASE_URL to name an empty database, but it is not set`,
    );
  const secrets = readSecrets(manifest, options);
  requireEmpty(target);
  try {
    return await copyBack(options, manifest, secrets);
  } catch (caught) {
    for (const name of readdirSync(target)) rmSync(join(target, name), { recursive: true, force: true });
    throw caught;
  }
}

async function copyBack(
  options: RestoreOptions,
  manifest: Manifest,
  secrets: Readonly<Record<string, string>>,
): Promise<RestoreReport> {
  const { source, target, database, progress, signal } = options;
  const listed = manifest.files.filter(({ path }) => path !== marker && path !== sealedSecretsName);
  const taken: string[] = [];
  for (const [index, expected] of listed.entries()) {
    if (index % 500 === 0) progress(`copying files: ${index} of ${listed.length}`);
    const { path } = expected;
    // Files to be loaded into the database are read again after everything was verified.
    const isLoaded = database !== undefined && isOfStores(path);
    if (!isLoaded) taken.push(path);
    const found = isLoaded
      ? await measureFile(join(source, path), signal)
      : await copyWithHash({ from: source, to: target, path, immutable: false, signal });
    if (found.sha256 !== expected.sha256)
      throw new PlatformError(
        'data_loss',
        `${join(source, path)}: expected ${expected.bytes} bytes with SHA-256 ${expected.sha256}, found ${found.bytes} bytes with ${found.sha256}: the backup is damaged, nothing was restored`,
      );
  }
  for (const [name, text] of Object.entries(secrets)) writeFileAtomic(join(target, name), text);
  await syncDirectories(target, taken);
  if (database === undefined) goOnInSqlite(options, manifest);
  else await loadDatabase(options, database, manifest);
  writeFileAtomic(join(target, marker), readFileSync(join(source, marker), 'utf8'));
  return {
    target,
    createdMs: manifest.createdMs,
    files: manifest.files.length,
    bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    lastPosition: manifest.lastPosition,
    goesOnAfter: resumePosition(manifest),
    instanceKey: manifest.instanceKey,
    warnings: warningsOf(manifest),
  };
}

function isOfStores(path: string): boolean {
  return path === 'meta.sqlite' || path === 'ingest.sqlite' || path.startsWith('tables/');
}

/** The database gets a new id, so that the restored directory is never started with the original database. */
async function loadDatabase(
  { source, target, now, progress, signal }: RestoreOptions,
  database: string,
  manifest: Manifest,
): Promise<void> {
  const installation = newId();
  writeInstallation(join(target, 'postgres.json'), installation);
  // Loaded late, because an installation on SQLite never needs the driver.
  const { readTables } = await import('./read-tables.ts');
  const { loadPostgres } = await import('./load-postgres.ts');
  await loadPostgres({
    ...{ database, manifest, installation, progress, signal, nowMs: now() },
    tables: await readTables(source, manifest),
    lastPosition: resumePosition(manifest),
  });
}

function goOnInSqlite({ target, now }: RestoreOptions, manifest: Manifest): void {
  const durably = 'pragma synchronous = full; pragma fullfsync = on; begin immediate';
  const { part, stream, seq, sha256, batch } = filler(now());
  {
    using log = new DatabaseSync(join(target, 'ingest.sqlite'));
    log.exec(durably);
    log
      .prepare('insert into log (position, part, stream, seq, sha256, batch) values (?, ?, ?, ?, ?, ?)')
      .run(resumePosition(manifest), part, stream, seq, sha256, batch);
    log.exec('commit');
  }
  using meta = new DatabaseSync(join(target, 'meta.sqlite'));
  meta.exec(durably);
  for (const { sql, values } of restoredEntry(manifest, now())) meta.prepare(sql).run(...values);
  meta.exec('commit');
}

function requireEmpty(target: string): void {
  makeDirectory(target);
  const found = readdirSync(target).filter((name) => name !== 'lost+found');
  if (found.length === 0) return;
  throw new PlatformError(
    'failed_precondition',
    `${target}: expected an empty or new directory, found ${found.slice(0, 3).join(', ')}. Nothing was changed, because a restore never overwrites data`,
  );
}

function readSecrets({ files }: Manifest, { source, passphrase }: RestoreOptions): Readonly<Record<string, string>> {
  if (!files.some(({ path }) => path === sealedSecretsName)) return {};
  if (passphrase === undefined)
    throw new PlatformError(
      'failed_precondition',
      `${source}: the instance key in the backup is encrypted with a passphrase; give the passphrase file with --passphrase-file`,
    );
  const opened = openSecrets(readFileSync(join(source, sealedSecretsName), 'utf8'), passphrase);
  return Object.fromEntries(Object.entries(opened).filter(([name]) => secretNames.includes(name)));
}

function warningsOf({ createdMs, instanceKey, damaged = [] }: Manifest): string[] {
  const taken = new Date(createdMs).toISOString();
  const missingKey =
    instanceKey === 'left-out'
      ? [
          'The backup does not contain the instance key. Without it, the secrets in the data cannot be decrypted and the cloud does not start. Put instance.key of the original cloud into the directory, or set PLATFORM_INSTANCE_KEY.',
        ]
      : instanceKey === 'environment'
        ? [
            'The instance key was in the environment of the original cloud: start this one with the same PLATFORM_INSTANCE_KEY.',
          ]
        : [];
  const left = damaged.length === 0 ? [] : [leftOut(damaged)];
  return [
    ...left,
    `Machines delete what the cloud has acknowledged: readings that were uploaded after ${taken} are not in the backup, and the machines may no longer have them. Machines send what they still have by themselves.`,
    `Keys, secrets, roles and sign-ins that were revoked after ${taken} are valid again: revoke them once more.`,
    'Never run the original cloud and the restored one at the same time: each would acknowledge readings that the other does not have.',
    ...missingKey,
  ];
}

const shown = 5;

function leftOut(damaged: readonly DamagedFile[]): string {
  const some = damaged.slice(0, shown).map(({ path, reason }) => `${path}: ${reason}`);
  return `The backup lacks ${damaged.length} files that were damaged when it was taken (${some.join('; ')}${damaged.length > shown ? '; …' : ''}): requests that need them fail with DATA_LOSS. Restore them from an older backup with platform admin repair --from, or give them up with --accept-loss.`;
}
