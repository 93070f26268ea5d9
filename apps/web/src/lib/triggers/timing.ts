/** When conditions fire: at each reading, or as a state that begins and ends (`for_secs`, `times_within`, `absent_for_secs`). */
import type { JsonObject } from '@bufbuild/protobuf';
import { objectOf } from '../api/object-of.ts';
import { isSame } from './conditions.ts';

export const timings = [
  { mode: 'each', words: 'at once' },
  { mode: 'for', words: 'when it has lasted for' },
  { mode: 'times', words: 'when it has happened' },
  { mode: 'absent', words: 'when there was no such reading for' },
] as const;
export type TimingMode = (typeof timings)[number]['mode'];

export interface Timing {
  readonly mode: TimingMode;
  /** 0 if the mode has none. */
  readonly secs: number;
  /** Of `times`: so many readings within `secs`; else 0. */
  readonly times: number;
}

/** What the form begins with when a mode is chosen. */
export const firstTimings: Readonly<Record<TimingMode, Timing>> = {
  each: { mode: 'each', secs: 0, times: 0 },
  for: { mode: 'for', secs: 60, times: 0 },
  times: { mode: 'times', secs: 600, times: 3 },
  absent: { mode: 'absent', secs: 600, times: 0 },
};

const keys = ['for_secs', 'times_within', 'absent_for_secs'] as const;

/** @param conditional of the event @returns undefined if the form cannot express it, such as a combination that the cloud refuses */
export function timingOf(conditional: JsonObject): Timing | undefined {
  const [key, ...others] = keys.filter((one) => conditional[one] !== undefined && conditional[one] !== null);
  if (others.length > 0) return undefined;
  if (key === undefined) return firstTimings.each;
  if (key === 'times_within') {
    const { times, secs } = objectOf(conditional[key]);
    return typeof times === 'number' && typeof secs === 'number' ? { mode: 'times', secs, times } : undefined;
  }
  const secs = conditional[key];
  if (typeof secs !== 'number') return undefined;
  return { mode: key === 'for_secs' ? 'for' : 'absent', secs, times: 0 };
}

export function withTiming(conditional: JsonObject, timing: Timing): JsonObject {
  if (isSame(timingOf(conditional), timing)) return conditional;
  const { for_secs: _, times_within: within, absent_for_secs: __, ...rest } = conditional;
  const { mode, secs, times } = timing;
  if (mode === 'each') return rest;
  if (mode === 'times') return { ...rest, times_within: { ...objectOf(within), times, secs } };
  return { ...rest, [mode === 'for' ? 'for_secs' : 'absent_for_secs']: secs };
}
