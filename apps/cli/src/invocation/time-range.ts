import { invalidArgument } from '@platform/base/refusals';
import { timestampFromDate } from '@platform/sdk/cloud';
import type { Flags } from './define-command.ts';
import { timeBefore } from './parse-time.ts';

type Timestamp = ReturnType<typeof timestampFromDate>;

/** The options `--since` and `--until`. @throws invalid_argument */
export function sinceAndUntil(flags: Flags): readonly [since: Date | undefined, until: Date | undefined] {
  const time = (name: 'since' | 'until'): Date | undefined =>
    flags[name] === undefined ? undefined : timeBefore(String(flags[name]), `--${name}`);
  return [time('since'), time('until')];
}

/** The same as requests have them. @throws invalid_argument, also if the range would be empty */
export function timeRange(flags: Flags): { readonly start?: Timestamp; readonly end?: Timestamp } {
  const [start, end] = sinceAndUntil(flags);
  if (start !== undefined && end !== undefined && start.getTime() >= end.getTime())
    throw invalidArgument(
      `--until: expected a time after --since (${start.toISOString()}), found ${end.toISOString()}`,
    );
  return { ...(start && { start: timestampFromDate(start) }), ...(end && { end: timestampFromDate(end) }) };
}
