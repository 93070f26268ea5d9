/**
 * What triggers are told at times: checks of the log (D22), and that time has passed. It runs in the loop that follows the ingest log, so
 * that the state of a trigger has one writer, and silence is judged only when everything that was accepted has been seen.
 *
 * When a part is due is kept in memory: at the start, every part with triggers is.
 */
import { asPlatformError, type Clock, type Log } from '@platform/base';
import type { Kysely } from 'kysely';
import type { ArrivedLine } from '../machines/logs/arrived.ts';
import type { EventPlace, Message } from '../outbox/event.ts';
import type { CompiledTriggers } from './compiled-triggers.ts';
import { evaluate, type TriggerState } from './evaluate.ts';
import type { LogsInput, PartFacts, UploadInput } from './input.ts';
import { seriesName } from './kinds/machine-facts.ts';
import { messagesOf } from './messages-of.ts';
import { StoredTriggers } from './state.ts';
import type { TriggersTables } from './store.ts';
import type { Trigger } from './trigger.ts';

export interface TimesDeps {
  /** Undefined for a deleted part. */
  readonly placeOf: (partId: string) => EventPlace | undefined;
  readonly factsOf: (partId: string) => Promise<Omit<PartFacts, 'arrivedMs'>>;
  readonly logs: {
    newest(partId: string): Promise<number>;
    after(
      partId: string,
      of: { afterId: number; upToId: number; levels: readonly string[]; limit: number },
    ): Promise<ArrivedLine[]>;
  };
}

export interface CheckedTimes {
  readonly messages: readonly Message[];
  /** Of each part with changes. */
  readonly stored: readonly StoredTriggers[];
  readonly more: boolean;
}

export interface Times {
  start(): Promise<void>;
  /** Something of the part has changed: its triggers are asked again when they are due. */
  touch(partId: string): void;
  /** An upload of the part arrived. Kept in memory: after a restart, silence counts from then on. */
  arrived(partId: string, upload: UploadInput): void;
  /** The configuration of the part is being changed by a transaction that may not be over yet. */
  changing(partId: string): void;
  /** @param asOfMs see `followLog` */
  check(asOfMs: number | undefined): Promise<CheckedTimes>;
}

/** A call does as much, so that it never holds up the uploads for long. */
const maxCheckMs = 10;
const pageLines = 1_000;
const againMs = 1_000;
/** How often facts are looked at. */
const factsMs = 5_000;
/** Longer than any transaction that changes a configuration. */
const changingMs = 30_000;

export function createTimes(deps: {
  readonly db: Kysely<TriggersTables>;
  readonly compiled: CompiledTriggers;
  readonly times: TimesDeps;
  readonly clock: Clock;
  readonly log: Log;
}): Times {
  const { db, compiled, times, clock, log } = deps;
  const due = new Map<string, number>();
  const changing = new Map<string, number>();
  const arrivals = new Map<string, Map<string, number>>();
  let listeningSinceMs = clock.now();

  const logsInput = async (partId: string, place: EventPlace, trigger: Trigger, before: TriggerState) => {
    const newestId = await times.logs.newest(partId);
    let state = before;
    const { afterId: known } = state.rule as { afterId?: number };
    // Ids begin again when a store has lost all its lines.
    let afterId = known === undefined || known > newestId ? 0 : known;
    const common = { kind: 'logs', atMs: clock.now(), place, newestId } as const;
    for (;;) {
      const page =
        known === undefined
          ? []
          : await times.logs.after(partId, {
              ...{ afterId, upToId: newestId, limit: pageLines },
              levels: trigger.event.logLevels ?? [],
            });
      const input: LogsInput = { ...common, lines: page, isLast: page.length < pageLines };
      const evaluated = evaluate(trigger, state, input);
      if (input.isLast) return evaluated;
      state = evaluated.state;
      afterId = page.at(-1)?.id ?? afterId;
    }
  };

  const evaluated = async (
    partId: string,
    place: EventPlace,
    trigger: Trigger,
    state: TriggerState,
    asOfMs: number,
  ) => {
    if (trigger.event.timed === 'logs') return logsInput(partId, place, trigger, state);
    if (trigger.event.timed === 'facts') {
      const ofPart = arrivals.get(partId);
      const arrivedMs: PartFacts['arrivedMs'] = (series) => ofPart?.get(seriesName(series));
      const facts = { ...(await times.factsOf(partId)), arrivedMs };
      return evaluate(trigger, state, { kind: 'facts', atMs: clock.now(), listeningSinceMs, place, facts });
    }
    return evaluate(trigger, state, { kind: 'time', atMs: asOfMs, listeningSinceMs, place });
  };

  const checkPart = async (partId: string, asOfMs: number | undefined, messages: Message[]) => {
    const nowMs = clock.now();
    const rules = await compiled.of(partId);
    const place = times.placeOf(partId);
    if (rules === undefined || place === undefined || rules.timed.length === 0) {
      due.delete(partId);
      return undefined;
    }
    const stored = await StoredTriggers.load(db, new Map([[partId, new Set(rules.timed.map(({ name }) => name))]]));
    let nextMs = Number.POSITIVE_INFINITY;
    for (const trigger of rules.timed) {
      const state = stored.of(partId, trigger.name);
      const dueMs = trigger.event.dueMs?.(state.rule);
      // While the follower is behind, silence says nothing.
      const mayJudge = trigger.event.timed !== 'time' || asOfMs !== undefined;
      if (dueMs !== undefined && dueMs <= nowMs && mayJudge) {
        try {
          const next = await evaluated(partId, place, trigger, state, asOfMs ?? nowMs);
          messages.push(...next.decisions.flatMap((decision) => messagesOf(partId, trigger, decision)));
          stored.set(partId, trigger.name, next.state);
        } catch (caught) {
          // One trigger must not hold up the others.
          log.error('a trigger could not be checked; it is tried again', {
            ...{ partId, trigger: trigger.name, error: asPlatformError(caught).message },
          });
        }
      }
      const afterMs = trigger.event.dueMs?.(stored.of(partId, trigger.name).rule);
      if (afterMs !== undefined)
        nextMs = Math.min(nextMs, Math.max(afterMs, nowMs + (trigger.event.timed === 'facts' ? factsMs : againMs)));
    }
    if (nextMs === Number.POSITIVE_INFINITY) due.delete(partId);
    else due.set(partId, nextMs);
    return stored.hasChanged ? stored : undefined;
  };

  return {
    async start() {
      listeningSinceMs = clock.now();
      const rows = await db.selectFrom('trigger_starts').select('part_id').distinct().execute();
      for (const { part_id: partId } of rows) due.set(partId, 0);
    },
    touch: (partId) => void due.set(partId, 0),
    arrived(partId, { metadata, atMs }) {
      const ofPart = arrivals.get(partId) ?? new Map<string, number>();
      arrivals.set(partId, ofPart);
      ofPart.set(seriesName(metadata), atMs);
    },
    changing(partId) {
      due.set(partId, 0);
      changing.set(partId, clock.monotonic() + changingMs);
    },
    async check(asOfMs) {
      const messages: Message[] = [];
      const changed: StoredTriggers[] = [];
      const startedAtMs = clock.monotonic();
      const nowMs = clock.now();
      let more = false;
      for (const [partId, untilMs] of changing) {
        if (untilMs < startedAtMs) changing.delete(partId);
        due.set(partId, 0);
      }
      for (const [partId, dueMs] of [...due]) {
        if (dueMs > nowMs) continue;
        more = clock.monotonic() - startedAtMs >= maxCheckMs;
        if (more) break;
        const stored = await checkPart(partId, asOfMs, messages);
        if (stored !== undefined) changed.push(stored);
      }
      return { messages, stored: changed, more };
    },
  };
}
