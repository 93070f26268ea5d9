/**
 * Restores a backup into an empty directory and, for Postgres, an empty database (I15).
 *
 * It takes exactly the files that the manifest lists (listed-files.ts). Everything is first copied and compared with its SHA-256.
 * `platform.json` is written last, so that an interrupted restore is not a data directory. The log continues far beyond its last position
 * (resume-after-restore.ts).
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { failedPrecondition, newId } from '@platform/base';
import { makeDirectory } from '../instance/make-directory.ts';
import { writeFileAtomic } from '../instance/write-file-atomic.ts';
import { baselineVersion, requireReadable } from '../metadata/baseline-version.ts';
import { writeInstallation } from '../metadata/claim-installation.ts';
import { syncDirectories } from './copy/copy-with-hash.ts';
import { copyListed, readListed } from './listed-files.ts';
import { type DamagedFile, type Manifest, manifestName } from './manifest.ts';
import { requireWhole } from './parse-manifest.ts';
import { readManifest } from './read-manifest.ts';
import { insertFiller, restoredEntry, resumePosition } from './resume-after-restore.ts';
import { type GuessCost, openSecrets } from './seal-secrets.ts';
import { type BackupReport, sealedSecretsName, secretNames } from './write-backup.ts';

const markerName = 'platform.json';

export interface RestoreOptions {
  readonly source: string;
  /** Missing or empty. */
  readonly target: string;
  /** `postgres://…` of an empty database for metadata and log, whichever store they come from. Absent: SQLite. */
  readonly database?: string | undefined;
  /** Passphrase of the backup's key, if it has one. */
  readonly passphrase?: string | undefined;
  /** Of the passphrase; that of `sealSecrets`, whose default it has. */
  readonly guessCost?: GuessCost;
  readonly newestDataVersion: number;
  readonly now: () => number;
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface RestoreReport extends Pick<BackupReport, 'createdMs' | 'files' | 'bytes' | 'instanceKey'> {
  readonly target: string;
  /** Last position of the log in the backup. */
  readonly lastPosition: number;
  /** New uploads get positions after this one; the original cloud has used the positions in between. */
  readonly goesOnAfter: number;
  /** Warnings for the host administrator. */
  readonly warnings: readonly string[];
}

/**
 * @throws failed_precondition if the source is not a complete backup or is newer, something in it is no regular file, or the target is not
 * empty; data_loss naming the file that differs from the manifest; permission_denied for a wrong passphrase. Then nothing stays in the target.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { source, target } = options;
  const manifest = await readManifest(source);
  const readable = { oldest: baselineVersion, newest: options.newestDataVersion };
  requireReadable(manifest.dataVersion, readable, `the data directory in the backup ${source} (${manifest.program})`);
  requireWhole(manifest, join(source, manifestName));
  if (manifest.store === 'postgres' && options.database === undefined)
    throw failedPrecondition(
      `${source}: this backup is of an installation in Postgres and can be restored only to Postgres: expected PLATFORM_DATABASE_URL to name an empty database, but it is not set`,
    );
  const texts = await readTexts(options, manifest);
  requireEmpty(target);
  try {
    return await copyBack(options, manifest, texts);
  } catch (caught) {
    for (const name of contentsOf(target)) rmSync(join(target, name), { recursive: true, force: true });
    throw caught;
  }
}

/** What is not copied as it is. */
interface Texts {
  /** `platform.json`. */
  readonly marker: string;
  /** Files by name. */
  readonly secrets: Readonly<Record<string, string>>;
}

async function copyBack(
  options: RestoreOptions,
  manifest: Manifest,
  { marker, secrets }: Texts,
): Promise<RestoreReport> {
  const { source, target, database, progress, signal } = options;
  const listed = manifest.files.filter(({ path }) => path !== markerName && path !== sealedSecretsName);
  const taken: string[] = [];
  for (const [index, expected] of listed.entries()) {
    if (index % 500 === 0) progress(`copying files: ${index} of ${listed.length}`);
    // Files to be loaded into the database are read again after everything was verified.
    const isLoaded = database !== undefined && isOfStores(expected.path);
    if (!isLoaded) taken.push(expected.path);
    await copyListed({ source, expected, signal }, isLoaded ? undefined : target);
  }
  for (const [name, text] of Object.entries(secrets)) writeFileAtomic(join(target, name), text);
  await syncDirectories(target, taken);
  signal.throwIfAborted();
  if (database === undefined) goOnInSqlite(options, manifest);
  else await loadDatabase(options, database, manifest);
  writeFileAtomic(join(target, markerName), marker);
  return {
    target,
    createdMs: manifest.createdMs,
    files: manifest.files.length,
    bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    lastPosition: manifest.lastPosition,
    goesOnAfter: resumePosition(manifest),
    instanceKey: manifest.instanceKey,
    warnings: warningsOf(manifest, existsSync(join(target, 'instance.key'))),
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
  {
    using log = new DatabaseSync(join(target, 'ingest.sqlite'));
    log.exec(durably);
    const { sql, values } = insertFiller(resumePosition(manifest), now());
    log.prepare(sql).run(...values);
    log.exec('commit');
  }
  using meta = new DatabaseSync(join(target, 'meta.sqlite'));
  meta.exec(durably);
  for (const { sql, values } of restoredEntry(manifest, now())) meta.prepare(sql).run(...values);
  meta.exec('commit');
}

function requireEmpty(target: string): void {
  makeDirectory(target);
  const found = contentsOf(target);
  if (found.length === 0) return;
  throw failedPrecondition(
    `${target}: expected an empty or new directory, found ${found.slice(0, 3).join(', ')}. Nothing was changed, because a restore never overwrites data`,
  );
}

function contentsOf(target: string): string[] {
  return readdirSync(target).filter((name) => name !== 'lost+found');
}

async function readTexts(
  { source, passphrase, guessCost, signal }: RestoreOptions,
  { files }: Manifest,
): Promise<Texts> {
  const textOf = async (name: string): Promise<string | undefined> => {
    const expected = files.find(({ path }) => path === name);
    return expected && readListed({ source, expected, signal });
  };
  const marker = (await textOf(markerName)) ?? '';
  const sealed = await textOf(sealedSecretsName);
  if (sealed === undefined) return { marker, secrets: {} };
  if (passphrase === undefined)
    throw failedPrecondition(
      `${source}: the instance key in the backup is encrypted with a passphrase; give the passphrase file with --passphrase-file`,
    );
  const opened = Object.entries(openSecrets(sealed, passphrase, guessCost)).filter(([name]) =>
    secretNames.includes(name),
  );
  return { marker, secrets: Object.fromEntries(opened) };
}

/** @param hasKey the restored directory has the instance key */
function warningsOf({ createdMs, instanceKey, damaged = [] }: Manifest, hasKey: boolean): string[] {
  const taken = new Date(createdMs).toISOString();
  const how =
    instanceKey === 'environment'
      ? 'it was in the environment of the original cloud. Start this one with the same PLATFORM_INSTANCE_KEY.'
      : 'the secrets in the data cannot be decrypted without it. Put instance.key of the original cloud into the directory, or set PLATFORM_INSTANCE_KEY.';
  return [
    ...(damaged.length === 0 ? [] : [leftOut(damaged)]),
    ...(hasKey ? [] : [`The backup does not contain the instance key, so the cloud will not start: ${how}`]),
    `Machines delete what the cloud has acknowledged: readings that were uploaded after ${taken} are not in the backup, and the machines may no longer have them. Machines send what they still have by themselves.`,
    `Keys, secrets, roles and sign-ins that were revoked after ${taken} are valid again: revoke them once more.`,
    'Never run the original cloud and the restored one at the same time: each would acknowledge readings that the other does not have.',
  ];
}

const shown = 5;

function leftOut(damaged: readonly DamagedFile[]): string {
  const some = damaged.slice(0, shown).map(({ path, reason }) => `${path}: ${reason}`);
  return `The backup lacks ${damaged.length} files that were damaged when it was taken (${some.join('; ')}${damaged.length > shown ? '; …' : ''}): requests that need them fail with DATA_LOSS. Restore them from an older backup with platform admin repair --from, or give them up with --accept-loss.`;
}
