/** Converts errors of the author's code to the errors that callers get. */
import { errorText, failedPrecondition, type Log, PlatformError, stackText } from '@platform/base';

/**
 * A PlatformError and an abort pass unchanged. Any other error becomes `failed_precondition` with its message: the caller of a module is its
 * own machine, and needs to know what went wrong. It tells the error, so the log gets only the stack, at debug.
 */
export function authoredError(caught: unknown, signal: AbortSignal | undefined, log: Log): unknown {
  if (caught instanceof PlatformError && !caught.isOwnFault) return caught;
  if (signal?.aborted === true && (caught === signal.reason || (caught as Error | undefined)?.name === 'AbortError'))
    return caught;
  log.debug(errorText(caught), { stack: stackText(caught) });
  return failedPrecondition(errorText(caught), caught);
}
