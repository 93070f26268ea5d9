/** Interprets whatever a call ended with, once for all transports (D4). */
import { ConnectError } from '@connectrpc/connect';
import { errorText, type Log, newId, PlatformError } from '@platform/base';
import { fromConnectError } from './errors.ts';

/**
 * What the peer may read about a failure. Typed errors pass; an abort becomes what aborted the call; anything else is
 * INTERNAL with a request id, its text only in the log.
 */
export function faultOf(caught: unknown, call: { method: string; signal: AbortSignal }, log: Log): PlatformError {
  if (caught instanceof PlatformError) return caught;
  if (call.signal.aborted && isAbort(caught, call.signal)) return abortFault(call);
  if (caught instanceof ConnectError) return fromConnectError(caught);
  const requestId = newId();
  const stack = caught instanceof Error ? caught.stack : undefined;
  log.error('a call failed for a reason that its method did not foresee', {
    requestId,
    method: call.method,
    error: errorText(caught),
    stack,
  });
  return new PlatformError(
    'internal',
    `internal error in ${call.method}; the server's log explains it under request id ${requestId}`,
    caught,
  );
}

function isAbort(caught: unknown, signal: AbortSignal): boolean {
  return caught === signal.reason || (caught instanceof Error && caught.name === 'AbortError');
}

function abortFault(call: { method: string; signal: AbortSignal }): PlatformError {
  const reason: unknown = call.signal.reason;
  const why = reason instanceof ConnectError ? fromConnectError(reason) : undefined;
  if (why?.code === 'deadline_exceeded') {
    return new PlatformError('deadline_exceeded', `the deadline passed before ${call.method} had answered`, reason);
  }
  if (why?.code === 'unavailable') return why;
  return new PlatformError('canceled', `the client left before ${call.method} had answered`, reason);
}
