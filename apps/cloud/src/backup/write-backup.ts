/**
 * Backs up a data directory and its database while its cloud runs (I15).
 *
 * First, deletions are held. Then metadata and log are copied such that the copied log has every row after the S of the copied catalog
 * (copy-sqlite.ts, copy-postgres.ts). Last come the files listed by the copied catalog and the payloads named by the copied log; they never
 * change and cannot be removed in the meantime. So every reading acknowledged before the hold is in the backup once: in a listed file, or
 * in the log after S. Later readings may be in it, too.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { errorText, failedPrecondition } from '@platform/base';
import { makeDirectory } from '../instance/make-directory.ts';
import { writeFileAtomic } from '../instance/write-file-atomic.ts';
import type { CopyOptions } from './copy/copied-stores.ts';
import { copySqlite } from './copy/copy-sqlite.ts';
import { copyVerified } from './copy/copy-verified.ts';
import { copyWithHash, measureFile, syncDirectories } from './copy/copy-with-hash.ts';
import { type BackedUpFile, type DamagedFile, type KeyPlace, manifestName, newManifest } from './manifest.ts';
import { sealSecrets } from './seal-secrets.ts';

/** Files with plaintext secrets; they are included only together with the instance key. */
export const secretNames: readonly string[] = ['instance.key', 'demo.json'];
export const sealedSecretsName = 'secrets.sealed';

export interface Hold extends AsyncDisposable {
  /** @throws when deletions continued in between, for example after a restart of the cloud: the copied files are then inconsistent */
  stands(): Promise<void>;
}

export interface BackupOptions extends Pick<CopyOptions, 'dataDirectory' | 'progress' | 'signal'> {
  /** `postgres://…`; used if the installation is in Postgres. */
  readonly database?: string | undefined;
  /** Missing or empty; created with mode 0700. */
  readonly destination: string;
  /** Holds deletions until it is disposed. */
  readonly hold: () => Promise<Hold>;
  /** Default: the key is left out, and without it no one can decrypt the secrets in the backup. */
  readonly key:
    | { readonly kind: 'left-out' }
    | { readonly kind: 'included' }
    | { readonly kind: 'passphrase'; readonly passphrase: string };
  /** The key is in the environment of the cloud and not in a file. */
  readonly keyInEnvironment: boolean;
  readonly program: string;
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Takes each file of readings and each payload. Default: it is read and compared with its checksum. */
  readonly take?: typeof copyVerified;
}

export interface BackupReport {
  readonly destination: string;
  readonly createdMs: number;
  readonly files: number;
  readonly bytes: number;
  readonly sealedPosition: number;
  readonly lastPosition: number;
  readonly instanceKey: KeyPlace;
  /** Files that are not in the backup because they were damaged or missing. */
  readonly damaged: readonly DamagedFile[];
}

/**
 * @throws failed_precondition if the destination is not empty. After an error nothing is left behind. Damaged files are omitted and
 * reported.
 */
export async function writeBackup(options: BackupOptions): Promise<BackupReport> {
  const { destination, progress } = options;
  const inPostgres = requireDatabase(options);
  requireFree(options);
  try {
    return await copyAll(options, inPostgres);
  } catch (caught) {
    progress(`the backup failed; removing the incomplete backup: ${errorText(caught)}`);
    for (const name of readdirSync(destination)) rmSync(join(destination, name), { recursive: true, force: true });
    throw caught;
  }
}

/** Returns whether metadata and log are in Postgres. */
function requireDatabase({ dataDirectory, database }: BackupOptions): boolean {
  const inPostgres = existsSync(join(dataDirectory, 'postgres.json'));
  if (inPostgres && database === undefined)
    throw failedPrecondition(
      `data directory ${dataDirectory}: this installation is in Postgres, but PLATFORM_DATABASE_URL is not set. Set it to the value that the cloud uses`,
    );
  return inPostgres;
}

function requireFree({ dataDirectory, destination }: BackupOptions): void {
  const below = relative(resolve(dataDirectory), resolve(destination));
  if (below === '' || !(below.startsWith('..') || resolve(below) === below))
    throw failedPrecondition(
      `${destination}: expected a directory outside the data directory ${dataDirectory}, found one in it`,
    );
  makeDirectory(destination);
  const found = readdirSync(destination).filter((name) => name !== 'lost+found');
  if (found.length > 0)
    throw failedPrecondition(
      `${destination}: expected an empty or new directory for the backup, found ${found.slice(0, 3).join(', ')}`,
    );
}

/** Copies into a directory that is ours and empty; after an error, an incomplete backup is left in it. */
export async function copyAll(options: BackupOptions, inPostgres: boolean): Promise<BackupReport> {
  const { dataDirectory, destination, now, progress, signal, take = copyVerified } = options;
  makeDirectory(destination);
  await using hold = await options.hold();
  const createdMs = now();
  // Loaded late, because an installation on SQLite never needs the driver.
  const copy = inPostgres ? (await import('./copy/copy-postgres.ts')).copyPostgres : copySqlite;
  const { files: copied, named, ...stores } = await copy(options);
  const files: BackedUpFile[] = [...copied];
  const damaged: DamagedFile[] = [];
  const tell = tellProgress(named.length, progress, options.monotonic);
  for (const file of named) {
    const taken = await take({ from: dataDirectory, to: destination, file, signal });
    if ('reason' in taken) {
      progress(`damaged and not in the backup: ${taken.path}: ${taken.reason}`);
      damaged.push(taken);
    } else files.push(taken);
    tell('bytes' in taken ? taken.bytes : 0);
  }
  const { key: keyPlace, names } = writeSecrets(options);
  for (const path of ['platform.json', ...names]) {
    if (!names.includes(path))
      files.push(await copyWithHash({ from: dataDirectory, to: destination, path, immutable: false, signal }));
    else files.push({ path, ...(await measureFile(join(destination, path), signal)) });
  }
  await syncDirectories(
    destination,
    files.map(({ path }) => path),
  );
  await hold.stands();
  const marker: { version: number } = JSON.parse(readFileSync(join(destination, 'platform.json'), 'utf8'));
  const manifest = newManifest({
    createdMs,
    program: options.program,
    dataVersion: marker.version,
    ...stores,
    instanceKey: keyPlace,
    files,
    ...(damaged.length > 0 && { damaged }),
  });
  writeFileAtomic(join(destination, manifestName), `${JSON.stringify(manifest, null, 1)}\n`);
  return {
    destination,
    createdMs,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    sealedPosition: stores.sealedPosition,
    lastPosition: stores.lastPosition,
    instanceKey: keyPlace,
    damaged,
  };
}

const tellEveryMs = 2_000;

/** All files are read, which takes time even if none is copied. */
function tellProgress(
  files: number,
  progress: BackupOptions['progress'],
  monotonic: BackupOptions['monotonic'],
): (bytes: number) => void {
  let [done, bytes, toldMs] = [0, 0, monotonic()];
  const tell = (): void =>
    progress(`copying files: ${done} of ${files}, ${Math.round(bytes / (1 << 20)).toLocaleString('en')} MiB read`);
  tell();
  return (more) => {
    done++;
    bytes += more;
    if (monotonic() - toldMs < tellEveryMs && done < files) return;
    toldMs = monotonic();
    tell();
  };
}

/** Returns where the key is, and which files were written. */
function writeSecrets(options: BackupOptions): { key: KeyPlace; names: readonly string[] } {
  const { dataDirectory, destination, key, keyInEnvironment } = options;
  if (key.kind === 'left-out') return { key: keyInEnvironment ? 'environment' : 'left-out', names: [] };
  const there = secretNames.filter((name) => existsSync(join(dataDirectory, name)));
  const texts = Object.fromEntries(there.map((name) => [name, readFileSync(join(dataDirectory, name), 'utf8')]));
  if (key.kind === 'included') {
    for (const [name, text] of Object.entries(texts)) writeFileAtomic(join(destination, name), text);
    return { key: keyInEnvironment ? 'environment' : 'included', names: there };
  }
  writeFileAtomic(join(destination, sealedSecretsName), sealSecrets(texts, key.passphrase));
  return { key: keyInEnvironment ? 'environment' : 'passphrase', names: [sealedSecretsName] };
}
