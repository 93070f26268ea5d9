/** Logging: a port for everything that logs, and the one format of a line in a process's output. */
import type { Clock } from './async/clock.ts';
import { errorText } from './errors.ts';
import { harmless } from './harmless.ts';
import { printable } from './text/printable.ts';

/** From the least to the most severe. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

export type LogFields = Readonly<Record<string, unknown>>;

export interface LogLine {
  readonly timeMs: number;
  readonly level: LogLevel;
  /** Names of logs and their children, separated by dots. */
  readonly logger: string;
  readonly message: string;
  readonly fields: LogFields;
}

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose lines carry `name` appended to this one's, separated by a dot. */
  child(name: string): Log;
}

/** What almost everything that runs is given. */
export interface ClockAndLog {
  readonly clock: Clock;
  readonly log: Log;
}

/** A Log that hands each line to `write`. It never throws: of a line that cannot be written, what can be is. */
export function createLog(
  write: (level: LogLevel, logger: string, message: string, fields: LogFields) => void,
  name = '',
): Log {
  const writeBare = harmless((level: LogLevel, message: string, caught: unknown) =>
    write(level, name, message, { fieldsOmitted: errorText(caught) }),
  );
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      try {
        write(level, name, message, fields);
      } catch (caught) {
        writeBare(level, message, caught);
      }
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (child) => createLog(write, name === '' ? child : `${name}.${child}`),
  };
}

export const silentLog: Log = createLog(() => {});

/** Whether a line of this level is written when `least` is the lowest level to write. */
export function isLogged(level: LogLevel, least: LogLevel): boolean {
  return logLevels.indexOf(level) >= logLevels.indexOf(least);
}

/** `{"level", "time" (RFC 3339), "logger", "msg", …fields}` and a line break. */
export function jsonLine({ timeMs, level, logger, message, fields }: LogLine): string {
  const time = new Date(timeMs).toISOString();
  // JSON itself escapes only some of what moves the cursor of a terminal.
  return `${printable(fieldText({ level, time, logger, msg: message, ...fields }))}\n`;
}

/** A value of a field as JSON. */
export function fieldText(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? Number(item) : item)) ?? 'null';
}
