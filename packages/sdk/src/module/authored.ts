/** Errors of the author's code, as callers get them. */
import { errorText, type Log, PlatformError, stackText } from '@platform/base';

/**
 * A PlatformError and an abort pass. Of anything else the message passes, as `failed_precondition`, and the log gets its stack: callers of
 * a module are its own machine, and need to read what went wrong.
 */
export function authoredError(caught: unknown, signal: AbortSignal | undefined, log: Log): unknown {
  if (caught instanceof PlatformError && !caught.isOwnFault) return caught;
  if (signal?.aborted === true && (caught === signal.reason || (caught as Error | undefined)?.name === 'AbortError'))
    return caught;
  log.error(errorText(caught), { stack: stackText(caught) });
  return new PlatformError('failed_precondition', errorText(caught), caught);
}
