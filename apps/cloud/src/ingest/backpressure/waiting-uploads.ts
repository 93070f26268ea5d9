/**
 * Uploads that wait before they are appended, by organization, oldest first.
 *
 * Waiting uploads are in memory, so they are bounded. If one more does not fit, the organization with the most waiting loses its newest.
 */
import { type Clock, getOrInsert, PlatformError } from '@platform/base';
import type { AdmitRequest } from './backpressure.ts';

export interface WaitRequest extends Pick<AdmitRequest, 'organizationId' | 'bytes' | 'signal'> {
  readonly maxMs: number;
  /** Called at the end of the wait, synchronously, unless the upload is refused. */
  readonly onAdmitted: () => void;
}

export interface WaitingUploads {
  readonly count: number;
  /** Resolves after `maxMs` or earlier. Throws canceled (the sender disconnected) or resource_exhausted (too many uploads are waiting). */
  wait(request: WaitRequest): Promise<void>;
  /** Ends waits, alternating between organizations, as long as `may` returns true. */
  release(may: () => boolean): void;
}

interface Waiting {
  end(refusal?: PlatformError): void;
}

interface OrganizationQueue {
  readonly waiting: Waiting[];
  bytes: number;
}

/** Bytes of a waiting upload besides its readings: its call. */
const callBytes = 4_096;
/** How long senders are asked to wait when too many uploads are waiting. */
const overloadWaitMs = 2_000;

/** @param onRefused called before each refusal */
export function createWaitingUploads({
  maxBytes,
  clock,
  onRefused,
}: {
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly onRefused: () => void;
}): WaitingUploads {
  const queues = new Map<string, OrganizationQueue>();
  let all = 0;
  let count = 0;

  const refusal = (): PlatformError => {
    onRefused();
    return new PlatformError(
      'resource_exhausted',
      `readings arrive faster than they can be stored, and ${Math.round(maxBytes / 1e6)} MB of uploads are waiting already: send this one again later`,
      undefined,
      { retryAfterMs: overloadWaitMs },
    );
  };
  const bytesOf = (organizationId: string): number => queues.get(organizationId)?.bytes ?? 0;
  const makeRoom = (organizationId: string, bytes: number): void => {
    while (count > 0 && all + bytes > maxBytes) {
      const largest = [...queues.values()].reduce((most, queue) => (queue.bytes > most.bytes ? queue : most));
      if (largest.bytes <= bytesOf(organizationId) + bytes) throw refusal();
      largest.waiting.at(-1)?.end(refusal());
    }
  };

  return {
    get count() {
      return count;
    },
    async wait({ organizationId, bytes: readings, maxMs, signal, onAdmitted }) {
      const bytes = readings + callBytes;
      makeRoom(organizationId, bytes);
      const queue = getOrInsert(queues, organizationId, () => ({ waiting: [], bytes: 0 }));
      await new Promise<void>((resolve, reject) => {
        const gone = (): void =>
          waiting.end(
            new PlatformError('canceled', 'the sender disconnected before its upload was stored: send it again'),
          );
        const timer = clock.after(maxMs, () => waiting.end());
        const waiting: Waiting = {
          end(refused) {
            timer[Symbol.dispose]();
            signal.removeEventListener('abort', gone);
            queue.waiting.splice(queue.waiting.indexOf(waiting), 1);
            queue.bytes -= bytes;
            if (queue.waiting.length === 0) queues.delete(organizationId);
            all -= bytes;
            count--;
            if (refused !== undefined) return reject(refused);
            onAdmitted();
            resolve();
          },
        };
        queue.waiting.push(waiting);
        queue.bytes += bytes;
        all += bytes;
        count++;
        if (signal.aborted) gone();
        else signal.addEventListener('abort', gone, { once: true });
      });
    },
    release(may) {
      while (count > 0)
        for (const queue of [...queues.values()]) {
          if (!may()) return;
          queue.waiting[0]?.end();
        }
    },
  };
}
