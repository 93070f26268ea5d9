/** The process log: JSON lines on stderr, so that stdout stays for what the parent reads. */
import { type Clock, createLog, isLogged, jsonLine, type Log, type LogLevel } from '@platform/base';

/** @param least lines below it are left out. */
export function createLogger(least: LogLevel, clock: Pick<Clock, 'now'>): Log {
  // Whoever read the log may be gone.
  process.stderr.on('error', () => {});
  return createLog((level, logger, message, fields) => {
    if (isLogged(level, least)) process.stderr.write(jsonLine({ timeMs: clock.now(), level, logger, message, fields }));
  });
}
