/** The process log: JSON lines on stderr, because the parent reads stdout. */
import { type Clock, createLog, isLogged, jsonLine, type Log, type LogLevel } from '@platform/base';

/** @param least lowest level to log. */
export function createLogger(least: LogLevel, clock: Pick<Clock, 'now'>): Log {
  // The reader of the log may have exited.
  process.stderr.on('error', () => {});
  return createLog((level, logger, message, fields) => {
    if (isLogged(level, least)) process.stderr.write(jsonLine({ timeMs: clock.now(), level, logger, message, fields }));
  });
}
