/**
 * Evaluates one trigger against its inputs: the only code that decides whether it fires, live and in a dry run. Pure: it takes state and
 * time, and returns the new state and the decisions; the same inputs in the same order give the same decisions with the same ids.
 *
 *     let state = noState;
 *     for (const input of inputs) {
 *       const evaluated = evaluate(trigger, state, input);
 *       state = evaluated.state;
 *       …evaluated.decisions
 *     }
 *
 * A rule with `event.timed` also needs an input of that kind at `event.dueMs(state.rule)`.
 */
import { runToEnd, type Steps } from '@platform/base';
import type { TriggerEvent } from '../outbox/event.ts';
import type { TriggerInput } from './input.ts';
import { isThrottled, notificationKey } from './throttle.ts';
import type { Notification, Occurrence, RuleState, Trigger } from './trigger.ts';

/** The whole state of a trigger. JSON. */
export interface TriggerState {
  readonly rule: RuleState;
  /** When each notification (`notificationKey`) with an interval was last sent: time of the event, ms. */
  readonly notified: Readonly<Record<string, number>>;
  /** The notifications (`notificationKey`) sent when a subject fired: only they are sent when it has recovered. */
  readonly told: Readonly<Record<string, readonly string[]>>;
}

export const noState: TriggerState = { rule: {}, notified: {}, told: {} };

export interface DecidedNotification {
  readonly notification: Notification;
  /** `notificationKey` */
  readonly key: string;
  /** Absent: it is sent. `not-told`: it was not sent when the trigger fired, so it does not report a recovery. */
  readonly suppressed?: 'interval' | 'not-told';
}

export interface TriggerDecision {
  /** `recovered` is for triggers with states. */
  readonly outcome: 'fired' | 'recovered';
  readonly cause: Occurrence['cause'];
  /** What it concerns within the part; empty: there is only one. */
  readonly subject: string;
  readonly atMs: number;
  readonly reason: string;
  /** The event as sent, with the reading (`data.reading`) if there is one. */
  readonly event: () => TriggerEvent;
  /** One for each notification of the trigger. */
  readonly notifications: readonly DecidedNotification[];
}

export interface Evaluated {
  /** The same object if nothing has changed. */
  readonly state: TriggerState;
  readonly decisions: readonly TriggerDecision[];
}

/** @throws PlatformError if a reading is damaged */
export function evaluate(trigger: Trigger, state: TriggerState, input: TriggerInput): Evaluated {
  return runToEnd(evaluateInSteps(trigger, state, input));
}

/** The same in steps, because an upload may have a million readings (D48). */
export function* evaluateInSteps(trigger: Trigger, state: TriggerState, input: TriggerInput): Steps<Evaluated> {
  const next = trigger.event.next(state.rule, input, trigger);
  const step = 'occurrences' in next ? next : yield* next;
  let after = step.state === state.rule ? state : { ...state, rule: step.state };
  const decisions: TriggerDecision[] = [];
  for (const occurrence of step.occurrences) {
    const notifications = trigger.notifications.map((notification) => decided(notification, occurrence, after));
    after = afterOccurrence(after, occurrence, notifications);
    const { cause, atMs, reason, change } = occurrence;
    let made: TriggerEvent | undefined;
    decisions.push({
      outcome: change?.to === 'recovered' ? 'recovered' : 'fired',
      ...{ cause, atMs, reason, notifications, subject: change?.subject ?? '' },
      event: () => {
        made ??= occurrence.event();
        return made;
      },
    });
  }
  return { state: after, decisions };
}

function decided(notification: Notification, occurrence: Occurrence, state: TriggerState): DecidedNotification {
  const key = notificationKey(notification);
  const { change, atMs } = occurrence;
  if (change?.to === 'recovered') {
    const wasTold = state.told[change.subject]?.includes(key) === true;
    return { notification, key, ...(!wasTold && { suppressed: 'not-told' as const }) };
  }
  const tooEarly = isThrottled(state.notified[key], atMs, notification.intervalMs);
  return { notification, key, ...(tooEarly && { suppressed: 'interval' as const }) };
}

function afterOccurrence(
  state: TriggerState,
  { change, atMs }: Occurrence,
  notifications: readonly DecidedNotification[],
): TriggerState {
  const sent = notifications.filter(({ suppressed }) => suppressed === undefined);
  if (change?.to === 'recovered') {
    const { [change.subject]: _recovered, ...told } = state.told;
    return { ...state, told };
  }
  const timed = sent.filter(({ notification }) => notification.intervalMs > 0);
  if (change === undefined && timed.length === 0) return state;
  return {
    ...state,
    notified: { ...state.notified, ...Object.fromEntries(timed.map(({ key }) => [key, atMs])) },
    ...(change && { told: { ...state.told, [change.subject]: sent.map(({ key }) => key) } }),
  };
}
