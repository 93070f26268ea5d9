/** Keeps a stream from a device open: when it ends, reopens it after delays that increase from 1 s to 1 min. */

import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { backoffMs, type Clock, errorText, type Log } from '@platform/base';

export interface KeepOpenOptions {
  /** Names the device in the log. */
  readonly name: string;
  open(): Promise<Readable>;
  onChunk(chunk: Uint8Array): void;
  /** @param text why it ended, or could not be opened again */
  onEnd(text: string): void;
  /** A stream that is silent for this long is reopened; default: it may be silent. */
  readonly stallMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** A stream that was open for this long did not fail at its start. */
const goodMs = 60_000;

/** @throws what the first `open` throws. Disposing closes the stream. */
export async function keepOpen({
  name,
  open,
  onChunk,
  onEnd,
  stallMs,
  clock,
  log,
}: KeepOpenOptions): Promise<AsyncDisposable> {
  const stop = new AbortController();
  let stream: Readable | undefined;
  /** Resolves when the stream has ended, with the reason. */
  const follow = async (opened: Readable): Promise<string> => {
    stream = opened;
    let isSilent = true;
    opened.on('data', (chunk: Uint8Array) => {
      isSilent = false;
      onChunk(chunk);
    });
    using _watch =
      stallMs === undefined
        ? undefined
        : clock.every(stallMs, () => {
            if (isSilent) opened.destroy(new Error(`nothing came for ${stallMs / 1_000} s`));
            isSilent = true;
          });
    try {
      await finished(opened, { writable: false });
      return 'the device ended the connection';
    } catch (caught) {
      return errorText(caught);
    } finally {
      opened.destroy();
    }
  };
  const run = async (first: Readable): Promise<void> => {
    let failures = 0;
    let sinceMs = clock.monotonic();
    let next: Readable | undefined = first;
    while (!stop.signal.aborted) {
      let text = '';
      try {
        text = await follow(next ?? (await open()));
      } catch (caught) {
        text = errorText(caught);
      }
      next = undefined;
      if (stop.signal.aborted) return;
      failures = clock.monotonic() - sinceMs >= goodMs ? 1 : failures + 1;
      onEnd(text);
      const waitMs = backoffMs(failures, { firstMs: 1_000, maxMs: 60_000 });
      log.warn(`${name}: ${text}; opening it again in ${Math.round(waitMs)} ms`);
      await clock.sleep(waitMs, stop.signal).catch(() => {});
      sinceMs = clock.monotonic();
    }
  };
  const finishedRunning = run(await open());
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      stream?.destroy();
      await finishedRunning;
    },
  };
}
