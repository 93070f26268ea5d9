/** Logging as a port; apps put pino behind it, tests a list. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose lines carry `name` appended to this one's, separated by a dot. */
  child(name: string): Log;
}

/** A Log that hands each line to `write`. */
export function createLog(
  write: (level: LogLevel, logger: string, message: string, fields: LogFields) => void,
  name = '',
): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void =>
      write(level, name, message, fields);
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (child) => createLog(write, name === '' ? child : `${name}.${child}`),
  };
}

export const silentLog: Log = createLog(() => {});
