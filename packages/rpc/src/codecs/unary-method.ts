/** A unary method as the gRPC fast path calls it: bytes in, bytes out, one function for each step. */
import { fromBinary } from '@bufbuild/protobuf';
import type { Admission, Authenticate } from '../core/admission.ts';
import type { BoundMethod } from '../core/binding.ts';
import { binaryOf } from '../core/encoded-message.ts';
import type { FastPathCall } from '../core/fast-path-call.ts';
import { maxMessageDepth } from '../core/max-message-depth.ts';
import { respond } from '../core/run-call.ts';
import { RunningCall } from '../core/running-call.ts';
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
  admission: Admission<P>,
  authenticate: Authenticate<P>,
): UnaryMethod {
  const { maxElements, maxRequestBytes } = admission.costOf(bound.path);
  const { input, output } = bound.method;
  const readOptions = { recursionLimit: maxMessageDepth, readUnknownFields: bound.keepUnknown };
  return {
    path: bound.path,
    maxRequestBytes,
    async admit(start) {
      const call = new RunningCall<P>(start);
      await admission.admit(call, authenticate, (promise) => start.orEnded(promise));
      return {
        decode(bytes) {
          if (findExcess(input, bytes, maxElements) !== undefined) return undefined;
          const request = decoded(() => fromBinary(input, bytes, readOptions));
          if (request === undefined) return undefined;
          return async () => {
            try {
              const answer = Promise.resolve(bound.handler(canonicalise(input, request), call));
              return binaryOf(output, respond(output, await start.orEnded(answer), call));
            } catch (caught) {
              throw admission.interpret(caught, call);
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
