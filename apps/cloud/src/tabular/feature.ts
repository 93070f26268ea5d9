/**
 * The tabular store: readings as rows for queries, hot in a child process and sealed in Parquet files (I7–I10, I14).
 *
 * This process owns the catalog and the leases; the child owns DuckDB and the hot rows. A file belongs to the store once the catalog lists
 * it. A hot row is dropped once it is in a listed file and no open snapshot began before that.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ClockAndLog, errorText, unavailable } from '@platform/base';
import type { IngestLog } from '../ingest/log/log.ts';
import type { DeletionPause } from '../instance/deletion-pause.ts';
import type { Database } from '../metadata/tables.ts';
import { createReadArrivals } from './arrivals/read-arrivals.ts';
import { createCatalog } from './catalog/catalog.ts';
import { createSeals } from './catalog/seals.ts';
import { createSnapshotLeases } from './catalog/snapshot-leases.ts';
import { type Child, startChild } from './child/child.ts';
import { createChildMessages } from './child/child-messages.ts';
import { createChildQueries } from './child/child-queries.ts';
import { prepareChild } from './child/prepare-child.ts';
import { createCompaction } from './compaction/compaction.ts';
import { createDeleteRows } from './deletion/delete-rows.ts';
import { deletedReadings } from './deletion/deleted-readings.ts';
import { createRemoveDeleted } from './deletion/remove-deleted.ts';
import type { StandingRulesOf } from './deletion/standing-rules.ts';
import { createFileHealth } from './integrity/file-health.ts';
import { readDamage } from './integrity/read-damage.ts';
import { createScrub } from './integrity/scrub.ts';
import { createAnswerQuery, type Queues } from './query/answer-query.ts';
import { createFairQueue, type FairQueue } from './query/fair-queue.ts';
import { createMeasure } from './query/measure.ts';
import { createRetryQuery } from './query/retry-query.ts';
import { createScanMeter } from './query/scan-meter.ts';
import { defaultTabularSettings, type TabularSettings } from './settings.ts';
import type { Tabular } from './tabular.ts';

export interface TabularDeps extends ClockAndLog {
  /** Contains parquet/ (created if missing) and, unless `database` is given, ingest.sqlite. The child reads the log itself. */
  readonly dataDir: string;
  /** URL of the ingest log's database, `postgres://…`. */
  readonly database?: string | undefined;
  readonly db: Database;
  readonly ingestLog: Pick<IngestLog, 'lastPosition' | 'onCommit' | 'markDamaged' | 'recordLoss' | 'losses' | 'follow'>;
  /** Undefined: unknown, for example for a deleted part. */
  readonly organizationOf: (partId: string) => string | undefined;
  /** Files are removed within this pause, so that a backup can hold them (I15). */
  readonly deletions: DeletionPause;
  /** Monthly limit of logical bytes that an organization may scan (D26). */
  readonly monthlyScanBytesOf: (organizationId: string) => number;
  /** Called with the logical bytes that each metered query scanned. */
  readonly onScanned?: (organizationId: string, bytes: number) => void;
  /** The rules of retention and of the hot store. */
  readonly standingRulesOf: StandingRulesOf;
  readonly settings?: Partial<TabularSettings>;
  /** The program of the child. Default: the one beside this program. */
  readonly childProgram?: URL;
}

/** Minimum interval between announcements of commits to the child; each query also carries the position. */
const wakeEveryMs = 5;

/** After a query, the next one is expected within this time. */
const askedForMs = 10_000;

export function createTabular(deps: TabularDeps): Tabular {
  const { dataDir, db, ingestLog, clock, log, deletions } = deps;
  const settings: TabularSettings = { ...defaultTabularSettings, ...deps.settings };
  const { standingRulesOf, organizationOf, monthlyScanBytesOf: monthlyBytesOf } = deps;
  const parquetDir = join(dataDir, 'parquet');
  const catalog = createCatalog(db);
  const meter = createScanMeter({ db, clock, log, monthlyBytesOf, onScanned: deps.onScanned });
  const leases = createSnapshotLeases();
  const queue = (): FairQueue =>
    createFairQueue({ slots: settings.concurrentQueries, maxWaiting: settings.waitingQueries });
  const queues: Queues = { ofFacts: queue(), ofRows: queue() };
  const stop = new AbortController();
  let child: Child | undefined;
  let commits: Disposable | undefined;
  let wakeDue = false;

  const running = (): Child => {
    if (child === undefined) throw unavailable('the tabular store has not started yet');
    return child;
  };
  const questions = createChildQueries({ child: running, clock, killAfterMs: settings.killAfterMs });

  const compaction = createCompaction({
    ...{ child: running, catalog, leases, deletions, settings, clock, log },
    unlink: (file) => rm(join(parquetDir, file), { force: true }),
    stopping: stop.signal,
  });

  const measure = createMeasure({ child: running, catalog });
  const removeDeleted = createRemoveDeleted({ catalog, compaction });
  const health = createFileHealth({ db, catalog, clock, log });
  const scrub = createScrub({ child: running, catalog, health, settings, clock, log });
  const announceSwitch = (): void =>
    child?.send({ kind: 'switched', sealed: seals.position, dropUpTo: leases.least(seals.position) });
  const seals = createSeals({
    ...{ catalog, clock, log, stopping: stop.signal, switched: announceSwitch },
    merge: () => void compaction.merge(),
  });
  const listeners = new Set<() => void>();
  const messages = createChildMessages({
    ...{ ingestLog, seals, compaction, measure, scrub, health, questions, log },
    progressed() {
      for (const listener of listeners) listener();
    },
  });
  const answer = createAnswerQuery({
    ...{
      child: running,
      questions,
      catalog,
      seals,
      leases,
      queues,
      meter,
      health,
      ingestLog,
      settings,
      clock,
      announceSwitch,
    },
    ...{ standingRulesOf, organizationOf },
  });

  const repeatQuery = createRetryQuery({ answer, settings, clock, stopping: stop.signal });
  /** Monotonic time of the latest query. */
  let askedMs = Number.NEGATIVE_INFINITY;

  const tabular: Tabular = {
    async start() {
      await mkdir(parquetDir, { recursive: true });
      seals.readPosition(
        await catalog.sealedPosition().catch((caught: unknown) => {
          log.error('the catalog is damaged: no queries are answered', { error: errorText(caught) });
          return 0;
        }),
      );
      const { database, childProgram: program } = deps;
      child = startChild({
        program,
        prepare: () =>
          prepareChild({
            ...{ dataDir, parquetDir, database, settings, catalog, ingestLog, deletions, seals, messages, log },
          }),
        onMessage: messages.onMessage,
        onDeath() {
          questions.onDeath();
          compaction.onDeath();
          measure.onDeath();
          scrub.onDeath();
          answer.onDeath();
        },
        clock,
        log,
      });
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

    query(request) {
      askedMs = clock.monotonic();
      return repeatQuery(request);
    },

    arrivals: createReadArrivals({
      query: (request) => tabular.query(request),
      lastPosition: ingestLog.lastPosition,
    }),

    deleteRows: createDeleteRows({ catalog, clock, query: (request) => tabular.query(request) }),

    deletedReadings: (upload) => deletedReadings(db, upload),

    async removeDeleted(organizationId, signal) {
      const nowMs = clock.now();
      return removeDeleted(organizationId, await standingRulesOf(organizationId, nowMs), nowMs, signal);
    },
    organizations: catalog.organizations,
    bytesByDay: measure.bytesByDay,
    sealedPosition: () => seals.position,
    onSealed: seals.onSealed,
    lag: () => ({
      committedPosition: ingestLog.lastPosition(),
      loadedPosition: messages.hot.position,
      sealedPosition: seals.position,
      unsealedBytes: messages.hot.unsealedBytes,
      isAsked: questions.running > 0 || clock.monotonic() - askedMs < askedForMs,
    }),
    onProgress(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },

    async status() {
      return {
        ...this.lag(),
        ...(await catalog.totals()),
        process: child?.state ?? 'stopped',
        processId: child?.processId,
        restarts: child?.restarts ?? 0,
        hotRows: messages.hot.hotRows,
        hotBytes: messages.hot.hotBytes,
        damagedRows: messages.damaged.size,
        damagedReadings: [...messages.damaged.values()].reduce<number>((sum, readings) => sum + (readings ?? 0), 0),
        runningQueries: questions.running,
      };
    },

    async seal() {
      const upTo = ingestLog.lastPosition();
      while (seals.position < upTo) {
        stop.signal.throwIfAborted();
        running().send({ kind: 'committed', position: upTo });
        if (messages.hot.position >= upTo) running().send({ kind: 'seal' });
        await clock.sleep(20, stop.signal);
      }
      return seals.position;
    },

    sealSoon: () => child?.send({ kind: 'seal' }),

    async loadAgain() {
      const { restarts } = running();
      const isThere = running().processId !== undefined;
      running().kill();
      // A child that is still starting has not read the log yet, so it need not restart.
      while (isThere && running().restarts === restarts) await clock.sleep(10, stop.signal);
      await running().ready(stop.signal);
      return seals.position;
    },

    damage: () => readDamage(db),

    killProcess: () => child?.kill(),

    async [Symbol.asyncDispose]() {
      commits?.[Symbol.dispose]();
      stop.abort(unavailable('the cloud is stopping'));
      const stopped = scrub[Symbol.asyncDispose]();
      await child?.[Symbol.asyncDispose]();
      await stopped;
      await seals.settled();
      await messages.settled();
      await meter.settled();
    },
  };
  return tabular;
}
