/**
 * One attempt at a query: a place in the queue, a snapshot of the catalog, the files that may hold its rows, and a query to the child. If a
 * merge or the child's death intervenes, the result says so and the caller retries.
 */
import type { Clock } from '@platform/base';
import { encodePlan, foldConstants, isLinear, type Plan, pathFilter, sourcesOf, splitPlan } from '@platform/query';
import type { IngestLog } from '../../ingest/log/log.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { proofDaysOf } from '../catalog/proof-days.ts';
import { mayHoldRows } from '../catalog/row-filter.ts';
import type { Seals } from '../catalog/seals.ts';
import type { SnapshotLeases } from '../catalog/snapshot-leases.ts';
import type { Child } from '../child/child.ts';
import type { ChildQueries } from '../child/child-queries.ts';
import { isWhollyDeleted } from '../deletion/coverage.ts';
import { deletesConcerning, deletesFor, type StandingRulesOf } from '../deletion/standing-rules.ts';
import { damagedFile, fileIsMissing } from '../integrity/damaged-file.ts';
import type { FileHealth } from '../integrity/file-health.ts';
import { requireNoneLost } from '../integrity/lost-uploads.ts';
import type { FileRef } from '../process/messages.ts';
import { isFactsOnly } from '../process/pushdown/groups/facts-only.ts';
import type { TabularSettings } from '../settings.ts';
import type { QueryRequest, QueryResult } from '../tabular.ts';
import type { FairQueue } from './fair-queue.ts';
import { monthWith, noReservation, type ScanMeter } from './scan-meter.ts';
import { storedFilter } from './stored-filter.ts';
import { summarizeExplain } from './summarize-explain.ts';

export interface AnswerQueryDeps {
  readonly child: () => Child;
  readonly questions: Pick<ChildQueries, 'ask'>;
  readonly catalog: Pick<Catalog, 'open' | 'sealedPosition' | 'isListed'>;
  readonly seals: Pick<Seals, 'position'>;
  readonly leases: SnapshotLeases;
  readonly queues: Queues;
  readonly meter: ScanMeter;
  readonly health: Pick<FileHealth, 'damaged' | 'found'>;
  readonly ingestLog: Pick<IngestLog, 'lastPosition' | 'losses'>;
  readonly standingRulesOf: StandingRulesOf;
  readonly organizationOf: (partId: string) => string | undefined;
  readonly settings: TabularSettings;
  readonly clock: Clock;
  /** Informs the child which rows it may drop. */
  readonly announceSwitch: () => void;
}

/** Counts take milliseconds. They have their own queue, so that they do not wait for queries that read rows. */
export interface Queues {
  readonly ofFacts: FairQueue;
  readonly ofRows: FairQueue;
}

/** again: a merge removed a needed file. died: the child died. */
export type Attempt = QueryResult | 'again' | 'died';

export interface AnswerQuery {
  attempt(request: QueryRequest, startedMs: number, endMs: number, signal: AbortSignal): Promise<Attempt>;
  /** Forgets what the dead child knew about files. */
  onDeath(): void;
}

export function createAnswerQuery(deps: AnswerQueryDeps): AnswerQuery {
  const { questions, catalog, seals, leases, queues, meter, health, ingestLog, settings, clock, announceSwitch } = deps;
  const { child: running, standingRulesOf, organizationOf } = deps;
  /** Files whose checksums the current child already knows. */
  const told = new Set<string>();

  const tellOnce = ({ file, format, captureDay, timeReceived, expected }: FileRef): FileRef => {
    const isNew = !told.has(file);
    told.add(file);
    return {
      file,
      format,
      captureDay,
      ...(isNew && timeReceived && { timeReceived }),
      ...(isNew && expected && { expected }),
    };
  };

  const attempt: AnswerQuery['attempt'] = async (request, startedMs, endMs, signal) => {
    const { scope, vocabulary, exactTimes, arrivals } = request;
    const plan = foldConstants(request.plan, clock.now());
    const pushDown = exactTimes === undefined && arrivals === undefined && (request.pushDown ?? true);
    // I7: the answer contains what is committed up to this position. Rows that arrive while the query is queued are omitted; otherwise it,
    // and all queries behind it, would wait for them to be loaded.
    const asked = ingestLog.lastPosition();
    const queue = pushDown && isOfFacts(plan) ? queues.ofFacts : queues.ofRows;
    const slot = await queue.enter(scope.organizationId, signal);
    const lease = leases.hold(seals.position);
    let ended = Promise.resolve();
    try {
      // If the catalog is damaged, no child starts; this call throws the reason.
      if (running().state !== 'running') await catalog.sealedPosition();
      await running().ready(signal);
      const nowMs = clock.now();
      const rules = await standingRulesOf(scope.organizationId, nowMs);
      const stored = storedFilter(pathFilter(plan));
      const filter = arrivals?.filter ?? (exactTimes === undefined ? stored : { ...stored, times: exactTimes });
      const snapshot = await catalog.open(scope.organizationId, proofDaysOf(filter));
      const upTo = Math.max(snapshot.sealed, asked);
      const sources = sourcesOf(plan);
      const requireWhole = (): void => {
        if (sources.length > 0) requireNoneLost(ingestLog.losses(), scope, filter, organizationOf);
      };
      requireWhole();
      // A plan reads only one of the two: no query language can name both.
      const source = sources.includes('hot') ? 'hot' : 'readings';
      const deletes = deletesConcerning(deletesFor(source, snapshot.deletes, rules, nowMs), filter);
      const files = sources.includes(source)
        ? snapshot.files.filter((file) => mayHoldRows(file, scope, filter) && !isWhollyDeleted(file, deletes))
        : [];
      const fileBytes = files.reduce((sum, file) => sum + file.logicalBytes, 0);
      const reservation = request.unmetered ? noReservation : await meter.reserve(scope.organizationId, fileBytes);
      let scannedBytes = 0;
      try {
        // The child may have died in the meantime; messages sent while none runs are lost.
        await running().ready(signal);
        const question = questions.ask(
          {
            scope,
            filter,
            vocabulary,
            files: files.map(tellOnce),
            deletes,
            // A plan that reads no table reads no hot rows, and none are metered.
            after: sources.length > 0 ? snapshot.sealed : upTo,
            upTo,
            plan: encodePlan(plan),
            deadlineMs: Math.max(1, endMs - clock.monotonic()),
            maxResultBytes: settings.maxResultBytes,
            pushDown,
            isMetered: request.unmetered === undefined,
            exactTimes: exactTimes !== undefined,
            ...(arrivals && { arrivals: arrivals.asked }),
          },
          signal,
        );
        ended = question.ended;
        const result = await question.answered;
        if (result.kind === 'stale') {
          const { missing } = result;
          const lost = files.find(({ file }) => file === missing);
          // A file that has been merged is no longer listed.
          if (lost === undefined || !(await catalog.isListed(lost.file))) return 'again';
          await health.found(lost.file, { kind: 'missing' });
          throw damagedFile(lost, fileIsMissing);
        }
        if (result.kind === 'died') return 'died';
        scannedBytes = result.scannedBytes;
        if (result.kind === 'failed') throw result.error;
        // Losses found while the rows were loaded are known before the answer.
        requireWhole();
        const elapsedMs = clock.monotonic() - startedMs;
        const isHotUnconfigured = sources.includes('hot') && rules.recent.length === 0;
        const answered = {
          ...{ ...result.batch, scannedBytes, upTo, elapsedMs, ...monthWith(reservation, scannedBytes) },
          ...(isHotUnconfigured && { isHotUnconfigured }),
        };
        if (request.explain !== true) return answered;
        const listed = { all: snapshot.allFiles, read: files.length };
        return { ...answered, explain: summarizeExplain(request, listed, result.sources, answered) };
      } finally {
        reservation.settle(scannedBytes);
      }
    } finally {
      void ended.then(() => {
        slot[Symbol.dispose]();
        lease.release();
        if (leases.least(seals.position) > lease.position) announceSwitch();
      });
    }
  };

  return { attempt, onDeath: () => told.clear() };
}

/** Whether the plan only counts, with little work after it. */
function isOfFacts(plan: Plan): boolean {
  const whole = splitPlan(plan);
  return isFactsOnly(whole) && isLinear(whole.post);
}
