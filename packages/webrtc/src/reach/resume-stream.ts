/** A stream of answers that goes on when a path is lost. No Node: browsers load this file. */
import {
  asPlatformError,
  type Backoff,
  backoffMs,
  type Clock,
  type PlatformError,
  systemClock,
} from '@platform/base/portable';

export interface ResumeOptions {
  /** Called before the stream is opened again. Answers of the time between are missing. */
  readonly onLost?: ((reason: PlatformError) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Pick<Clock, 'sleep'> | undefined;
}

const backoff: Backoff = { firstMs: 200, maxMs: 10_000 };

/**
 * Opens a stream again whenever it ends with UNAVAILABLE: only for reads, and for those that need not begin where the last one ended. Other
 * errors, such as lost rights, are thrown.
 *
 * @param open `(options) => board.streamTicks(request, options)`; opened anew, it takes the path that is then the best
 */
export async function* resumeStream<T>(
  open: (options: { readonly signal?: AbortSignal }) => AsyncIterable<T>,
  { onLost, signal, clock = systemClock }: ResumeOptions = {},
): AsyncGenerator<T, void> {
  for (let failures = 0; ; ) {
    try {
      for await (const message of open(signal === undefined ? {} : { signal })) {
        failures = 0;
        yield message;
      }
      return;
    } catch (caught) {
      const reason = asPlatformError(caught);
      if (reason.code !== 'unavailable' || signal?.aborted === true) throw caught;
      onLost?.(reason);
      // The path that is left probably works at once.
      if (failures++ > 0) await clock.sleep(backoffMs(failures - 1, backoff), signal);
    }
  }
}
