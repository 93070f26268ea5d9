/** What callers are told if no machine answers them. The words are those that public clients compare. */
import {
  type CodeName,
  codes,
  deadlineExceeded,
  invalidArgument,
  notFound,
  PlatformError,
  printable,
  unavailable,
  unimplemented,
} from '@platform/base';
import type { Status } from '@platform/proto/google/rpc/status';

/** Go takes it for "no signaler", and goes on with plain gRPC. */
export function notConfigured(): PlatformError {
  return invalidArgument('host not preconfigured');
}

export function offline(): PlatformError {
  return notFound('host appears to be offline; ensure machine is online and try again');
}

export function tooManyCallers(): PlatformError {
  return unavailable('too many connection attempts; please wait a bit and try again');
}

/** Clients go on with plain gRPC at the same address. */
export function withoutWebRtc(): PlatformError {
  return unimplemented(
    'this machine does not answer over WebRTC, and the cloud passes calls to it on at this address: call the machine here with plain gRPC',
  );
}

export function noActiveOffer(uuid: string): PlatformError {
  return notFound(`no active offer for ${JSON.stringify(uuid.slice(0, 64))}`);
}

/** @param isAnswered by the machine, without a connection that followed */
export function tooLate(seconds: number, isAnswered: boolean): PlatformError {
  return deadlineExceeded(
    isAnswered
      ? `expected a direct connection between caller and machine within ${seconds} s of the call, found none. A network in between may not pass UDP on. Calls through the cloud, with gRPC at this address, need none`
      : `expected an answer of the machine within ${seconds} s, found none`,
  );
}

/** Codes of a machine that mean the same to its caller. Others would say something about the cloud, such as NOT_FOUND: that it is offline. */
const passedOn: ReadonlySet<CodeName> = new Set([
  ...(['canceled', 'invalid_argument', 'deadline_exceeded', 'resource_exhausted', 'failed_precondition'] as const),
  ...(['aborted', 'out_of_range', 'unimplemented', 'unavailable'] as const),
]);
const maxTextLength = 500;

/** The machine has failed, which is no fault of the cloud. */
export function errorFromAnswerer(status: Pick<Status, 'code' | 'message'> | undefined): PlatformError {
  const named = Object.entries(codes).find(([, number]) => number === status?.code)?.[0] as CodeName | undefined;
  const code = named !== undefined && passedOn.has(named) ? named : 'unavailable';
  const text = printable((status?.message || 'it gave no reason').slice(0, maxTextLength));
  return new PlatformError(code, `error from answerer: ${text}`, undefined, { isOwnFault: false });
}
