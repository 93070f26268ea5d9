/** Converts PlatformError ↔ ConnectError; the only file that knows both. */

import { type Code, ConnectError } from '@connectrpc/connect';
import { type CodeName, codes, PlatformError } from '@platform/base';

const nameOfCode: ReadonlyMap<number, CodeName> = new Map(
  Object.entries(codes).map(([name, code]) => [code, name as CodeName]),
);

/** Only code and message cross the wire; the cause stays here. A fault on our side is never UNKNOWN (D4). */
export function toConnectError(error: PlatformError): ConnectError {
  const code: Code = codes[error.code === 'unknown' ? 'internal' : error.code];
  // Text that was cut inside a character cannot be encoded, and the call would end without a status.
  const interpreted = new ConnectError(error.message.toWellFormed(), code);
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
  return new PlatformError(nameOfCode.get(error.code) ?? 'unknown', error.rawMessage, error.cause ?? error);
}

const shutdownText = 'the server is shutting down; try again in a moment';

/** The reason with which running calls end when a stopping server no longer waits for them. */
export function shutdownReason(): ConnectError {
  return toConnectError(new PlatformError('unavailable', shutdownText));
}

export function isShutdown(reason: ConnectError): boolean {
  return reason.rawMessage === shutdownText;
}
