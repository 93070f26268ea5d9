/** Interprets whatever a call ended with, once for all transports (D4). */
import { Code, ConnectError } from '@connectrpc/connect';
import { errorText, type Log, newId, PlatformError } from '@platform/base';
import { fromConnectError, isShutdown } from './errors.ts';

/**
 * What the peer may read about a failure. Typed errors pass; an abort becomes what aborted the call; anything else is
 * INTERNAL with a request id, its text only in the log.
 */
export function faultOf(caught: unknown, call: { method: string; signal: AbortSignal }, log: Log): PlatformError {
  const foreseen = foreseenFault(caught, call);
  if (foreseen !== undefined) return foreseen;
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

/** What the failure means when it is a typed error, the call's end or a codec's refusal; undefined when it is none of them. */
export function foreseenFault(
  caught: unknown,
  call: { method: string; signal: AbortSignal },
): PlatformError | undefined {
  if (caught instanceof PlatformError) return caught;
  if (call.signal.aborted && isAbort(caught, call.signal)) return abortFault(call);
  return caught instanceof ConnectError ? fromConnectError(caught) : undefined;
}

/** What it means that an answer could not be written: the client has left, whatever its connection calls that. */
export function undeliveredFault(caught: unknown, call: { method: string; signal: AbortSignal }): PlatformError {
  return foreseenFault(caught, call) ?? abortFault(call, caught);
}

function isAbort(caught: unknown, signal: AbortSignal): boolean {
  return caught === signal.reason || (caught instanceof Error && caught.name === 'AbortError');
}

function abortFault(call: { method: string; signal: AbortSignal }, caught?: unknown): PlatformError {
  const reason: unknown = call.signal.reason ?? caught;
  // A client's RST_STREAM has a code as well, which says nothing about us.
  if (reason instanceof ConnectError && isShutdown(reason)) return fromConnectError(reason);
  if (reason instanceof ConnectError && reason.code === Code.DeadlineExceeded) {
    return new PlatformError('deadline_exceeded', `the deadline passed before ${call.method} had answered`, reason);
  }
  return new PlatformError('canceled', `the client left before ${call.method} had answered`, reason);
}
