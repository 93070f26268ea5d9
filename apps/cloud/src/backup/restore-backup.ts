/**
 * Restores a backup into an empty directory (I15).
 *
 * Everything is copied and compared with its SHA-256 first; `platform.json` is written last, so that a restore that was cut
 * short is no data directory. The log goes on far behind its last position: the cloud that the backup was taken of has used
 * the positions after it, and messages that were sent for those have ids that receivers know already (I3, I11).
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import { makeDirectory } from '../instance/make-directory.ts';
import { writeDurably } from '../instance/write-durably.ts';
import { userVersion } from './copy-database.ts';
import { type KeyPlace, type Manifest, readManifest } from './manifest.ts';
import { openSecrets } from './seal-secrets.ts';
import { syncDirectories, takeFile } from './take-file.ts';
import { sealedSecretsName, secretNames } from './write-backup.ts';

/** More uploads than the first cloud can have accepted since the backup; positions are exact up to 2^53. */
const skippedPositions = 2 ** 40;

const marker = 'platform.json';

export interface RestoreOptions {
  readonly source: string;
  /** Absent or empty. */
  readonly target: string;
  /** Where the backup holds its key under one. */
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
  readonly lastPosition: number;
  readonly instanceKey: KeyPlace;
  /** What the host administrator must know. */
  readonly warnings: readonly string[];
}

/**
 * @throws failed_precondition when the source is no whole backup or a newer one, or the target is not empty; data_loss naming
 * the file that differs from the manifest; permission_denied for a wrong passphrase.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { source, target } = options;
  const manifest = readManifest(source);
  if (manifest.dataVersion > options.newestDataVersion)
    throw new PlatformError(
      'failed_precondition',
      `${source}: expected a data directory of version ${options.newestDataVersion} or older, found version ${manifest.dataVersion}: restore with the program that wrote it (${manifest.program})`,
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
  { source, target, progress, signal, now }: RestoreOptions,
  manifest: Manifest,
  secrets: Readonly<Record<string, string>>,
): Promise<RestoreReport> {
  const listed = manifest.files.filter(({ path }) => path !== marker && path !== sealedSecretsName);
  for (const [index, expected] of listed.entries()) {
    if (index % 500 === 0) progress(`copying files: ${index} of ${listed.length}`);
    const found = await takeFile({ from: source, to: target, path: expected.path, immutable: false, signal });
    if (found.sha256 !== expected.sha256)
      throw new PlatformError(
        'data_loss',
        `${join(source, expected.path)}: expected ${expected.bytes} bytes with SHA-256 ${expected.sha256}, found ${found.bytes} bytes with ${found.sha256}: the backup is damaged, nothing was restored`,
      );
  }
  for (const [name, text] of Object.entries(secrets)) writeDurably(join(target, name), text);
  const lastPosition = skipPositions(join(target, 'ingest.sqlite'), manifest.lastPosition, now());
  noteRestore(join(target, 'meta.sqlite'), manifest, now());
  await syncDirectories(
    target,
    listed.map(({ path }) => path),
  );
  writeDurably(join(target, marker), readFileSync(join(source, marker), 'utf8'));
  return {
    target,
    createdMs: manifest.createdMs,
    files: manifest.files.length,
    bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    lastPosition,
    instanceKey: manifest.instanceKey,
    warnings: warningsOf(manifest),
  };
}

function requireEmpty(target: string): void {
  makeDirectory(target);
  const found = readdirSync(target).filter((name) => name !== 'lost+found');
  if (found.length === 0) return;
  throw new PlatformError(
    'failed_precondition',
    `${target}: expected an empty or a new directory, found ${found.slice(0, 3).join(', ')}. Nothing was changed; a restore never overwrites`,
  );
}

function readSecrets({ files }: Manifest, { source, passphrase }: RestoreOptions): Readonly<Record<string, string>> {
  if (!files.some(({ path }) => path === sealedSecretsName)) return {};
  if (passphrase === undefined)
    throw new PlatformError(
      'failed_precondition',
      `${source}: the instance key is in the backup under a passphrase; give the file that holds it with --passphrase-file`,
    );
  const opened = openSecrets(readFileSync(join(source, sealedSecretsName), 'utf8'), passphrase);
  return Object.fromEntries(Object.entries(opened).filter(([name]) => secretNames.includes(name)));
}

/** An empty upload at a position far behind the last one; answers that position. */
function skipPositions(file: string, last: number, nowMs: number): number {
  const position = last + skippedPositions;
  const upload = create(LoggedUploadSchema, {
    metadata: {},
    place: {},
    timeSynced: timestampFromMs(nowMs),
    fileId: 'restored-from-backup',
  });
  using db = new DatabaseSync(file);
  db.exec('pragma synchronous = full; pragma fullfsync = on');
  db.prepare('insert into log (position, part, stream, seq, sha256, batch) values (?, ?, ?, ?, ?, ?)').run(
    position,
    '',
    randomBytes(16),
    0,
    new Uint8Array(32),
    toBinary(LoggedUploadSchema, upload),
  );
  return position;
}

/** In the audit trail, where the restored version has one. */
function noteRestore(file: string, manifest: Manifest, nowMs: number): void {
  using db = new DatabaseSync(file);
  if (userVersion(db) < 2) return;
  const what = JSON.stringify({
    backupCreatedMs: manifest.createdMs,
    restoredMs: nowMs,
    lastPosition: manifest.lastPosition,
  });
  db.exec('pragma synchronous = full; pragma fullfsync = on; begin immediate');
  db.prepare(
    "insert into instance_state (name, value) values ('restored', ?) on conflict (name) do update set value = excluded.value",
  ).run(what);
  db.prepare(
    `insert into audit_entries (at_ms, actor_kind, actor_id, actor_name, action, organization_id, target_kind, target_id, detail, peer_address)
     values (?, 'admin', '', '', 'admin.restore', null, 'installation', '', ?, '')`,
  ).run(nowMs, what);
  db.exec('commit');
}

function warningsOf({ createdMs, instanceKey }: Manifest): string[] {
  const taken = new Date(createdMs).toISOString();
  const missingKey =
    instanceKey === 'left-out'
      ? [
          'The backup does not hold the instance key: without it the secrets in the data cannot be read and the cloud does not start. Put instance.key of the first cloud into the directory, or set PLATFORM_INSTANCE_KEY.',
        ]
      : instanceKey === 'environment'
        ? [
            'The instance key was in the environment of the first cloud: start this one with the same PLATFORM_INSTANCE_KEY.',
          ]
        : [];
  return [
    `Machines delete what the cloud has acknowledged: readings that were uploaded after ${taken} are not in the backup, and the machines may not have them any more. What they still hold they send by themselves.`,
    `Keys, secrets, roles and sign-ins that were revoked after ${taken} are valid again: revoke them once more.`,
    'Never run the first cloud and the restored one at the same time: each would acknowledge readings that the other does not have.',
    ...missingKey,
  ];
}
