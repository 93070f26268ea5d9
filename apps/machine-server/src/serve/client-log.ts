/** Lines that clients send to this server's log with RobotService.Log. */
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { invalidValue, type Log } from '@platform/base';
import type { LogEntry } from '@platform/proto/platform/common/v1/common';
import { lineFields } from './line-fields.ts';

const mostEntries = 100;
const longestMessage = 16_384;

/** Writes them under the logger `clients.<their logger>`, with the client's time as a field. @throws invalid_argument for more than 100 */
export function writeClientLog(log: Log, entries: readonly LogEntry[]): void {
  if (entries.length > mostEntries)
    throw invalidValue('logs', `at most ${mostEntries} entries in one call`, entries.length);
  for (const { level, loggerName, message, stack, time } of entries) {
    const target = loggerName === '' ? log.child('clients') : log.child('clients').child(loggerName);
    target[levelOf(level)](message.slice(0, longestMessage), {
      ...(time && { clientTime: new Date(timestampMs(time)).toISOString() }),
      ...lineFields([], stack, longestMessage),
    });
  }
}

/** Public clients write levels in upper or lower case, and have some above error. */
function levelOf(level: string): 'debug' | 'info' | 'warn' | 'error' {
  switch (level.toLowerCase()) {
    case 'debug':
      return 'debug';
    case 'warn':
    case 'warning':
      return 'warn';
    case 'error':
    case 'dpanic':
    case 'panic':
    case 'fatal':
    case 'critical':
      return 'error';
    default:
      return 'info';
  }
}
