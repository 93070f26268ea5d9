/** Calls of a resource in another process, passed on unchanged. */
import { PlatformError } from '@platform/base';
import type { ResourceCall } from '@platform/resources';

/** @param options timeoutMs 0: no limit except `signal`. */
type Method = (request: unknown, options: ResourceCall & { readonly timeoutMs: number }) => unknown;

/**
 * UNKNOWN is what gRPC makes of any error of a program that has no code, and its message is meant for the caller: it passes as
 * FAILED_PRECONDITION, like that of a resource in this process. It would be taken for a fault of this server, and be hidden, otherwise.
 */
export function forward(method: Method, isStream: boolean): (request: unknown, call: ResourceCall) => unknown {
  // It ends with its caller: a time limit of the connection could end it earlier.
  return (request, { signal }) => {
    const answer = method(request, { signal, timeoutMs: 0 });
    return isStream ? eachOf(answer as AsyncIterable<unknown>) : Promise.resolve(answer).catch(passOn);
  };
}

async function* eachOf(answers: AsyncIterable<unknown>): AsyncGenerator<unknown, void> {
  try {
    yield* answers;
  } catch (caught) {
    passOn(caught);
  }
}

function passOn(caught: unknown): never {
  if (caught instanceof PlatformError && caught.code === 'unknown')
    throw new PlatformError('failed_precondition', caught.message, caught);
  throw caught;
}
