/**
 * The tabular child process: loads hot rows from the ingest log, owns DuckDB, seals, answers queries.
 *
 * It acknowledges nothing and owns no unique data. If it is killed at any instant, the next child replays (S, T] (I8, I14). It ends with
 * its parent.
 */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import {
  createLimiter,
  errorText,
  follow,
  type Log,
  PlatformError,
  systemClock,
  trimWhenIdle,
  writeCompileCache,
} from '@platform/base';
import { runForQueries } from '../../instance/priority.ts';
import { hotFolder, openDatabase } from './duckdb/database.ts';
import { createWriter } from './duckdb/writer.ts';
import { createFileVerifier, type VerifiedReader } from './files/verify-files.ts';
import { HotFileChanged } from './hot/hot-batch.ts';
import { createHotRows } from './hot/hot-rows.ts';
import { openLogReader } from './log/read-log.ts';
import type { FromChild, QueryMessage, Rewritten, ToChild } from './messages.ts';
import { createGroupCache } from './pushdown/groups/group-cache.ts';
import { createKnownFacts } from './pushdown/open-files.ts';
import { createMemoryGuard } from './query/memory-guard.ts';
import { runQuery } from './query/run-query.ts';
import { createWorkerPool } from './query/worker-pool.ts';
import { createTurns } from './turns.ts';

function send(message: FromChild): Promise<void> {
  return new Promise((resolve) => {
    // A lost parent is noticed by `disconnect`; messages that could not be sent are lost with it.
    if (!process.connected) resolve();
    else process.send?.(message, undefined, {}, () => resolve());
  });
}

function start(init: Extract<ToChild, { kind: 'init' }>): (message: ToChild) => void {
  const { parquetDir, settings } = init;
  // Read when DuckDB is loaded. Its allocator keeps freed memory per arena; one arena per processor would take tens of megabytes more. If
  // memory is limited, it keeps nothing.
  process.env['DUCKDB_JE_MALLOC_CONF'] ??=
    settings.processBytes === Number.POSITIVE_INFINITY ? 'narenas:1' : 'narenas:1,dirty_decay_ms:0,muzzy_decay_ms:0';
  const clock = systemClock;
  const log =
    (level: 'info' | 'warn' | 'error') =>
    (message: string, fields: Record<string, unknown> = {}) =>
      void send({ kind: 'log', level, message, fields });
  const logger: Log = {
    debug: () => {},
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: () => logger,
  };
  const database = openDatabase({ parquetDir, memoryBytes: settings.memoryBytes, threads: settings.threads });
  const writer = createWriter({
    parquetDir,
    memoryBytes: settings.writerMemoryBytes,
    rowGroupBytes: settings.rowGroupBytes,
  });
  const hotDirectory = join(parquetDir, hotFolder);
  const reader = openLogReader(init.logSource, logger, (damage) => void send({ kind: 'lost', damage }));
  const hot = createHotRows({
    sealed: init.sealed,
    database,
    writer,
    reader,
    directory: hotDirectory,
    settings,
    clock,
    log: logger,
  });
  let sealed = init.sealed;
  const tellLoaded = (): void =>
    void send({
      kind: 'loaded',
      position: hot.loaded,
      hotRows: hot.rows,
      hotBytes: hot.dataBytes,
      unsealedBytes: hot.after(sealed).dataBytes,
    });
  // If the log contains nothing more, no load follows that would report the state.
  const adopted = hot.adopt().then(tellLoaded);
  const workers = createWorkerPool({
    threads: settings.concurrentQueries,
    memoryBytes: settings.executorMemoryBytes,
    clock,
  });
  const memory = createMemoryGuard(settings.processBytes, () => process.memoryUsage.rss(), clock);
  const running = new Map<number, AbortController>();
  const knownFacts = createKnownFacts(parquetDir);
  const groupCache = createGroupCache(settings);
  const verifier = createFileVerifier({
    parquetDir,
    now: clock.now,
    // Queries come first.
    sleep: (ms) => clock.sleep(running.size > 0 ? ms + 100 : ms),
    report: (file, found) => void send({ kind: 'checked', file, found }),
  });
  let sealWanted = false;

  const loader = follow({
    name: 'load hot rows',
    clock,
    log: logger,
    step: async () => {
      await adopted;
      const more = await hot.loadNext((damage) => void send({ kind: 'damaged', ...damage }));
      if (more) tellLoaded();
      if (isSealDue()) sealer.wake();
      compactor.wake();
      return more;
    },
  });

  const isSealDue = (): boolean => {
    const { rows, dataBytes, sinceMs } = hot.after(sealed);
    const age = sinceMs === undefined ? 0 : clock.monotonic() - sinceMs;
    return rows >= settings.sealRows || dataBytes >= settings.sealBytes || age >= settings.sealAgeMs;
  };

  // Sealing and rewriting both sort; running one at a time limits their memory.
  const oneAtATime = createLimiter(1);
  const turns = createTurns();
  const writing = <T>(task: () => Promise<T>): Promise<T> =>
    oneAtATime(() => (settings.takesTurns ? turns.alone(task) : task()));
  const { fileBytes, rowGroupBytes } = settings;
  const sealing = { writer, parquetDir, hotDirectory, fileBytes, rowGroupBytes };
  const verified = async <R>(
    work: (connection: DuckDBConnection, reader: VerifiedReader) => Promise<R>,
  ): Promise<R> => {
    const connection = await database.connect();
    try {
      const reader = verifier.reader();
      const result = await work(connection, reader);
      reader.unchanged();
      return result;
    } finally {
      connection.closeSync();
    }
  };
  const rewrite = async ({ id, files, deletes }: Extract<ToChild, { kind: 'rewrite' }>): Promise<void> => {
    let result: Rewritten;
    try {
      const { mergeFiles } = await import('./files/merge-files.ts');
      result = await verified(async (connection, reader) => {
        await reader.rows(files.map(({ file }) => file));
        return mergeFiles(connection, files, deletes, sealing);
      });
    } catch (caught) {
      result = { kind: 'failed', reason: errorText(caught) };
    }
    await send({ kind: 'rewritten', id, result });
  };

  const measure = async ({ id, files, rules }: Extract<ToChild, { kind: 'measure' }>): Promise<void> => {
    let bytes: number[][] | null = null;
    try {
      const { measureFiles } = await import('./files/measure-files.ts');
      const names = files.map(({ file }) => file);
      bytes = await verified(async (connection, reader) => {
        await reader.footers(files);
        return measureFiles(connection, parquetDir, names, rules);
      });
    } catch (caught) {
      logger.warn('the sizes of files could not be read', { error: errorText(caught) });
    }
    await send({ kind: 'measured', id, bytes });
  };

  // Wakes the sealer when S has moved; a switch may also merely allow rows to be dropped.
  let switched = (): void => {};
  const reachSealed = async (position: number): Promise<void> => {
    while (sealed < position) {
      await new Promise<void>((resolve) => {
        switched = resolve;
      });
    }
  };
  const sealer = follow({
    name: 'seal hot rows',
    clock,
    log: logger,
    step: async () => {
      if (!sealWanted && !isSealDue()) return false;
      const wanted = sealWanted;
      sealWanted = false;
      await adopted;
      const { sealedFiles: files, upTo } = await writing(async () => {
        const { batches, upTo } = await hot.toSeal(sealed, settings.sealBytes).catch((caught: unknown) => {
          if (caught instanceof HotFileChanged) return restart(caught);
          throw caught;
        });
        if (batches.length === 0) return { sealedFiles: [], upTo };
        const { sealFiles } = await import('./files/seal-files.ts');
        const slices = batches.flatMap((batch) => batch.slices);
        const sealedFiles = await writer.write(slices, (connection) => sealFiles(connection, batches, sealing));
        return { sealedFiles, upTo };
      });
      if (upTo <= sealed) return false;
      sealWanted ||= wanted && hot.after(upTo).rows > 0;
      await send({ kind: 'sealed', upTo, files });
      await reachSealed(upTo);
      return true;
    },
  });

  /** Runs concurrently with sealing; their writes alternate. */
  const compactor = follow({
    name: 'merge hot files',
    clock,
    log: logger,
    step: () => writing(() => hot.compact(sealed)),
  });

  const restart = async (reason: Error): Promise<never> => {
    await send({ kind: 'log', level: 'error', message: `${errorText(reason)}; hot rows are read again`, fields: {} });
    process.exit(1);
  };

  const query = async (message: QueryMessage, cancel: AbortController): Promise<void> => {
    const endLate = (): void =>
      cancel.abort(
        new PlatformError(
          'deadline_exceeded',
          `the query did not end within ${message.deadlineMs / 1_000} s; filter on a shorter time_received range, or add $limit (LIMIT)`,
        ),
      );
    const timer = setTimeout(endLate, message.deadlineMs);
    try {
      using _turn = settings.takesTurns ? await turns.together(cancel.signal) : undefined;
      using _guarded = memory.watch((reason) => cancel.abort(reason));
      const { topBytes } = settings;
      const room = {
        database,
        hot,
        workers,
        parquetDir,
        knownFacts,
        groupCache,
        files: verifier,
        topBytes,
        send,
        restart,
      };
      await runQuery(message, room, cancel.signal);
    } finally {
      clearTimeout(timer);
      running.delete(message.id);
      compactor.wake();
    }
  };

  return (message) => {
    switch (message.kind) {
      case 'committed':
        loader.wake();
        return;
      case 'query': {
        verifier.expect(message.files);
        const cancel = new AbortController();
        running.set(message.id, cancel);
        if (message.upTo > hot.loaded) loader.wake();
        void query(message, cancel);
        return;
      }
      case 'cancel':
        running.get(message.id)?.abort(new PlatformError('canceled', 'the query was cancelled'));
        return;
      case 'switched':
        sealed = message.sealed;
        switched();
        hot.drop(message.dropUpTo);
        tellLoaded();
        loader.wake();
        return;
      case 'rewrite':
        verifier.expect(message.files);
        void writing(() => rewrite(message));
        return;
      case 'measure':
        verifier.expect(message.files);
        void measure(message);
        return;
      case 'removed':
        knownFacts.forget(message.files);
        verifier.forget(message.files);
        return;
      case 'scrub':
        void verifier
          .scrub(message.file, message.bytesPerSecond)
          .catch((caught: unknown) => ({ kind: 'unknown' as const, reason: errorText(caught) }))
          .then((found) => send({ kind: 'scrubbed', id: message.id, found }));
        return;
      case 'seal':
        sealWanted = true;
        sealer.wake();
        return;
      case 'init':
        return;
    }
  };
}

// Before any thread starts, because threads inherit the priority.
runForQueries();

// Read when libuv's pool is first used. Each DuckDB statement occupies a thread; with the default of four, all other work would have to
// wait.
process.env['UV_THREADPOOL_SIZE'] ??= '16';
trimWhenIdle({ clock: systemClock });
writeCompileCache(systemClock);
let handle: ((message: ToChild) => void) | undefined;
process.on('message', (message: ToChild) => {
  if (message.kind === 'init') handle = start(message);
  else handle?.(message);
});
process.on('disconnect', () => process.exit(0));
// The parent decides when this process ends; Ctrl-C reaches the whole terminal group.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
