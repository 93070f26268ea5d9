/** Which lines are the same, so that they count as repeated. */
import { fieldText, type LogLine } from '@platform/base';

/**
 * Fields that differ each time the same thing happens, in lower case and without punctuation: `call_id`, `callId` and `call-id` are one key.
 * Numbers need no entry: no number makes a line another one.
 */
const variable: ReadonlySet<string> = new Set([
  // Counts.
  ...['attempt', 'attempts', 'count', 'failures', 'retries', 'retry'],
  // Times. `grpc.start_time` and `log_ts` come from the public library for Go.
  ...['clienttime', 'date', 'deadline', 'endtime', 'grpcstarttime', 'grpcrequestdeadline', 'lastseen', 'logts'],
  ...['since', 'starttime', 'time', 'timestamp', 'ts', 'until'],
  // Durations.
  ...['age', 'delay', 'duration', 'elapsed', 'grpctimems', 'latency', 'runtime', 'took', 'uptime', 'wait', 'waited'],
  // Ids of calls.
  ...['callid', 'correlationid', 'opid', 'operationid', 'requestid', 'rpcid', 'sessionid'],
  ...['spanid', 'traceid', 'uuid'],
]);

/** The same for lines with the same logger, level, message and text fields. */
export function sameLineKey({ logger, level, message, fields }: LogLine): string {
  return fieldText([logger, level, message, constantOf(fields)]);
}

function constantOf(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return undefined;
  if (Array.isArray(value)) return value.map(constantOf);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  const kept = Object.entries(value).filter(([key]) => !variable.has(key.replaceAll(/[\W_]/g, '').toLowerCase()));
  return Object.fromEntries(kept.map(([key, item]) => [key, constantOf(item)]));
}
