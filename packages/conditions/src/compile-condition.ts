/** Trigger conditions: compiles the `conditional` object of a configuration into a test of readings. */

import type { Problem } from '@platform/base';
import { type CaptureMethod, parseCaptureMethod } from './capture-method.ts';
import { type Alarm, alarmKeys, compileAlarm } from './compile-alarm.ts';
import { describe, isObject, type JsonObject } from './json.ts';
import { type KeyTree, keysOf } from './key-tree.ts';
import type { Prefilter } from './prefilter.ts';
import { type Report, warnUnknown } from './report.ts';
import { compileTests } from './tests.ts';

export interface Condition {
  /** Absent after an error in `data_capture_method`. */
  readonly captureMethod: CaptureMethod | undefined;
  readonly problems: readonly Problem[];
  /** Whether it tests anything. If not, every upload meets it, even one without readings. */
  readonly hasTests: boolean;
  /** Whether a reading meets all evals. Without evals every reading does; after an error none does. */
  matches(document: JsonObject): boolean;
  /** Present if the condition is an alarm, which fires or is idle, instead of a test of each upload. */
  readonly alarm: Alarm | undefined;
  /** The keys of a document that `matches` and the alarm look at; undefined: all. */
  readonly keys: KeyTree | undefined;
  /**
   * A store may leave out readings that do not meet it, because they change nothing; undefined: any reading may matter. It lets through all
   * readings that matter, and possibly others.
   */
  readonly prefilter: Prefilter | undefined;
}

/**
 * @param json `event.conditional`: `data_capture_method`, `conditions` (or `condition`), and the keys of an alarm. Never throws.
 */
export function compileCondition(json: unknown): Condition {
  const problems: Problem[] = [];
  const report: Report = (path, message, level = 'error') => problems.push({ path, level, message });
  if (!isObject(json)) {
    report('', `expected an object with data_capture_method and conditions, found ${describe(json)}`);
    return {
      ...{
        captureMethod: undefined,
        problems,
        hasTests: false,
        alarm: undefined,
        keys: undefined,
        prefilter: undefined,
      },
      matches: () => false,
    };
  }
  warnUnknown(json, ['data_capture_method', 'conditions', 'condition', ...alarmKeys], '', report);
  const method = parseCaptureMethod(json['data_capture_method']);
  if (typeof method === 'string') report('data_capture_method', method);
  const { test, paths, prefilter } = compileTests(...conditionsIn(json, report), report);
  const { alarm, paths: alarmPaths, prefilter: clears } = compileAlarm(json, test !== undefined, report);
  const faulty = problems.some((problem) => problem.level === 'error');
  return {
    captureMethod: typeof method === 'string' ? undefined : method,
    problems,
    hasTests: test !== undefined,
    matches: faulty ? () => false : (test ?? (() => true)),
    alarm,
    keys: keysOf([...paths, ...alarmPaths]),
    prefilter: counting(prefilter, alarm, clears),
  };
}

/** A reading that does not meet the condition matters if it ends something: a duration, a series of times, or the firing state. */
function counting(
  meets: Prefilter | undefined,
  alarm: Alarm | undefined,
  clears: Prefilter | undefined,
): Prefilter | undefined {
  if (meets === undefined || alarm === undefined || alarm.absentMs > 0) return meets;
  if (alarm.forMs > 0 || alarm.times !== undefined || clears === undefined) return undefined;
  return { k: 'any', of: [meets, clears] };
}

function conditionsIn(json: JsonObject, report: Report): [unknown, string] {
  const key = json['conditions'] !== undefined ? 'conditions' : 'condition';
  if (key === 'conditions' && json['condition'] !== undefined) {
    report('condition', 'expected either conditions or condition, found both: conditions is used', 'warning');
  }
  return [json[key], key];
}
