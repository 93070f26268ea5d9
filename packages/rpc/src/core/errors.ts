/** Converts PlatformError ↔ ConnectError; the only file that knows both. */

import { type Code, ConnectError } from '@connectrpc/connect';
import { type CodeName, codes, PlatformError, unavailable } from '@platform/base/portable';

const nameOfCode: ReadonlyMap<number, CodeName> = new Map(
  Object.entries(codes).map(([name, code]) => [code, name as CodeName]),
);

/** The trailer with which a gRPC server asks its client to wait before the next try, in whole milliseconds. */
const pushback = 'grpc-retry-pushback-ms';
/** Longer waits are cut to this. */
const maxPushbackMs = 24 * 3_600_000;

/** Only code, message and requested wait cross the wire; the cause stays here. A fault on our side is never UNKNOWN (D4). */
export function toConnectError(error: PlatformError): ConnectError {
  const code: Code = codes[error.code === 'unknown' ? 'internal' : error.code];
  // Text that was cut inside a character cannot be encoded, and the call would end without a status.
  const interpreted = new ConnectError(error.message.toWellFormed(), code);
  if (error.retryAfterMs !== undefined) interpreted.metadata.set(pushback, String(Math.ceil(error.retryAfterMs)));
  interpretedErrors.add(interpreted);
  return interpreted;
}

/** Whether the error's text was meant for the peer. */
export function isInterpreted(error: ConnectError): boolean {
  return interpretedErrors.has(error);
}

const interpretedErrors = new WeakSet<ConnectError>();

/** What a codec or a remote server reported, without the `[code]` prefix that Connect puts before messages. */
export function fromConnectError(error: ConnectError): PlatformError {
  const code = nameOfCode.get(error.code) ?? 'unknown';
  return new PlatformError(code, error.rawMessage, error.cause ?? error, { retryAfterMs: waitIn(error.metadata) });
}

function waitIn(metadata: Headers): number | undefined {
  const text = metadata.get(pushback) ?? '';
  return /^\d{1,12}$/.test(text) ? Math.min(Number(text), maxPushbackMs) : undefined;
}

const shutdownText = 'the server is shutting down; try again in a moment';

const shutdowns = new WeakSet<ConnectError>();

/** The reason with which running calls end when a stopping server no longer waits for them. */
export function shutdownReason(): ConnectError {
  const reason = toConnectError(unavailable(shutdownText));
  shutdowns.add(reason);
  return reason;
}

export function isShutdown(reason: ConnectError): boolean {
  return shutdowns.has(reason);
}
