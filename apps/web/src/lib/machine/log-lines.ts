/** Log lines as they are shown: newest last, with counts for the level chips. */
import type { LogEntry } from '@platform/proto/platform/common/v1/common';
import { dateOf } from '../ui/time.ts';

export const levels = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof levels)[number];

export interface LogLine {
  readonly time: Date | undefined;
  readonly level: Level;
  readonly logger: string;
  readonly message: string;
  readonly stack: string;
  readonly fields: readonly object[];
}

export function lineOf({ time, level, loggerName, message, stack, fields }: LogEntry): LogLine {
  const known = level.toLowerCase().replace('warning', 'warn');
  return {
    ...{ time: dateOf(time), logger: loggerName, message, stack, fields },
    level: levels.find((one) => one === known) ?? (/fatal|panic/.test(known) ? 'error' : 'info'),
  };
}

export function countsOf(lines: readonly LogLine[]): Readonly<Record<Level, number>> {
  const counts = { error: 0, warn: 0, info: 0, debug: 0 };
  for (const { level } of lines) counts[level]++;
  return counts;
}

/** @param text words, or a pattern between slashes; an invalid pattern finds nothing */
export function fitsText(text: string): (line: LogLine) => boolean {
  const pattern = /^\/(.+)\/$/.exec(text)?.[1];
  if (pattern !== undefined) {
    try {
      const expression = new RegExp(pattern, 'i');
      return ({ message, logger }) => expression.test(message) || expression.test(logger);
    } catch {
      return () => false;
    }
  }
  const wanted = text.toLowerCase();
  return ({ message, logger }) => message.toLowerCase().includes(wanted) || logger.toLowerCase().includes(wanted);
}
