/**
 * Removes data hidden by retention and deletions from the disk: readings, then binary data, one organization at a time, every ten minutes
 * and right after UTC midnight. This only frees space, because queries never see this data.
 */
import { type Clock, type ClockAndLog, errorText, follow } from '@platform/base';
import { audit } from '../access/audit.ts';
import { removeFiles } from '../binary/change/remove-files.ts';
import type { DeletionPause } from '../instance/deletion-pause.ts';
import type { Database } from '../metadata/tables.ts';
import { setDeleteUpTo } from '../tabular/catalog/catalog-rows.ts';
import { openDeletes, organizationsWithDeletes } from '../tabular/deletion/stored-deletes.ts';
import type { Tabular } from '../tabular/tabular.ts';
import { removeOrganizationData } from './delete-organization-data.ts';
import type { Retention } from './feature.ts';
import { limitTabular } from './limit-tabular.ts';
import { removeBinary } from './remove-binary.ts';
import { systemActor } from './system-actor.ts';

export interface RemoveDeps extends ClockAndLog {
  readonly db: Database;
  readonly retention: Pick<Retention, 'organizations' | 'policiesOf'>;
  readonly tabular: Pick<Tabular, 'organizations' | 'removeDeleted' | 'bytesByDay' | 'lag'>;
  readonly deletions: Pick<DeletionPause, 'held'>;
  /** Minimum time for which the wall clock must have run without a jump. Default 10 min. */
  readonly settleMs?: number;
}

const everyMs = 600_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
const lookForMidnightMs = 10_000;

/** Runs until the result is disposed, which waits for the current step. */
export function startRemoval(deps: RemoveDeps): AsyncDisposable {
  const { clock, log } = deps;
  const step = createRemoveStep(deps);
  const follower = follow({ name: 'remove expired data', idleMs: everyMs, step, clock, log });
  let day = Math.floor(clock.now() / dayMs);
  const midnight = clock.every(lookForMidnightMs, () => {
    const today = Math.floor(clock.now() / dayMs);
    if (today !== day) follower.wake();
    day = today;
  });
  return {
    async [Symbol.asyncDispose]() {
      midnight[Symbol.dispose]();
      await follower[Symbol.asyncDispose]();
    },
  };
}

/** One round. It always does everything there is to do. */
export function createRemoveStep(deps: RemoveDeps): (signal: AbortSignal) => Promise<boolean> {
  const { db, retention, tabular, deletions, clock, log } = deps;
  const isSteady = createSteadyClock(clock, deps.settleMs ?? everyMs);
  let binaryMs = Number.NEGATIVE_INFINITY;

  const removeTabular = async (organizationId: string, signal: AbortSignal): Promise<void> => {
    const nowMs = clock.now();
    const removed = await tabular.removeDeleted(organizationId, signal);
    const { droppedFiles, rewrittenFiles, complete } = removed;
    if (droppedFiles + rewrittenFiles > 0) {
      const detail = { dropped_files: droppedFiles, rewritten_files: rewrittenFiles };
      const target = ['organization', organizationId, organizationId] as const;
      await audit(db, systemActor, nowMs, 'platform.retention.tabular', target, detail);
      log.info('deleted readings were removed from the disk', { organizationId, ...detail });
    }
    if (complete) await limitTabular(deps, organizationId, await retention.policiesOf(organizationId), nowMs, signal);
  };

  return async (signal) => {
    const steady = isSteady();
    if (!steady || deletions.held) return false;
    const each: Each = async (organizationId, what) => {
      signal.throwIfAborted();
      // A failure for one organization must not affect the others.
      await what().catch((caught: unknown) => {
        if (!signal.aborted)
          log.error('removing expired data failed; trying again', { organizationId, error: errorText(caught) });
      });
    };
    await endOpenDeletions(deps, each, signal);
    for (const organizationId of await organizationsToLookAt(deps))
      await each(organizationId, () => removeTabular(organizationId, signal));
    const nowMs = clock.now();
    const isDue = nowMs - binaryMs >= hourMs || Math.floor(nowMs / dayMs) !== Math.floor(binaryMs / dayMs);
    if (!isDue) return false;
    binaryMs = nowMs;
    for (const organizationId of await retention.organizations())
      await each(organizationId, async () =>
        removeBinary(db, organizationId, await retention.policiesOf(organizationId), nowMs, signal),
      );
    return false;
  };
}

type Each = (organizationId: string, what: () => Promise<unknown>) => Promise<void>;

/** Organizations with files, and those with deletions, even if they have no files left. */
async function organizationsToLookAt({ db, tabular }: RemoveDeps): Promise<ReadonlySet<string>> {
  return new Set([...(await tabular.organizations()), ...(await organizationsWithDeletes(db))]);
}

/**
 * Ends deletions of parts and organizations that were deleted with their data. After an hour every upload admitted before has finished, so
 * the deletion covers all existing rows and can end.
 */
async function endOpenDeletions({ db, tabular, clock }: RemoveDeps, each: Each, signal: AbortSignal): Promise<void> {
  for (const { id, organizationId, predicate, createdMs } of await openDeletes(db))
    await each(organizationId, async () => {
      const { paths } = predicate;
      if (paths === undefined) await removeOrganizationData(db, organizationId, clock.now(), signal);
      for (const partId of paths?.part_id ?? []) await removeFiles(db, { organizationId, partId }, signal);
      if (clock.now() - createdMs < hourMs) return;
      const upTo = tabular.lag().committedPosition;
      await db.transaction().execute((trx) => setDeleteUpTo(trx, id, upTo));
    });
}

/** Ordinary clock corrections are smaller. */
const maxDriftMs = 60_000;

/**
 * Whether the wall clock can be trusted for irreversible actions. If a machine's clock jumps ahead by years, data is hidden until the clock
 * is corrected, but it must not be removed.
 * @returns a function: has the clock run without a jump for `settleMs`, judging by its earlier calls?
 */
function createSteadyClock(clock: Pick<Clock, 'now' | 'monotonic'>, settleMs: number): () => boolean {
  let seen = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  let since = seen.monotonicMs;
  return () => {
    const now = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
    const driftMs = now.wallMs - seen.wallMs - (now.monotonicMs - seen.monotonicMs);
    if (Math.abs(driftMs) > maxDriftMs) since = now.monotonicMs;
    seen = now;
    return now.monotonicMs - since >= settleMs;
  };
}
