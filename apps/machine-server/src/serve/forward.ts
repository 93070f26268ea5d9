/** Forwards calls to a resource in another process unchanged. */
import { failedPrecondition, PlatformError } from '@platform/base';
import type { ResourceCall } from '@platform/resources';

/** @param options timeoutMs 0: no limit except `signal`. */
type Method = (request: unknown, options: ResourceCall & { readonly timeoutMs: number }) => unknown;

/**
 * gRPC turns any error without a code into UNKNOWN, and its message is meant for the caller. It passes as FAILED_PRECONDITION, like that of
 * a resource in this process; otherwise it would be treated as a fault of this server, and hidden.
 */
export function forward(method: Method, isStream: boolean): (request: unknown, call: ResourceCall) => unknown {
  // Only the caller ends it: a time limit of the connection could end it too early.
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
  if (caught instanceof PlatformError && caught.code === 'unknown') throw failedPrecondition(caught.message, caught);
  throw caught;
}
