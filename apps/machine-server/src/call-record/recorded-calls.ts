/** What is known about calls that did not come through the cloud: one record for the equal calls of one caller within ten seconds. */
import { newId, printable, withoutPort } from '@platform/base';
import type { DirectCaller } from '../serve/authenticate.ts';

/** A call that is more than a read, before it runs. */
export interface DirectCall {
  readonly caller: DirectCaller;
  /** `address:port`. */
  readonly peerAddress: string;
  /** Such as `MotorService.SetPower`. */
  readonly operation: string;
  /** The name of the resource; empty: the machine itself. */
  readonly resource: string;
  /** In JSON, from `argumentsOf`. */
  readonly arguments: string;
}

/** Everything but `lastMs`, `count`, `arguments` and `dropped` is the same for the life of a record. */
export interface RecordedCalls {
  /** A UUID, by which the cloud recognises a record that it already has. */
  readonly id: string;
  readonly caller: string;
  /** If the caller has no name, the address from which the first call came. */
  readonly callerName: string;
  readonly path: DirectCaller['path'];
  readonly operation: string;
  readonly resource: string;
  /** Wall clock ms. */
  readonly firstMs: number;
  lastMs: number;
  count: number;
  /** Of the last call, as text in JSON; secrets are masked. At most 1 KiB in UTF-8. */
  arguments: string;
  /** Records before this one for which there was no space. */
  dropped: number;
}

const maxNameLength = 255;
const maxArgumentBytes = 1_024;

/** Names as they are recorded: without control characters, and short. */
export function recordedName(text: string): string {
  return printable(
    text
      .slice(0, maxNameLength)
      .toWellFormed()
      .replaceAll(/[\t\n]/g, ' '),
  ).slice(0, maxNameLength);
}

/** @param redact masks secrets */
export function recordedArguments(json: string, redact: (text: string) => string): string {
  const text = printable(redact(json));
  if (Buffer.byteLength(text) <= maxArgumentBytes) return text;
  // A cut character becomes U+FFFD, which has three bytes.
  return Buffer.from(text)
    .subarray(0, maxArgumentBytes)
    .toString()
    .replace(/\ufffd$/, '');
}

export function firstOf(call: DirectCall, nowMs: number, redact: (text: string) => string): RecordedCalls {
  const { caller, peerAddress, operation, resource } = call;
  return {
    ...{
      id: newId(),
      caller: recordedName(caller.caller),
      callerName: recordedName(caller.name || withoutPort(peerAddress)),
    },
    ...{ path: caller.path, operation: recordedName(operation), resource: recordedName(resource) },
    ...{ firstMs: nowMs, lastMs: nowMs, count: 1, arguments: recordedArguments(call.arguments, redact), dropped: 0 },
  };
}
