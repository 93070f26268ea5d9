import { timestampFromDate } from '@platform/sdk/cloud';
import type { Flags } from './define-command.ts';
import { timeBefore } from './parse-time.ts';

type Timestamp = ReturnType<typeof timestampFromDate>;

/** The options `--since` and `--until` as requests have them. @throws invalid_argument */
export function timeRange(flags: Flags): { readonly start?: Timestamp; readonly end?: Timestamp } {
  const time = (name: 'since' | 'until'): Timestamp | undefined =>
    flags[name] === undefined ? undefined : timestampFromDate(timeBefore(String(flags[name]), `--${name}`));
  const [start, end] = [time('since'), time('until')];
  return { ...(start && { start }), ...(end && { end }) };
}
