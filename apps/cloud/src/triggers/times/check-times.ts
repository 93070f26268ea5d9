/**
 * Timed inputs of triggers: checks of the log (D22), and the passing of time. Runs in the loop that follows the ingest log, so that the
 * state of a trigger has one writer, and absence is judged only when everything that was accepted has been seen.
 *
 * When each part is due is kept in memory: at a start, every part with triggers is due.
 */
import { asPlatformError, type Clock, type Log } from '@platform/base';
import type { EventPlace, Message } from '../../outbox/event.ts';
import type { CompiledTriggers, PartRules } from '../compiled-triggers.ts';
import { TriggerHistory } from '../history/trigger-history.ts';
import type { UploadInput } from '../input.ts';
import { messagesOf } from '../messages-of.ts';
import { StoredTriggers } from '../state.ts';
import type { TriggersDatabase } from '../store.ts';
import { Arrivals } from './arrivals.ts';
import { evaluateTimed, type TimedSources } from './evaluate-timed.ts';

export interface TimesDeps extends TimedSources {
  /** Undefined for a deleted part. */
  readonly placeOf: (partId: string) => EventPlace | undefined;
}

export interface CheckedTimes {
  readonly messages: readonly Message[];
  /** One per part with changes. */
  readonly stored: readonly StoredTriggers[];
  readonly history: TriggerHistory;
  readonly more: boolean;
}

export interface Times {
  start(): Promise<void>;
  /** Something about the part has changed: the due times of its triggers are computed again. */
  touch(partId: string): void;
  /** An upload of the part arrived. Kept in memory: after a restart, silence is measured from then on. */
  arrived(partId: string, upload: UploadInput): void;
  /** A transaction that may not have ended is changing the configuration of the part. */
  changing(partId: string): void;
  /** @param asOfMs see `followLog` */
  check(asOfMs: number | undefined): Promise<CheckedTimes>;
}

/** Time that one call may take, so that it never holds up the uploads for long. */
const maxCheckMs = 10;
const againMs = 1_000;
/** Interval between checks of facts. */
const factsMs = 5_000;
/** A smaller jump is drift, or a thread that was not scheduled between two readings of the clocks. */
const leastJumpMs = 5_000;
/** Longer than any transaction that changes a configuration. */
const changingMs = 30_000;

export function createTimes(deps: {
  readonly db: TriggersDatabase;
  readonly compiled: CompiledTriggers;
  readonly times: TimesDeps;
  readonly clock: Clock;
  readonly log: Log;
}): Times {
  const { db, compiled, times, clock } = deps;
  const due = new Map<string, number>();
  const changing = new Map<string, number>();
  const arrivals = new Arrivals();
  let listeningSinceMs = clock.now();
  /** How far the wall clock is ahead of the monotonic one. */
  let aheadMs = clock.now() - clock.monotonic();

  /**
   * If the clock has jumped, as after a suspension, it is unknown how long something has been silent: silence is then measured from the
   * jump.
   */
  const noticeJump = (nowMs: number, monotonicMs: number): void => {
    const jumpedMs = nowMs - monotonicMs - aheadMs;
    aheadMs += jumpedMs;
    if (Math.abs(jumpedMs) < leastJumpMs) return;
    listeningSinceMs = nowMs;
    arrivals.clear();
    for (const partId of due.keys()) due.set(partId, 0);
  };

  const checkPart = async (partId: string, asOfMs: number | undefined, effects: Effects): Promise<void> => {
    const rules = await compiled.of(partId);
    const place = times.placeOf(partId);
    if (rules === undefined || place === undefined || rules.timed.length === 0) {
      due.delete(partId);
      return;
    }
    const part = { place, rules, asOfMs, listeningSinceMs };
    const { stored, nextMs } = await checkTriggers({ ...deps, arrivals }, part, effects);
    if (nextMs === undefined) due.delete(partId);
    else due.set(partId, nextMs);
    if (stored.hasChanged) effects.stored.push(stored);
  };

  return {
    async start() {
      listeningSinceMs = clock.now();
      const rows = await db.selectFrom('trigger_starts').select('part_id').distinct().execute();
      for (const { part_id: partId } of rows) due.set(partId, 0);
    },
    touch: (partId) => void due.set(partId, 0),
    arrived: (partId, upload) => arrivals.arrived(partId, upload),
    changing(partId) {
      due.set(partId, 0);
      changing.set(partId, clock.monotonic() + changingMs);
    },
    async check(asOfMs) {
      const effects: Effects = { messages: [], stored: [], history: new TriggerHistory() };
      const startedAtMs = clock.monotonic();
      const nowMs = clock.now();
      noticeJump(nowMs, startedAtMs);
      let more = false;
      for (const [partId, untilMs] of changing) {
        if (untilMs < startedAtMs) changing.delete(partId);
        due.set(partId, 0);
      }
      for (const [partId, dueMs] of [...due]) {
        if (dueMs > nowMs) continue;
        more = clock.monotonic() - startedAtMs >= maxCheckMs;
        if (more) break;
        await checkPart(partId, asOfMs, effects);
      }
      return { ...effects, more };
    },
  };
}

interface Effects {
  readonly messages: Message[];
  readonly stored: StoredTriggers[];
  readonly history: TriggerHistory;
}

/** @returns `nextMs`: when the part is due again; undefined: not before something changes */
async function checkTriggers(
  deps: Parameters<typeof createTimes>[0] & { readonly arrivals: Arrivals },
  part: {
    readonly place: EventPlace;
    readonly rules: PartRules;
    readonly asOfMs: number | undefined;
    readonly listeningSinceMs: number;
  },
  effects: Effects,
): Promise<{ readonly stored: StoredTriggers; readonly nextMs: number | undefined }> {
  const { db, times: sources, arrivals, clock, log } = deps;
  const { place, rules, asOfMs, listeningSinceMs } = part;
  const { partId, organizationId } = place;
  const nowMs = clock.now();
  const stored = await StoredTriggers.load(db, new Map([[partId, new Set(rules.timed.map(({ name }) => name))]]));
  let nextMs: number | undefined;
  for (const trigger of rules.timed) {
    const state = stored.of(partId, trigger.name);
    const dueMs = trigger.event.dueMs?.(state.rule, nowMs);
    // While the follower is behind, silence means nothing.
    const mayJudge = trigger.event.timed !== 'time' || asOfMs !== undefined;
    if (dueMs !== undefined && dueMs <= nowMs && mayJudge) {
      const historyPlace = { organizationId, partId, triggerName: trigger.name };
      try {
        const question = { place, trigger, state, asOfMs: asOfMs ?? nowMs, listeningSinceMs };
        const next = await evaluateTimed({ sources, arrivals, clock }, question);
        effects.messages.push(...next.decisions.flatMap((decision) => messagesOf(partId, trigger, decision)));
        for (const decision of next.decisions) effects.history.decided(historyPlace, decision);
        stored.set(partId, trigger.name, next.state);
      } catch (caught) {
        // One trigger must not hold up the others.
        const error = asPlatformError(caught).message;
        effects.history.failed(historyPlace, nowMs, error);
        log.error('a trigger could not be checked; trying again', { partId, trigger: trigger.name, error });
      }
    }
    const afterMs = trigger.event.dueMs?.(stored.of(partId, trigger.name).rule, nowMs);
    const againAtMs = nowMs + (trigger.event.timed === 'facts' ? factsMs : againMs);
    if (afterMs !== undefined) nextMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, Math.max(afterMs, againAtMs));
  }
  return { stored, nextMs };
}
