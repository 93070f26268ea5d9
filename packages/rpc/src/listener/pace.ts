/**
 * Enforces progress on bodies (R17): a client that sends one a byte at a time, or stops in the middle, holds a connection, memory and
 * perhaps an open upload. A body that stalls or trickles is ended within two windows; one on a line of 300 B/s is not.
 */
import { type Clock, PlatformError } from '@platform/base';
import { toConnectError } from '../core/errors.ts';
import { untilAborted } from '../core/until-aborted.ts';
import { minBodyBytes } from './limits.ts';

export interface PaceOptions {
  /** Used in error messages. */
  readonly path: string;
  /** Length of one window. */
  readonly slowBodyMs: number;
  readonly clock: Clock;
  /** Whether the client owes bytes now: false between the messages of a stream that may be quiet. */
  readonly owed: () => boolean;
  /** Called before the error is thrown. */
  readonly onSlow: () => void;
}

/**
 * Passes the body on unchanged. Throws deadline_exceeded when a window brought fewer than `minBodyBytes`. Only time spent waiting for the
 * client counts, not what the server does meanwhile. Abandoning the body leaves no timer behind.
 */
export async function* paced(
  body: AsyncIterable<Uint8Array>,
  { path, slowBodyMs, clock, owed, onSlow }: PaceOptions,
): AsyncGenerator<Uint8Array, void> {
  const slow = new AbortController();
  let found = 0;
  let waitedMs = 0;
  let waiting: Disposable | undefined;

  const endWindow = (): void => {
    if (owed() && found < minBodyBytes) {
      onSlow();
      const text = `expected at least ${minBodyBytes} bytes of the request of ${path} in ${slowBodyMs} ms, or its end, found ${found}: send it again`;
      slow.abort(toConnectError(new PlatformError('deadline_exceeded', text)));
      return;
    }
    found = 0;
    waitedMs = 0;
    waiting = wait();
  };
  const wait = (): Disposable => {
    const sinceMs = clock.monotonic();
    let isOver = false;
    // If the process was stalled for that long, the bytes may be waiting: they are read first.
    const timer = clock.after(slowBodyMs - waitedMs, () => setImmediate(() => isOver || endWindow()));
    return {
      [Symbol.dispose]() {
        isOver = true;
        timer[Symbol.dispose]();
        waitedMs += clock.monotonic() - sinceMs;
      },
    };
  };

  try {
    waiting = wait();
    for await (const chunk of untilAborted(body, slow.signal)) {
      waiting[Symbol.dispose]();
      found += chunk.length;
      yield chunk;
      // In a stream that may be quiet, each message starts new windows.
      if (!owed()) found = waitedMs = 0;
      waiting = wait();
    }
  } finally {
    waiting?.[Symbol.dispose]();
  }
}
