/** Interprets the error with which a call ended, once for all transports (D4). */
import { Code, ConnectError } from '@connectrpc/connect';
import {
  asPlatformError,
  errorText,
  type Log,
  type LogFields,
  newShortId,
  PlatformError,
  stackText,
} from '@platform/base';
import { fromConnectError, isShutdown } from './errors.ts';

/** What is logged with a fault. */
export interface FaultPlace {
  readonly method: string;
  /** Who called, if known. */
  readonly caller?: LogFields | undefined;
}

/**
 * The error that the peer gets for a failure. Typed errors pass; an abort becomes its cause. For a fault on our side the peer gets a
 * reference, under which the log has the cause (D37).
 */
export function faultOf(caught: unknown, call: FaultPlace & { signal: AbortSignal }, log: Log): PlatformError {
  const foreseen = foreseenFault(caught, call);
  return foreseen === undefined || foreseen.isOwnFault ? reportedFault(caught, call, log) : foreseen;
}

/** The same outside a call: typed errors pass, a fault on our side is logged. */
export function reportedFault(caught: unknown, { method, caller = {} }: FaultPlace, log: Log): PlatformError {
  const { code, message, isOwnFault } =
    caught instanceof ConnectError ? fromConnectError(caught) : asPlatformError(caught);
  if (caught instanceof PlatformError && !isOwnFault) return caught;
  const reference = newShortId();
  // Typed faults, such as a full disk, are not logged as unexpected.
  const isTyped = isOwnFault && code !== 'internal' && code !== 'unknown';
  log.error(isTyped ? `a call failed: ${message}` : 'a call failed with an unexpected error', {
    reference,
    method,
    ...caller,
    code,
    error: errorText(caught).slice(0, maxErrorLength),
    stack: stackText(caught),
  });
  return isTyped
    ? new PlatformError(code, `${message} (reference ${reference})`, caught)
    : new PlatformError(
        'internal',
        `internal error in ${method} (reference ${reference}); the operator of the server can find the cause in the log under that reference`,
        caught,
      );
}

/** An SQL statement in an error may have any length. */
const maxErrorLength = 4_096;

/** What the failure means if it is a typed error, the end of the call or a codec's refusal; undefined otherwise. */
export function foreseenFault(
  caught: unknown,
  call: { method: string; signal: AbortSignal },
): PlatformError | undefined {
  if (caught instanceof PlatformError) return caught;
  if (call.signal.aborted && isAbort(caught, call.signal)) return abortFault(call);
  return caught instanceof ConnectError ? fromConnectError(caught) : undefined;
}

/** The fault when an answer could not be written: the client has disconnected, whatever error its connection reports. */
export function undeliveredFault(caught: unknown, call: { method: string; signal: AbortSignal }): PlatformError {
  return foreseenFault(caught, call) ?? abortFault(call, caught);
}

function isAbort(caught: unknown, signal: AbortSignal): boolean {
  return caught === signal.reason || (caught instanceof Error && caught.name === 'AbortError');
}

function abortFault(call: { method: string; signal: AbortSignal }, caught?: unknown): PlatformError {
  const reason: unknown = call.signal.reason ?? caught;
  // A client's RST_STREAM has a code too, which says nothing about us.
  if (reason instanceof ConnectError && isShutdown(reason)) return fromConnectError(reason);
  if (reason instanceof ConnectError && reason.code === Code.DeadlineExceeded) {
    return new PlatformError('deadline_exceeded', `the deadline passed before ${call.method} had answered`, reason);
  }
  return new PlatformError('canceled', `the client disconnected before ${call.method} had answered`, reason);
}
