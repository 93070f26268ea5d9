/** Passes timed inputs to a trigger: lines of the log, facts about the machine, or that time has passed. */

import type { Clock } from '@platform/base';
import type { MachineLogs } from '../../machines/logs/logs.ts';
import type { EventPlace } from '../../outbox/event.ts';
import { type Evaluated, evaluate, type TriggerState } from '../evaluate.ts';
import type { LogsInput, PartFacts } from '../input.ts';
import type { Trigger } from '../trigger.ts';
import type { Arrivals } from './arrivals.ts';

export interface TimedSources {
  readonly factsOf: (partId: string) => Promise<Omit<PartFacts, 'arrivedMs'>>;
  readonly logs: Pick<MachineLogs, 'newest' | 'after'>;
}

export interface TimedQuestion {
  readonly place: EventPlace;
  readonly trigger: Trigger;
  readonly state: TriggerState;
  /** Time up to which silence can be judged, ms. */
  readonly asOfMs: number;
  readonly listeningSinceMs: number;
}

const pageLines = 1_000;

/** @throws if the log or the facts cannot be read */
export async function evaluateTimed(
  { sources, arrivals, clock }: { sources: TimedSources; arrivals: Arrivals; clock: Clock },
  { place, trigger, state, asOfMs, listeningSinceMs }: TimedQuestion,
): Promise<Evaluated> {
  const { partId } = place;
  switch (trigger.event.timed) {
    case 'logs':
      return await evaluateLogs(sources.logs, place, trigger, state, clock.now());
    case 'facts': {
      const facts = { ...(await sources.factsOf(partId)), arrivedMs: arrivals.of(partId) };
      return evaluate(trigger, state, { kind: 'facts', atMs: clock.now(), listeningSinceMs, place, facts });
    }
    default:
      return evaluate(trigger, state, { kind: 'time', atMs: asOfMs, listeningSinceMs, place });
  }
}

async function evaluateLogs(
  logs: TimedSources['logs'],
  place: EventPlace,
  trigger: Trigger,
  before: TriggerState,
  atMs: number,
): Promise<Evaluated> {
  const { partId } = place;
  const newestId = await logs.newest(partId);
  let state = before;
  const { afterId: known } = state.rule as { afterId?: number };
  // Ids start over when a store has lost all its lines.
  let afterId = known === undefined || known > newestId ? 0 : known;
  const levels = trigger.event.logLevels ?? [];
  for (;;) {
    const lines =
      known === undefined ? [] : await logs.after(partId, { afterId, upToId: newestId, limit: pageLines, levels });
    const input: LogsInput = { kind: 'logs', atMs, place, newestId, lines, isLast: lines.length < pageLines };
    const evaluated = evaluate(trigger, state, input);
    if (input.isLast) return evaluated;
    state = evaluated.state;
    afterId = lines.at(-1)?.id ?? afterId;
  }
}
