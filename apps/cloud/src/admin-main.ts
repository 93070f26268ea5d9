/**
 * Runs one command of `platform admin` as a process. Its single argument is the request, as JSON. Its answer is one line of JSON on
 * stdout, {result} or {error: {code, message}}; progress goes to stderr as text. If the cloud is running, the command is sent to it over
 * its control channel; otherwise the data directory is opened here, under its lock.
 */
import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import {
  asPlatformError,
  errorText,
  failedPrecondition,
  invalidArgument,
  PlatformError,
  systemClock,
  version,
} from '@platform/base';
import { openAllowedTargets } from './admin/allowed-targets.ts';
import { type ControlClient, controlName, openControlClient } from './admin/control-channel.ts';
import { doctor, openDoctorStore } from './admin/doctor/doctor.ts';
import { createAdmin } from './admin/feature.ts';
import { openLimits } from './admin/limits.ts';
import { readParams } from './admin/read-params.ts';
import { repair } from './admin/repair/repair.ts';
import { restoreBackup } from './backup/restore-backup.ts';
import { type BackupOptions, writeBackup } from './backup/write-backup.ts';
import { dataVersion, openDataDirectory, requireReadableDirectory } from './data-directory.ts';
import { freeBytesOf } from './ingest/disk/free-space.ts';
import { openIngestLog } from './ingest/log/open-ingest-log.ts';
import { createLogger } from './instance/create-logger.ts';
import { createDeletionPause } from './instance/deletion-pause.ts';
import { openStores } from './open-stores.ts';
import { readStoreSettings } from './settings.ts';

/** Time to remove what an unfinished command has written. */
const stopMs = 10_000;

type Request = Readonly<Record<string, unknown>>;
type StoreSettings = ReturnType<typeof readStoreSettings>;

/** Prints progress; everything else is in the result. */
const { isTTY: isTerminal, columns = 80 } = process.stderr;
const clear = '\r\u001b[K';
const say = (text: string): void =>
  void process.stderr.write(isTerminal ? `${clear}… ${text.slice(0, columns - 3)}` : `${text}\n`);

async function run(request: Request, signal: AbortSignal): Promise<unknown> {
  const { text, optionalText, flag } = readParams(request);
  const settings = readStoreSettings(optionalText('dataDirectory'));
  const command = text('command');
  if (command === 'restore')
    return restoreBackup({
      source: resolve(text('source')),
      target: settings.dataDirectory,
      database: settings.databaseUrl,
      passphrase: readPassphrase(optionalText('passphraseFile')),
      newestDataVersion: dataVersion,
      now: systemClock.now,
      progress: say,
      signal,
    });
  if (!existsSync(join(settings.dataDirectory, 'platform.json')))
    throw failedPrecondition(
      `data directory ${settings.dataDirectory}: expected the data of a cloud, found none. Choose another directory with --data DIR`,
    );
  requireReadableDirectory(settings.dataDirectory);
  await using client = await openControlClient(join(settings.dataDirectory, controlName));
  if (command === 'backup') return await backUp(request, settings, client, signal);
  const params = { ...request, actor: userInfo().username, next: settings.nextInstanceKey };
  const ask = (method: string, more: Request = {}): Promise<unknown> =>
    client === undefined
      ? runHere(method, { ...params, ...more }, settings)
      : client.call(method, { ...params, ...more });
  const { dataDirectory, databaseUrl: database } = settings;
  if (command === 'repair') {
    const from = optionalText('from');
    return await repair({
      parquetDir: join(dataDirectory, 'parquet'),
      blobDirectory: join(dataDirectory, 'blobs'),
      store: await openDoctorStore(dataDirectory, database),
      ask,
      from: from === undefined ? undefined : resolve(from),
      acceptLoss: flag('acceptLoss'),
      apply: flag('apply'),
      nowMs: systemClock.now(),
      progress: say,
    });
  }
  if (command !== 'doctor') return await ask(command);
  return await doctor({
    dataDirectory,
    database,
    checkSecrets: async () => String(await ask('check-secrets')),
    freeBytes: () => freeBytesOf(dataDirectory),
    deep: flag('deep'),
    progress: say,
  });
}

async function backUp(
  request: Request,
  settings: StoreSettings,
  client: ControlClient | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const { text, flag, optionalText } = readParams(request);
  const { dataDirectory, databaseUrl: database, instanceKey } = settings;
  const passphrase = readPassphrase(optionalText('passphraseFile'));
  const key: BackupOptions['key'] =
    passphrase !== undefined
      ? { kind: 'passphrase', passphrase }
      : { kind: flag('withInstanceKey') ? 'included' : 'left-out' };
  const options = {
    dataDirectory,
    database,
    destination: resolve(text('destination')),
    key,
    program: version,
    now: systemClock.now,
    monotonic: systemClock.monotonic,
    progress: say,
    signal,
  };
  if (client === undefined) {
    // The cloud is stopped: the lock of its data directory prevents all changes.
    return writeBackup({
      ...options,
      keyInEnvironment: instanceKey !== undefined,
      hold: async () => {
        const data = openDataDirectory(dataDirectory, false, database !== undefined);
        return { stands: async () => {}, [Symbol.asyncDispose]: async () => data[Symbol.dispose]() };
      },
    });
  }
  const status = (await client.call('status')) as { instanceKeyPlace?: string };
  return writeBackup({
    ...options,
    keyInEnvironment: status.instanceKeyPlace === 'environment',
    hold: async () => {
      await client.call('backup.hold');
      // Closing the connection releases the hold, and the connection closes when the cloud stops.
      return {
        stands: async () => void (await client.call('status')),
        [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
      };
    },
  });
}

async function runHere(command: string, params: Request, settings: StoreSettings): Promise<unknown> {
  const log = createLogger(settings.logLevel, systemClock);
  const clock = systemClock;
  const onFatal = (caught: unknown): never => {
    throw caught;
  };
  await using stores = await openStores(settings, { clock, log, onFatal });
  const { db, rows, data, instanceKey, keyFile, sealDocuments } = stores;
  await using ingestLog = await openIngestLog({
    file: data.at('ingest.sqlite'),
    database: settings.databaseUrl,
    log,
    clock,
    onFatal,
  });
  const operations = createAdmin({
    db,
    rows,
    ingestLog,
    instanceKey,
    keyFile,
    sealDocuments,
    limits: await openLimits(db),
    // The cloud checks its own port when it runs.
    allowedTargets: await openAllowedTargets({
      db,
      ownPorts: () => (settings.databasePort === undefined ? [] : [settings.databasePort]),
      option: [],
      organizations: () => [],
    }),
    deletions: createDeletionPause(),
    clock,
    log,
    loadAgain: undefined,
    status: async () => ({
      ...{ running: false, dataDirectory: data.path, version, dataVersion },
      losses: ingestLog.losses().filter(({ acceptedMs }) => acceptedMs === null),
    }),
  });
  const operation = operations[command];
  if (operation === undefined)
    throw invalidArgument(
      `command: expected one of backup, restore, doctor, repair, ${Object.keys(operations).join(', ')}, found ${JSON.stringify(command)}`,
    );
  return await operation(readParams(params), new AbortController().signal);
}

/** Reads the first line of a file. A passphrase is passed in a file to keep it out of process lists. */
function readPassphrase(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const passphrase = readFileSync(file, 'utf8').split('\n')[0]?.trim() ?? '';
  if (passphrase.length < 8)
    throw invalidArgument(
      `passphrase file ${file}: expected at least 8 characters in its first line, found ${passphrase.length}`,
    );
  return passphrase;
}

process.umask(0o077);
// Whoever reads them may be gone.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});
const stop = new AbortController();
const end = (): void => {
  stop.abort(new PlatformError('canceled', 'stopped'));
  // A disk that does not answer must not keep it.
  systemClock.after(stopMs, () => process.exit(1));
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
// The command that started this process has ended.
process.once('disconnect', end);
try {
  const result = await run(JSON.parse(process.argv[2] ?? '{}'), stop.signal);
  if (isTerminal) process.stderr.write(clear);
  process.stdout.write(`${JSON.stringify({ result })}\n`);
  process.exit(0);
} catch (caught) {
  if (isTerminal) process.stderr.write(clear);
  const { code } = asPlatformError(caught);
  // The administrator who runs this may read internal error details, as in the log.
  process.stdout.write(`${JSON.stringify({ error: { code, message: errorText(caught) } })}\n`);
  process.exit(1);
}
