/**
 * `conditional_logs_ingested` (D22): checks every hour, or every `check_interval_secs`, whether lines of the given levels whose message
 * matches `text` have arrived since the previous check. The first check is one interval after the trigger was saved.
 */
import { compilePattern } from '@platform/conditions';
import type { ArrivedLine } from '../../machines/logs/lines-by-arrival.ts';
import { withoutSecrets } from '../../outbox/failure-line.ts';
import type { LogsInput } from '../input.ts';
import { type JsonObject, namesOf, shown } from '../parsing/json.ts';
import type { Problems } from '../parsing/problems.ts';
import { wasSetBack } from '../times/set-back.ts';
import type { RuleState, RuleStep, Trigger, TriggerEventRule } from '../trigger.ts';
import type { TriggerKind } from './kind.ts';

const type = 'conditional_logs_ingested';
const levelNames = ['error', 'warn', 'info'] as const;
/** Levels of public loggers that are worse than `error`. */
const errors = ['error', 'dpanic', 'panic', 'fatal', 'critical'];
const hourSecs = 3_600;
const leastSecs = 10;

/** Limits of one event (D22). */
const maxLogEntries = 1_000;
const maxLogBytes = 1024 * 1024;

interface LogsState {
  /** When the log was last checked, or the trigger began. Absent: it has not begun. */
  readonly checkedMs?: number;
  /** The lines after this one have not been checked. */
  readonly afterId?: number;
  /** Entries found so far in a check that has not ended. */
  readonly found?: readonly ReturnType<ArrivedLine['entry']>[];
  readonly bytes?: number;
  readonly omitted?: number;
}

export const logsIngested: TriggerKind = {
  type,
  keys: ['log_levels', 'check_interval_secs', 'text'],
  parse,
  ignoresInterval: 'logs are checked every hour, or every check_interval_secs',
};

function parse(event: JsonObject, _resources: unknown, path: string, problems: Problems): TriggerEventRule | undefined {
  const levels = namesOf(event['log_levels'], levelNames, `${path}.log_levels`, problems);
  const intervalMs = intervalOf(event['check_interval_secs'], `${path}.check_interval_secs`, problems) * 1_000;
  const matches = textOf(event['text'], `${path}.text`, problems);
  if (levels === undefined || matches === undefined) return undefined;
  const logLevels = [...levels].flatMap((level) => (level === 'error' ? errors : [level]));
  const wanted = new Set(logLevels);
  return {
    type,
    timed: 'logs',
    logLevels,
    dueMs: ({ checkedMs }: LogsState, nowMs = Number.POSITIVE_INFINITY) =>
      checkedMs === undefined || wasSetBack(checkedMs, nowMs) ? 0 : checkedMs + intervalMs,
    next(state, input, trigger) {
      if (input.kind !== 'logs') return { state, occurrences: [] };
      return check(state, input, (line) => {
        return wanted.has(line.level) && matches(line.message) && !isOwnFailure(line, trigger);
      });
    },
  };
}

function check(state: LogsState & RuleState, input: LogsInput, looksFor: (line: ArrivedLine) => boolean): RuleStep {
  const { atMs, place, lines, isLast, newestId } = input;
  // Lines logged before the trigger was saved do not count.
  if (state.checkedMs === undefined) return { state: { checkedMs: atMs, afterId: newestId }, occurrences: [] };
  const found = [...(state.found ?? [])];
  let { bytes = 0, omitted = 0 } = state;
  for (const line of lines) {
    if (!looksFor(line)) continue;
    const entry = line.entry();
    const size = Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (omitted > 0 || found.length >= maxLogEntries || bytes + size > maxLogBytes - 2) {
      omitted += 1;
      continue;
    }
    found.push(entry);
    bytes += size;
  }
  if (!isLast)
    return { state: { ...state, found, bytes, omitted, afterId: lines.at(-1)?.id ?? state.afterId }, occurrences: [] };
  const next = { checkedMs: atMs, afterId: newestId };
  const count = found.length + omitted;
  if (count === 0) return { state: next, occurrences: [] };
  const reason = `${count} ${count === 1 ? 'line' : 'lines'} logged since ${new Date(state.checkedMs).toISOString()}`;
  const event = () => ({ type, place, logs: { entries: found, omitted } });
  return { state: next, occurrences: [{ cause: ['logs', atMs], atMs, reason, event }] };
}

/** A line about a failed delivery must not cause another delivery to the same target (D22). */
function isOwnFailure(
  { failure }: ArrivedLine,
  { name, notifications }: Pick<Trigger, 'name' | 'notifications'>,
): boolean {
  if (failure === undefined) return false;
  return failure.triggerName === name || notifications.some(({ value }) => withoutSecrets(value) === failure.target);
}

function intervalOf(value: unknown, path: string, problems: Problems): number {
  if (value === undefined) return hourSecs;
  if (typeof value === 'number' && value >= leastSecs && value <= 30 * 86_400) return value;
  problems.error(path, `expected a number of seconds from ${leastSecs} to ${30 * 86_400}, found ${shown(value)}`);
  return hourSecs;
}

function textOf(value: unknown, path: string, problems: Problems): ((text: string) => boolean) | undefined {
  if (value === undefined) return () => true;
  const pattern =
    typeof value === 'string' && value !== ''
      ? compilePattern(value)
      : `expected a regular expression that part of the message matches, found ${shown(value)}`;
  return typeof pattern === 'string' ? problems.error(path, pattern) : pattern;
}
