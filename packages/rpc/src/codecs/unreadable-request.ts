/** Requests that do not decode: the protocol libraries call them INTERNAL, but the fault is the client's (D4). */
import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { invalidArgument } from '@platform/base';
import { toConnectError } from '../core/errors.ts';

/** Watches until the request has been decoded. @returns a function that ends the watch: any INTERNAL after that is our fault. */
export function blameRequest(context: HandlerContext): () => void {
  const { signal, method } = context;
  const onAbort = (): void => {
    const error: unknown = signal.reason;
    // A codec aborts the call with the error that it is about to send, and reads the code from it afterwards.
    if (isUndecoded(error)) Object.assign(error, asRequestFault(error, method));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/** The messages of a request stream; one that does not decode throws the client's fault. */
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
  return toConnectError(invalidArgument(text, error));
}
