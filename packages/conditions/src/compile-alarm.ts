/**
 * The keys that turn a condition into an alarm, which fires or is idle: `clear`, `for_secs`, `times_within`, `absent_for_secs`. The trigger
 * then reports each change of state instead of each upload.
 */
import { describe, isObject, type JsonObject } from './json.ts';
import type { Prefilter } from './prefilter.ts';
import { type Report, warnUnknown } from './report.ts';
import { compileTests, type DocumentTest } from './tests.ts';

export const alarmKeys = ['clear', 'for_secs', 'times_within', 'absent_for_secs'] as const;

export interface Alarm {
  /** What ends the alarm. Absent: the first reading that does not meet the condition. */
  readonly clears: DocumentTest | undefined;
  /** The condition must hold for this long; 0: one reading is enough. */
  readonly forMs: number;
  /** It must be met this often within `withinMs`. Absent: once. */
  readonly times: { readonly count: number; readonly withinMs: number } | undefined;
  /** It fires if nothing meets the condition for this long; the other keys are then absent. 0: it does not. */
  readonly absentMs: number;
}

const maxSecs = 366 * 86_400;
const maxTimes = 1_000;

export interface CompiledAlarm {
  readonly alarm: Alarm | undefined;
  readonly paths: readonly (readonly string[])[];
  /** Of `clear`. */
  readonly prefilter: Prefilter | undefined;
}

/** @param hasTests whether the condition asks for anything */
export function compileAlarm(json: JsonObject, hasTests: boolean, report: Report): CompiledAlarm {
  const used = alarmKeys.filter((key) => json[key] !== undefined && json[key] !== null);
  if (used.length === 0) return { alarm: undefined, paths: [], prefilter: undefined };
  const absentMs = secondsOf(json['absent_for_secs'], 'absent_for_secs', report) * 1_000;
  const forMs = secondsOf(json['for_secs'], 'for_secs', report) * 1_000;
  const times = timesOf(json['times_within'], report);
  if (used.includes('absent_for_secs') && used.length > 1) {
    const others = used.filter((key) => key !== 'absent_for_secs').join(', ');
    report('absent_for_secs', `expected it without ${others}, found both: use a trigger for each`);
  }
  if (used.includes('for_secs') && used.includes('times_within'))
    report('for_secs', 'expected either for_secs or times_within, found both: use a trigger for each');
  if (!hasTests && !used.includes('absent_for_secs')) {
    report(used[0] ?? '', 'expected conditions that a reading can meet or not, found none: it would never end');
  }
  const { test: clears, paths, prefilter } = compileTests(json['clear'], 'clear', report);
  if (used.includes('clear') && clears === undefined)
    report('clear', 'expected an object with evals, found one without: nothing would end it');
  return { alarm: { clears, forMs, times, absentMs }, paths, prefilter };
}

function secondsOf(value: unknown, key: string, report: Report): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && value > 0 && value <= maxSecs) return value;
  report(key, `expected a number of seconds above 0, at most ${maxSecs}, found ${describe(value)}`);
  return 0;
}

function timesOf(value: unknown, report: Report): Alarm['times'] {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) {
    report('times_within', `expected {"times": 3, "secs": 600}, found ${describe(value)}`);
    return undefined;
  }
  warnUnknown(value, ['times', 'secs'], 'times_within.', report);
  const count = value['times'];
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 2 || count > maxTimes) {
    report('times_within.times', `expected a whole number from 2 to ${maxTimes}, found ${describe(count)}`);
    return undefined;
  }
  if (value['secs'] === undefined) report('times_within.secs', 'expected a number of seconds, found nothing');
  const withinMs = secondsOf(value['secs'], 'times_within.secs', report) * 1_000;
  return { count, withinMs };
}
