/** Requests that do not decode: the protocol libraries call them INTERNAL, but the fault is the client's (D4). */
import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { PlatformError } from '@platform/base';
import { toConnectError } from '../core/errors.ts';

/** Watches until the request has been decoded. @returns ends the watch: whatever is INTERNAL from now on is our fault. */
export function blameRequest(context: HandlerContext): () => void {
  const { signal, method } = context;
  const onAbort = (): void => {
    const error: unknown = signal.reason;
    // A codec aborts the call with the error that it is about to answer, and reads the code from it afterwards.
    if (isUndecoded(error)) Object.assign(error, asRequestFault(error, method));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/** The messages of a stream of requests, each of which may be one that does not decode. */
export async function* decodable<T>(requests: AsyncIterable<T>, method: DescMethod): AsyncGenerator<T, void> {
  try {
    yield* requests;
  } catch (caught) {
    throw isUndecoded(caught) ? asRequestFault(caught, method) : caught;
  }
}

function isUndecoded(caught: unknown): caught is ConnectError {
  return caught instanceof ConnectError && caught.code === Code.Internal;
}

function asRequestFault(error: ConnectError, { name, parent, input }: DescMethod): ConnectError {
  const why = error.rawMessage.replace(/^parse binary: /, '');
  const text = `expected a ${input.typeName} as the request of /${parent.typeName}/${name}, found bytes that do not decode: ${why}`;
  return toConnectError(new PlatformError('invalid_argument', text, error));
}
