/** Lines that clients send to this server's log with RobotService.Log. */
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { invalidValue, type Log, type LogLevel } from '@platform/base';
import type { LogEntry } from '@platform/proto/platform/common/v1/common';
import { lineFields } from './line-fields.ts';

const mostEntries = 100;
const longestMessage = 16_384;
/** By its name in lower case. Public clients write levels in upper or lower case, and have some above error. Others: `info`. */
const levels = new Map(
  Object.entries<LogLevel>({
    ...{ debug: 'debug', warn: 'warn', warning: 'warn' },
    ...{ error: 'error', dpanic: 'error', panic: 'error', fatal: 'error', critical: 'error' },
  }),
);

/** Writes them under the logger `clients.<their logger>`, with the client's time as a field. @throws invalid_argument for more than 100 */
export function writeClientLog(log: Log, entries: readonly LogEntry[]): void {
  if (entries.length > mostEntries)
    throw invalidValue('logs', `at most ${mostEntries} entries in one call`, entries.length);
  for (const { level, loggerName, message, stack, time } of entries) {
    const target = loggerName === '' ? log.child('clients') : log.child('clients').child(loggerName);
    target[levels.get(level.toLowerCase()) ?? 'info'](message.slice(0, longestMessage), {
      ...(time && { clientTime: new Date(timestampMs(time)).toISOString() }),
      ...lineFields([], stack, longestMessage),
    });
  }
}
