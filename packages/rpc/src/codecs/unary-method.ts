/** A unary method as the gRPC fast path calls it: bytes in, bytes out, one function for each step. */
import { fromBinary } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import type { Log, LogFields } from '@platform/base';
import type { BoundMethod } from '../core/binding.ts';
import type { Call } from '../core/call.ts';
import { binaryOf } from '../core/encoded-message.ts';
import { toConnectError } from '../core/errors.ts';
import type { FastPathCall } from '../core/fast-path-call.ts';
import { faultOf } from '../core/faults.ts';
import { maxMessageDepth } from '../core/max-message-depth.ts';
import type { RequestLimits } from '../core/request-limits.ts';
import { respond } from '../core/run-call.ts';
import { callerOf, RunningCall } from '../core/running-call.ts';
import { findExcess } from '../core/wire-shape.ts';
import { canonicalise } from '../edge/translate-message.ts';

export interface UnaryMethod {
  readonly path: string;
  /** Of one message. */
  readonly maxRequestBytes: number;
  /** Authenticates the caller. Throws ConnectErrors. */
  admit(start: FastPathCall): Promise<AdmittedCall>;
}

export interface AdmittedCall {
  /** Decodes the request without calling the method. Undefined if the bytes are not a valid message, or hold too much. */
  decode(bytes: Uint8Array): (() => Promise<Uint8Array>) | undefined;
}

export function unaryMethod<P>(
  bound: Extract<BoundMethod<P>, { kind: 'unary' }>,
  options: {
    /** Undefined: the method needs no authentication. */
    readonly authenticate: ((call: Call) => Promise<P>) | undefined;
    readonly admitOpen?: ((call: Omit<Call, 'principal'>) => void) | undefined;
    readonly limits: Pick<RequestLimits, 'maxElements'> & { readonly maxRequestBytes: number };
    readonly callerFields: (principal: P) => LogFields;
    readonly log: Log;
  },
): UnaryMethod {
  const { authenticate, admitOpen, limits, callerFields, log } = options;
  const { input, output } = bound.method;
  const readOptions = { recursionLimit: maxMessageDepth, readUnknownFields: bound.keepUnknown };
  const asError = (caught: unknown, { method, signal }: FastPathCall, call: RunningCall<P>): ConnectError =>
    toConnectError(faultOf(caught, { method, signal, caller: callerOf(call, callerFields) }, log));
  return {
    path: bound.path,
    maxRequestBytes: limits.maxRequestBytes,
    async admit(start) {
      const call = new RunningCall<P>(start);
      try {
        if (authenticate === undefined) admitOpen?.(call);
        else call.admit(await start.orEnded(authenticate(call)));
      } catch (caught) {
        throw asError(caught, start, call);
      }
      return {
        decode(bytes) {
          if (findExcess(input, bytes, limits.maxElements) !== undefined) return undefined;
          const request = decoded(() => fromBinary(input, bytes, readOptions));
          if (request === undefined) return undefined;
          return async () => {
            try {
              const answer = Promise.resolve(bound.handler(canonicalise(input, request), call));
              return binaryOf(output, respond(output, await start.orEnded(answer), call));
            } catch (caught) {
              throw asError(caught, start, call);
            }
          };
        },
      };
    },
  };
}

function decoded<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
