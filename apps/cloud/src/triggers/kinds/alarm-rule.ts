/** Conditions with states: they report when they begin to fire and when they recover, instead of each upload. */
import type { Steps } from '@platform/base';
import { type Alarm, type AlarmState, alarmStep, type JsonObject } from '@platform/conditions';
import type { EventChange, TriggerEvent } from '../../outbox/event.ts';
import type { KeyNode } from '../../reading-codec/key-filter.ts';
import type { Document } from '../../reading-codec/read-document.ts';
import type { TimeInput, UploadInput } from '../input.ts';
import { wasSetBack } from '../times/set-back.ts';
import type { Occurrence, RuleState, RuleStep, TriggerEventRule } from '../trigger.ts';
import { dataOf, documentOf, readingsPerStep } from '../upload-data.ts';
import type { ConditionalRule } from './conditional-data.ts';

type To = EventChange['to'];

/** With `clear`, `for_secs` or `times_within`: each reading may change the state. */
export function alarmRule(
  rule: ConditionalRule,
  alarm: Alarm,
  meets: (document: Document) => boolean,
  keys: KeyNode | undefined,
): TriggerEventRule {
  const { type, method, concerns, stored } = rule;
  return {
    type,
    uploads: { componentName: method.componentName },
    stored,
    *next(before, input): Steps<RuleStep> {
      if (input.kind !== 'upload' || !concerns(input)) return { state: before, occurrences: [] };
      let state = before as AlarmState;
      const occurrences: Occurrence[] = [];
      for (let index = 0; index < input.readings.count; index++) {
        if (index % readingsPerStep === readingsPerStep - 1) yield;
        const document = input.readings.document(index, keys);
        if (document === undefined) continue;
        const clears = alarm.clears?.(document as JsonObject) ?? false;
        const step = alarmStep(alarm, state, meets(document), clears, takenMs(input, index));
        const sinceMs = state.firingMs ?? 0;
        state = step.state;
        if (step.change === undefined) continue;
        const reason =
          step.change === 'firing'
            ? firingReason(alarm)
            : `recovered after ${seconds(takenMs(input, index) - sinceMs)}`;
        occurrences.push(changeInUpload(rule, input, index, step.change, reason));
      }
      return { state: state as RuleState, occurrences };
    },
  };
}

interface AbsenceState {
  /** When a reading last met the condition, or the trigger began; absent: it has not begun. */
  readonly seenMs?: number;
  readonly firingMs?: number;
}

/** With `absent_for_secs`. @param isPresent whether an upload of the component contains what must not be absent */
export function absenceRule(
  rule: ConditionalRule,
  absentMs: number,
  isPresent: (upload: UploadInput) => Steps<boolean>,
): TriggerEventRule {
  const { type, method, concerns, stored } = rule;
  const fired = (state: AbsenceState & RuleState, { atMs, listeningSinceMs, place }: TimeInput): RuleStep => {
    const { seenMs = atMs } = state;
    const dueMs = Math.max(seenMs, listeningSinceMs) + absentMs;
    if (state.seenMs === undefined) return { state: { seenMs }, occurrences: [] };
    if (wasSetBack(seenMs, atMs)) return { state: { ...state, seenMs: atMs }, occurrences: [] };
    if (state.firingMs !== undefined || atMs < dueMs) return { state, occurrences: [] };
    const reason = `nothing since ${new Date(seenMs).toISOString()}`;
    const change = { to: 'firing', subject: '' } as const;
    const event = (): TriggerEvent => ({
      type,
      place,
      condition: rule.configured,
      change: changeOf('firing', dueMs, reason),
    });
    const cause = ['absent', seenMs];
    return { state: { seenMs, firingMs: dueMs }, occurrences: [{ cause, atMs: dueMs, reason, change, event }] };
  };
  return {
    type,
    uploads: { componentName: method.componentName },
    stored,
    timed: 'time',
    dueMs({ seenMs, firingMs }: AbsenceState, nowMs = Number.POSITIVE_INFINITY) {
      if (firingMs !== undefined) return undefined;
      return seenMs === undefined || wasSetBack(seenMs, nowMs) ? 0 : seenMs + absentMs;
    },
    *next(before, input): Steps<RuleStep> {
      const state = before as AbsenceState & RuleState;
      if (input.kind === 'time') return fired(state, input);
      if (input.kind !== 'upload' || !concerns(input) || !(yield* isPresent(input))) return { state, occurrences: [] };
      const { seenMs = 0 } = state;
      const next = { seenMs: wasSetBack(seenMs, input.atMs) ? input.atMs : Math.max(input.atMs, seenMs) };
      if (state.firingMs === undefined) return { state: next, occurrences: [] };
      const reason = `recovered after ${seconds(Math.max(0, input.atMs - state.firingMs))}`;
      return { state: next, occurrences: [changeInUpload(rule, input, 0, 'recovered', reason)] };
    },
  };
}

function takenMs(upload: UploadInput, index: number): number {
  return upload.readings.times(index).receivedMs ?? upload.atMs;
}

function firingReason({ forMs, times }: Alarm): string {
  if (times !== undefined) return `the conditions were met ${times.count} times within ${seconds(times.withinMs)}`;
  return forMs > 0 ? `the conditions have been met for ${seconds(forMs)}` : 'a reading met the conditions';
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

function changeOf(to: To, atMs: number, reason: string): EventChange {
  return { to, subject: '', at: new Date(atMs).toISOString(), reason };
}

function changeInUpload(rule: ConditionalRule, upload: UploadInput, index: number, to: To, reason: string): Occurrence {
  const { place, position, atMs } = upload;
  return {
    // For triggers without states, the position alone is the id.
    cause: ['change', position, index],
    ...{ atMs, reason, change: { to, subject: '' } },
    event: () => ({
      ...{ type: rule.type, place, condition: rule.configured },
      data: dataOf(upload, documentOf(upload, index)),
      change: changeOf(to, takenMs(upload, index), reason),
    }),
  };
}
