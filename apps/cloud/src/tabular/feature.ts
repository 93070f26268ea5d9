/**
 * The tabular store: readings as rows that queries can ask for, hot in a child process and sealed in Parquet files (I7–I10, I14).
 *
 * This side owns the catalog and the pins; the child owns DuckDB and the hot rows. A file counts once the catalog lists it; a hot row is
 * dropped once it is in a listed file and no open snapshot began before that.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asPlatformError, backoffMs, type Clock, errorText, type Log, PlatformError } from '@platform/base';
import { encodePlan, foldConstants, pathFilter, QueryError, sourcesOf } from '@platform/query';
import type { IngestLog, LogDamage } from '../ingest/log.ts';
import { createDeletionPause, type DeletionPause } from '../instance/deletion-pause.ts';
import type { Database } from '../metadata/tables.ts';
import { createQuestions } from './ask-child.ts';
import { createCatalog } from './catalog.ts';
import { type Child, startChild } from './child.ts';
import { isWhollyDeleted } from './coverage.ts';
import { damagedFile, fileIsMissing } from './damaged-file.ts';
import { createDeleteRows } from './delete-rows.ts';
import { deletedReadings } from './deleted-readings.ts';
import { explainOf } from './explain-of.ts';
import { createFairQueue } from './fair-queue.ts';
import { createFileHealth } from './file-health.ts';
import { requireNoneLost } from './lost-uploads.ts';
import { createMeasure } from './measure.ts';
import { parquetFormat } from './parquet-format.ts';
import { createPins } from './pins.ts';
import type { FileRef, FoundFile, FromChild, SealedFile } from './process/messages.ts';
import { readDamage } from './read-damage.ts';
import { createRemoveDeleted } from './remove-deleted.ts';
import { removeUnlisted } from './remove-unlisted.ts';
import { createRewrites } from './rewrites.ts';
import { mayHoldRows } from './row-filter.ts';
import { createScanMeter, noReservation } from './scan-meter.ts';
import { createScrub } from './scrub.ts';
import { defaultTabularSettings, type TabularSettings } from './settings.ts';
import { settleCatalog } from './settle-catalog.ts';
import { concerning, deletesFor, noStandingRules, type StandingRulesOf } from './standing-rules.ts';
import { storedFilter } from './stored-filter.ts';
import type { QueryRequest, QueryResult, Tabular } from './tabular.ts';
import { createWriteAnew } from './write-anew.ts';

export interface TabularOptions {
  /** Holds parquet/ (created when missing) and, unless `database` is given, ingest.sqlite; the child reads the log by itself. */
  readonly dataDir: string;
  /** `postgres://…` of the ingest log. */
  readonly database?: string | undefined;
  readonly db: Database;
  readonly ingestLog: Pick<IngestLog, 'lastPosition' | 'onCommit' | 'markDamaged' | 'noteLoss' | 'losses' | 'follow'>;
  /** Undefined: not known, as of a part that was deleted. Default: of none. */
  readonly organizationOf?: (partId: string) => string | undefined;
  readonly log: Log;
  readonly clock: Clock;
  /** Files are removed inside it, so that a backup can hold them (I15). Default: at once. */
  readonly deletions?: DeletionPause;
  /** Most logical bytes that an organization may scan in a month (D26). Default: the setting. */
  readonly monthlyScanBytesOf?: (organizationId: string) => number;
  /** Retention and the hot store. Default: everything is kept, and nothing is in the hot store. */
  readonly standingRulesOf?: StandingRulesOf;
  readonly settings?: Partial<TabularSettings>;
  /** The child's environment. Default: this process's. MALLOC_ARENA_MAX=2 saves it about 20 MB on glibc. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Commits are told to the child at most this often; a query tells it more. */
const wakeEveryMs = 5;

/** A snapshot can be overtaken by a merge or a restart, but not so often in a row. */
const maxStale = 8;

export function createTabular(options: TabularOptions): Tabular {
  const { dataDir, db, ingestLog, clock, log, deletions = createDeletionPause() } = options;
  const settings: TabularSettings = { ...defaultTabularSettings, ...options.settings };
  const monthlyBytesOf = options.monthlyScanBytesOf ?? (() => settings.monthlyScanBytes);
  const { standingRulesOf = noStandingRules, organizationOf = () => undefined } = options;
  const parquetDir = join(dataDir, 'parquet');
  const catalog = createCatalog(db);
  const meter = createScanMeter({ db, clock, monthlyBytesOf });
  const pins = createPins();
  const queue = createFairQueue({ slots: settings.concurrentQueries, maxWaiting: settings.waitingQueries });
  const stop = new AbortController();
  const sealedListeners = new Set<(position: number) => void>();
  let sealed = 0;
  let hot = { position: 0, hotRows: 0, hotBytes: 0 };
  /** By position: how many of the row's readings are missing; null: all. */
  const damaged = new Map<number, number | null>();
  let listing: Promise<void> = Promise.resolve();
  let child: Child | undefined;
  let commits: Disposable | undefined;
  let wakeDue = false;

  const running = (): Child => {
    if (child === undefined) throw new PlatformError('unavailable', 'the tabular store was not started yet');
    return child;
  };
  const questions = createQuestions({ child: running, clock, killAfterMs: settings.killAfterMs });

  const rewrites = createRewrites({
    ...{ child: running, catalog, pins, deletions, settings, clock, log },
    unlink: (file) => rm(join(parquetDir, file), { force: true }),
    stopping: stop.signal,
  });

  const older = createWriteAnew({ catalog, rewrites, clock, log });
  const measure = createMeasure({ child: running, catalog });
  const removeDeleted = createRemoveDeleted({ catalog, rewrites });
  const health = createFileHealth({ db, catalog, clock, log });
  const scrub = createScrub({ child: running, catalog, health, settings, clock, log });
  /** What each file's bytes have to be is told to a child once. */
  const told = new Set<string>();
  let checking: Promise<void> = Promise.resolve();
  const checked = (file: string, found: FoundFile): void => {
    checking = checking
      .then(() => health.found(file, found))
      .catch((caught: unknown) =>
        log.error('what was found of a file was not kept', { file, error: errorText(caught) }),
      );
  };

  const tellFlip = (): void => child?.send({ kind: 'flipped', sealed, dropUpTo: pins.least(sealed) });

  /** One seal after the other; a catalog that cannot be written is tried again, because the child holds the rows until then. */
  const list = async (files: readonly SealedFile[], upTo: number): Promise<void> => {
    for (let failures = 0; !stop.signal.aborted; ) {
      try {
        await catalog.list(files, upTo, clock.now());
        break;
      } catch (caught) {
        if (caught instanceof PlatformError && caught.code === 'aborted') break;
        failures++;
        log.error('listing sealed files failed, trying again', { error: errorText(caught), failures });
        await clock.sleep(backoffMs(failures), stop.signal).catch(() => {});
      }
    }
    if (stop.signal.aborted) return;
    sealed = Math.max(sealed, upTo);
    tellFlip();
    for (const listener of sealedListeners) listener(sealed);
    void rewrites.merge();
  };

  const noteLoss = (damage: LogDamage): void => {
    ingestLog
      .noteLoss('readings', damage)
      .catch((caught: unknown) =>
        log.error('a loss was not written down', { position: damage.first, error: errorText(caught) }),
      );
  };

  const onMessage = (message: FromChild): void => {
    switch (message.kind) {
      case 'loaded':
        hot = message;
        return;
      case 'damaged': {
        const { position, reason, readings } = message;
        damaged.set(position, readings);
        if (readings === null)
          log.error('a row of the ingest log could not be loaded; it is kept and passed by', { position, reason });
        else
          log.error(
            'readings of a row of the ingest log could not be loaded; the row is kept, its other readings are there',
            {
              position,
              readings,
              reason,
            },
          );
        ingestLog
          .markDamaged(position, reason)
          .catch((caught: unknown) =>
            log.error('marking a damaged row failed', { position, error: errorText(caught) }),
          );
        return;
      }
      case 'lost':
        noteLoss(message.damage);
        return;
      case 'sealed':
        listing = listing.then(() => list(message.files, message.upTo));
        return;
      case 'measured':
        measure.answered(message);
        return;
      case 'rewritten':
        listing = listing.then(() => rewrites.answered(message));
        return;
      case 'checked':
        checked(message.file, message.found);
        return;
      case 'scrubbed':
        scrub.answered(message);
        return;
      case 'log':
        log[message.level](message.message, message.fields);
        return;
      default:
        questions.onMessage(message);
    }
  };

  const prepare = async () => {
    // A seal that the dead child reported is listed before anything is swept.
    await listing;
    sealed = await catalog.sealedPosition();
    hot = { position: sealed, hotRows: 0, hotBytes: 0 };
    // A backup may be copying what was unlisted since it began; what stays goes with the next start.
    // What a damaged catalog does not list may be all that is left of it.
    const wrong = await catalog.findings();
    for (const { text } of wrong)
      log.error('the catalog is damaged; files that it does not list stay', { found: text });
    const [next] = await ingestLog.follow(sealed, { rows: 1, bytes: 1 });
    if (next?.damage !== undefined) noteLoss(next.damage);
    // What is lost from the log may still be in files that a catalog which lost its end does not list.
    const isLost = ingestLog.losses().some(({ lossIn, acceptedMs }) => lossIn === 'readings' && acceptedMs === null);
    if (isLost) log.warn('files that the catalog does not list stay: they may hold what the ingest log lost');
    const removed =
      deletions.held || wrong.length > 0 || isLost
        ? []
        : await deletions.run(async () => removeUnlisted(parquetDir, await catalog.fileNames()));
    if (removed.length > 0) log.warn('removed files that a crash left unlisted', { files: removed.length });
    const { database } = options;
    const logSource = database === undefined ? { file: join(dataDir, 'ingest.sqlite') } : { database };
    return { kind: 'init' as const, logSource, parquetDir, sealed, settings };
  };

  const tellOnce = ({ file, format, captureDay, expected }: FileRef): FileRef => {
    const isNew = !told.has(file);
    told.add(file);
    return { file, format, captureDay, ...(isNew && expected && { expected }) };
  };

  const answer = async (
    request: QueryRequest,
    startedMs: number,
    endMs: number,
    signal: AbortSignal,
  ): Promise<QueryResult | 'again' | 'died' | { readonly older: readonly string[] }> => {
    const { scope, vocabulary } = request;
    const plan = foldConstants(request.plan, clock.now());
    const slot = await queue.enter(scope.organizationId, signal);
    const pin = pins.hold(sealed);
    let ended = Promise.resolve();
    try {
      // With a damaged catalog no child starts; this says why.
      if (running().state !== 'running') await catalog.sealedPosition();
      await running().ready(signal);
      const nowMs = clock.now();
      const rules = await standingRulesOf(scope.organizationId, nowMs);
      const snapshot = await catalog.open(scope.organizationId);
      // Read after the snapshot: what is committed up to here is either in its files or hot.
      const upTo = Math.max(snapshot.sealed, ingestLog.lastPosition());
      const { exactTimes } = request;
      const stored = storedFilter(pathFilter(plan));
      const filter = exactTimes === undefined ? stored : { ...stored, times: exactTimes };
      const sources = sourcesOf(plan);
      const requireWhole = (): void => {
        if (sources.length > 0) requireNoneLost(ingestLog.losses(), scope, filter, organizationOf);
      };
      requireWhole();
      // A plan reads one of the two: no language names both.
      const source = sources.includes('hot') ? 'hot' : 'readings';
      const deletes = concerning(deletesFor(source, snapshot.deletes, rules, nowMs), filter);
      const files = sources.includes(source)
        ? snapshot.files.filter((file) => mayHoldRows(file, scope, filter) && !isWhollyDeleted(file, deletes))
        : [];
      const before = files.filter(({ format }) => format < parquetFormat);
      if (before.length > 0) {
        const damages = new Map((await health.damaged()).map(({ file, reason }) => [file, reason]));
        const broken = before.find(({ file }) => damages.has(file));
        if (broken !== undefined) throw damagedFile(broken, damages.get(broken.file) ?? '');
        return { older: before.map(({ file }) => file) };
      }
      const fileBytes = files.reduce((sum, file) => sum + file.logicalBytes, 0);
      const reservation = request.unmetered ? noReservation : await meter.reserve(scope.organizationId, fileBytes);
      let scannedBytes = 0;
      try {
        // The child may have died meanwhile; what is sent while there is none is lost.
        await running().ready(signal);
        const question = questions.ask(
          {
            scope,
            filter,
            vocabulary,
            files: files.map(tellOnce),
            deletes,
            // What reads no table reads no hot rows, and is not metered with them.
            after: sources.length > 0 ? snapshot.sealed : upTo,
            upTo,
            plan: encodePlan(plan),
            deadlineMs: Math.max(1, endMs - clock.monotonic()),
            maxResultBytes: settings.maxResultBytes,
            pushDown: exactTimes === undefined && (request.pushDown ?? true),
            exactTimes: exactTimes !== undefined,
          },
          signal,
        );
        ended = question.ended;
        const result = await question.answered;
        if (result.kind === 'stale') {
          const { missing } = result;
          const lost = files.find(({ file }) => file === missing);
          // What was merged meanwhile is not listed any more.
          if (lost === undefined || !(await catalog.isListed(lost.file))) return 'again';
          await health.found(lost.file, { kind: 'missing' });
          throw damagedFile(lost, fileIsMissing);
        }
        if (result.kind === 'died') return 'died';
        scannedBytes = result.scannedBytes;
        if (result.kind === 'failed') throw result.error;
        // What was found while the rows were loaded came before the answer.
        requireWhole();
        const elapsedMs = clock.monotonic() - startedMs;
        const answered = { ...result.batch, scannedBytes, upTo, elapsedMs };
        if (request.explain !== true) return answered;
        const listed = { all: snapshot.files.length, read: files.length };
        return { ...answered, explain: explainOf(request, listed, result.sources, answered) };
      } finally {
        await reservation.settle(scannedBytes);
      }
    } finally {
      void ended.then(() => {
        slot[Symbol.dispose]();
        pin.release();
        if (pins.least(sealed) > pin.position) tellFlip();
      });
    }
  };

  const tabular: Tabular = {
    async start() {
      await mkdir(parquetDir, { recursive: true });
      const proven = await settleCatalog(db);
      if (proven !== undefined && proven > 0)
        log.info('the rows of the catalog have their checksums now', { files: proven });
      sealed = await catalog.sealedPosition().catch((caught: unknown) => {
        log.error('the catalog is damaged: no query is answered', { error: errorText(caught) });
        return 0;
      });
      const { environment } = options;
      child = startChild({
        prepare,
        onMessage,
        onDeath() {
          questions.onDeath();
          rewrites.onDeath();
          measure.onDeath();
          scrub.onDeath();
          told.clear();
        },
        clock,
        log,
        ...(environment && { environment }),
      });
      await older.start();
      scrub.start();
      commits = ingestLog.onCommit((position) => {
        if (wakeDue) return;
        wakeDue = true;
        void clock.sleep(wakeEveryMs).then(() => {
          wakeDue = false;
          child?.send({ kind: 'committed', position });
        });
      });
    },

    async query(request) {
      const deadlineMs = Math.min(request.deadlineMs ?? settings.deadlineMs, settings.deadlineMs);
      const startedMs = clock.monotonic();
      const endMs = startedMs + deadlineMs;
      const timeout = new AbortController();
      const late = new PlatformError('deadline_exceeded', `the query did not end within ${deadlineMs / 1_000} s`);
      const over = new AbortController();
      clock.sleep(deadlineMs, over.signal).then(
        () => timeout.abort(late),
        () => {},
      );
      const signals = [timeout.signal, stop.signal, ...(request.signal ? [request.signal] : [])];
      const signal = AbortSignal.any(signals);
      try {
        let deaths = 0;
        for (let stale = 0; ; stale++) {
          if (stale > maxStale) {
            throw new PlatformError(
              'unavailable',
              'the sealed files changed again and again while they were read; try again',
            );
          }
          const result = await answer(request, startedMs, endMs, signal);
          // Neither a place in the queue nor a snapshot is held meanwhile.
          if (typeof result === 'object' && 'older' in result) {
            await older.replaced(result.older, signal);
            stale = -1;
            continue;
          }
          if (typeof result === 'object') return result;
          if (result === 'died' && ++deaths > 1) {
            throw new PlatformError(
              'unavailable',
              'the query process died twice over this query; try again, with $limit (LIMIT) or a shorter time_received range if it happens again',
            );
          }
          signal.throwIfAborted();
        }
      } catch (caught) {
        throw caught instanceof QueryError ? caught.toPlatformError() : asPlatformError(caught);
      } finally {
        over.abort();
      }
    },

    deleteRows: createDeleteRows({ catalog, clock, query: (request) => tabular.query(request) }),

    deletedReadings: (upload) => deletedReadings(db, upload),

    async removeDeleted(organizationId, signal) {
      const nowMs = clock.now();
      return removeDeleted(organizationId, await standingRulesOf(organizationId, nowMs), nowMs, signal);
    },
    organizations: catalog.organizations,
    bytesByDay: measure.bytesByDay,
    sealedPosition: () => sealed,
    onSealed(listener) {
      sealedListeners.add(listener);
      return { [Symbol.dispose]: () => void sealedListeners.delete(listener) };
    },
    lag: () => ({ committedPosition: ingestLog.lastPosition(), loadedPosition: hot.position, sealedPosition: sealed }),

    async status() {
      return {
        ...this.lag(),
        ...(await catalog.totals()),
        process: child?.state ?? 'stopped',
        processId: child?.processId,
        restarts: child?.restarts ?? 0,
        hotRows: hot.hotRows,
        hotBytes: hot.hotBytes,
        damagedRows: damaged.size,
        damagedReadings: [...damaged.values()].reduce<number>((sum, readings) => sum + (readings ?? 0), 0),
        runningQueries: questions.running,
      };
    },

    async seal() {
      const upTo = ingestLog.lastPosition();
      while (sealed < upTo) {
        stop.signal.throwIfAborted();
        running().send({ kind: 'committed', position: upTo });
        if (hot.position >= upTo) running().send({ kind: 'seal' });
        await clock.sleep(20, stop.signal);
      }
      return sealed;
    },

    async loadAgain() {
      const { restarts } = running();
      const isThere = running().processId !== undefined;
      running().kill();
      // One that is being started reads the log only from here on.
      while (isThere && running().restarts === restarts) await clock.sleep(10, stop.signal);
      await running().ready(stop.signal);
      return sealed;
    },

    damage: () => readDamage(db),

    killProcess: () => child?.kill(),

    async [Symbol.asyncDispose]() {
      commits?.[Symbol.dispose]();
      stop.abort(new PlatformError('unavailable', 'the cloud is stopping'));
      const stopped = Promise.all([older[Symbol.asyncDispose](), scrub[Symbol.asyncDispose]()]);
      await child?.[Symbol.asyncDispose]();
      await stopped;
      await listing;
      await checking;
    },
  };
  return tabular;
}
