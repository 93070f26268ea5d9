/** The process log: pino, JSON lines on stderr, so that stdout stays for what the parent reads. */
import { createLog, type Log } from '@platform/base';
import { destination, pino } from 'pino';

/** @param level one of debug, info, warn, error. */
export function createLogger(level: string): Log {
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination({ fd: 2, sync: true }),
  );
  return createLog((at, name, message, fields) => logger[at]({ logger: name, ...fields }, message));
}
