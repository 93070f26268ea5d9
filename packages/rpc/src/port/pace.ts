/**
 * Bodies must move (R17): whoever sends one a byte at a time, or stops in its middle, holds a connection, memory and perhaps
 * an open upload. A body that stalls or trickles ends within two windows; one on a line of 300 B/s does not.
 */
import { type Clock, PlatformError } from '@platform/base';
import { toConnectError } from '../core/errors.ts';
import { untilAborted } from '../core/until-aborted.ts';
import { minBodyBytes } from './limits.ts';

export interface PaceOptions {
  /** For messages. */
  readonly path: string;
  /** One window. */
  readonly slowBodyMs: number;
  readonly clock: Clock;
  /** Whether the client owes bytes now: not between the messages of a stream that may be quiet. */
  readonly owed: () => boolean;
  /** Called before the error is thrown. */
  readonly onSlow: () => void;
}

/** The body unchanged. Throws deadline_exceeded when a window that was spent waiting for the client brought fewer than `minBodyBytes`. */
export async function* paced(
  body: AsyncIterable<Uint8Array>,
  { path, slowBodyMs, clock, owed, onSlow }: PaceOptions,
): AsyncGenerator<Uint8Array, void> {
  const slow = new AbortController();
  let found = 0;
  let waitedMs = 0;
  let waitingSince: number | undefined = clock.monotonic();
  const closeWindow = (): void => {
    if (waitingSince !== undefined) {
      waitedMs += clock.monotonic() - waitingSince;
      waitingSince = clock.monotonic();
    }
    // What the server spent on work of its own is not the client's slowness.
    if (owed() && found < minBodyBytes && waitedMs > 0.9 * slowBodyMs) {
      onSlow();
      const text = `expected at least ${minBodyBytes} bytes of the request of ${path} in ${slowBodyMs} ms, or its end, found ${found}: send it again`;
      slow.abort(toConnectError(new PlatformError('deadline_exceeded', text)));
    }
    found = 0;
    waitedMs = 0;
  };
  // A process that did not run for so long may have the bytes waiting: they are read first.
  using _windows = clock.every(slowBodyMs, () => setImmediate(closeWindow));
  for await (const chunk of untilAborted(body, slow.signal)) {
    found += chunk.length;
    if (waitingSince !== undefined) waitedMs += clock.monotonic() - waitingSince;
    waitingSince = undefined;
    yield chunk;
    waitingSince = clock.monotonic();
  }
}
