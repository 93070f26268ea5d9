/** A line of a log as people read it. */
import { unsaidFields } from '@platform/base/zap-field';
import { type JsonObject, type LogEntry, printableEntry, readLogField } from '@platform/sdk/cloud';
import { timeOf } from '../results/presenters.ts';

/** Time, level, logger, message, the fields that the message does not contain as key=value, and the stack. */
export function logLine(entry: LogEntry): string {
  const { level, loggerName, message } = entry;
  const stack = entry.stack === '' ? '' : `\n${entry.stack}`;
  const found = Object.entries(unsaidFields(message, fieldsOf(entry))).map(
    ([key, value]) => `  ${key}=${typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value)}`,
  );
  return printableEntry(
    `${timeOf(entry.time)}  ${level.toUpperCase().padEnd(5)}  ${loggerName}  ${message}${found.join('')}${stack}`,
  );
}

export function fieldsOf({ fields }: LogEntry): JsonObject {
  return Object.fromEntries(fields.flatMap(readLogField)) as JsonObject;
}
