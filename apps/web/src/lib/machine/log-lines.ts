/** Log lines as they are shown: newest last, with counts for the level chips. */
import { readLogField, unsaidFields } from '@platform/base/zap-field';
import type { LogEntry } from '@platform/proto/platform/common/v1/common';
import { dateOf } from '../ui/time.ts';

export const levels = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof levels)[number];

/** Classes of their colours. */
export const tones: Readonly<Record<Level, string>> = {
  error: 'text-bad',
  warn: 'text-warn',
  info: 'text-quiet',
  debug: 'text-quiet',
};

/**
 * Who wrote a line: the machine and its modules, or the cloud into the log of the machine, about a trigger that could not notify or about
 * something else.
 */
export const sources = ['machine', 'triggers', 'cloud'] as const;
export type Source = (typeof sources)[number];

export interface LogLine {
  readonly time: Date | undefined;
  readonly level: Level;
  readonly source: Source;
  readonly logger: string;
  readonly message: string;
  readonly stack: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function lineOf({ host, time, level, loggerName, message, stack, fields }: LogEntry): LogLine {
  const known = level.toLowerCase().replace('warning', 'warn');
  return {
    ...{ time: dateOf(time), logger: loggerName, message, stack },
    source: host === 'cloud' ? sourceOf(loggerName) : 'machine',
    fields: Object.fromEntries(fields.flatMap((field) => readLogField(field))),
    level: levels.find((one) => one === known) ?? (/fatal|panic/.test(known) ? 'error' : 'info'),
  };
}

/** A machine may be named `cloud` itself. */
function sourceOf(logger: string): Source {
  if (logger.startsWith('app.trigger.')) return 'triggers';
  return logger.startsWith('cloud.') ? 'cloud' : 'machine';
}

/** The sources that occur in the lines. */
export function sourcesIn(lines: readonly LogLine[]): readonly Source[] {
  const found = new Set(lines.map(({ source }) => source));
  return sources.filter((source) => found.has(source));
}

const texts = new WeakMap<LogLine, string>();

/** The message with its fields as `key=value`, in which the reason of an error often is; without texts that the message contains. */
export function textOf(line: LogLine): string {
  const known = texts.get(line);
  if (known !== undefined) return known;
  const { message, fields } = line;
  const text = Object.entries(unsaidFields(message, fields)).reduce(
    (before, [key, value]) => `${before} ${key}=${valueText(value)}`,
    message,
  );
  texts.set(line, text);
  return text;
}

function valueText(value: unknown): string {
  return typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
}

export function countsOf(lines: readonly LogLine[]): Readonly<Record<Level, number>> {
  const counts = { error: 0, warn: 0, info: 0, debug: 0 };
  for (const { level } of lines) counts[level]++;
  return counts;
}

/** Why the text is not a valid pattern; empty if it is valid, or not a pattern. */
export function patternProblem(text: string): string {
  const pattern = /^\/(.+)\/$/.exec(text)?.[1];
  try {
    void new RegExp(pattern ?? '', 'i');
    return '';
  } catch (caught) {
    return caught instanceof Error ? caught.message : '';
  }
}

/** The levels that an address names; unknown names are ignored. Null: all. */
export function levelsOf(text: string | null): readonly Level[] {
  if (text === null) return levels;
  const named = text.split(',');
  return levels.filter((level) => named.includes(level));
}

/** @param text words, or a pattern between slashes; an invalid pattern finds nothing */
export function fitsText(text: string): (line: LogLine) => boolean {
  const pattern = /^\/(.+)\/$/.exec(text)?.[1];
  if (pattern !== undefined) {
    try {
      const expression = new RegExp(pattern, 'i');
      return (line) => expression.test(line.message) || expression.test(line.logger) || expression.test(textOf(line));
    } catch {
      return () => false;
    }
  }
  const wanted = text.toLowerCase();
  return (line) => textOf(line).toLowerCase().includes(wanted) || line.logger.toLowerCase().includes(wanted);
}

/** Lines kept in the page; the oldest are left out first. */
export const mostLines = 100_000;

/** @param lines new ones, oldest first @param whole they are the newest lines of the log, and some may be known */
export function linesAfter(before: readonly LogLine[], lines: readonly LogLine[], whole: boolean): readonly LogLine[] {
  if (!whole || before.length === 0) return [...before, ...lines].slice(-mostLines);
  // After a lost connection: lines that were loaded before stay if none are missing in between.
  const first = lines[0];
  const at = first === undefined ? -1 : before.findLastIndex((line) => isSame(line, first));
  return at < 0 ? lines : [...before.slice(0, at), ...lines].slice(-mostLines);
}

function isSame(a: LogLine, b: LogLine): boolean {
  return a.time?.getTime() === b.time?.getTime() && a.message === b.message && a.logger === b.logger;
}

export interface LogBar {
  readonly from: Date;
  readonly lines: number;
  /** Errors among them. */
  readonly errors: number;
  /** Index of its first line. */
  readonly first: number;
}

/** How many lines there are over time, in bars of equal length. @param lines oldest first */
export function barsOf(lines: readonly LogLine[], count: number): readonly LogBar[] {
  const times = lines.map(({ time }) => time?.getTime() ?? Number.NaN);
  const [start = Number.NaN, end = Number.NaN] = [times.find(Number.isFinite), times.findLast(Number.isFinite)];
  const stepMs = (end - start) / count;
  if (!(stepMs > 0)) return [];
  const bars = Array.from({ length: count }, (_, at) => ({
    from: new Date(start + at * stepMs),
    ...{ lines: 0, errors: 0, first: -1 },
  }));
  for (const [index, line] of lines.entries()) {
    const bar = bars[Math.max(0, Math.min(count - 1, Math.floor(((times[index] ?? start) - start) / stepMs)))];
    if (bar === undefined) continue;
    if (bar.first < 0) bar.first = index;
    bar.lines += 1;
    if (line.level === 'error') bar.errors += 1;
  }
  return bars;
}
