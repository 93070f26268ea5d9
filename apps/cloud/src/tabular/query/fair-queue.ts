/**
 * Decides whose query runs next. No organization keeps the others waiting, however many queries it sends at once.
 *
 * Each organization has its own queue. A free slot goes to the organization with the fewest running queries; equals take turns. While
 * several organizations have queries, none gets more than half of the slots. A single one gets all but one, so that the next organization
 * finds a free slot. A full queue refuses queries.
 */
import { resourceExhausted } from '@platform/base';

export interface FairQueue {
  /**
   * Resolves with a slot; dispose it to return it. Rejects with the signal's reason. Throws resource_exhausted at once when too many
   * queries of the organization are waiting.
   */
  enter(organizationId: string, signal: AbortSignal): Promise<Disposable>;
  /** Waiting queries of all organizations. */
  readonly waiting: number;
}

interface Waiter {
  readonly admit: () => void;
}

interface Line {
  readonly waiters: Set<Waiter>;
  running: number;
}

export function createFairQueue({ slots, maxWaiting }: { slots: number; maxWaiting: number }): FairQueue {
  /** Only organizations with waiting or running queries, in the order of their turns. */
  const lines = new Map<string, Line>();
  const share = Math.max(1, Math.floor(slots / 2));
  const alone = Math.max(1, slots - 1);
  let free = slots;

  /** Of the organizations that may get a slot now, the one with the fewest; among equals, the one whose turn it is. */
  const next = (): [string, Line] | undefined => {
    const most = lines.size > 1 ? share : alone;
    let best: [string, Line] | undefined;
    for (const each of lines) {
      const [, { waiters, running }] = each;
      if (waiters.size === 0 || running >= most) continue;
      if (best === undefined || running < best[1].running) best = each;
    }
    return best;
  };

  const admit = (): void => {
    while (free > 0) {
      const [organizationId, line] = next() ?? [];
      const [waiter] = line?.waiters ?? [];
      if (organizationId === undefined || line === undefined || waiter === undefined) return;
      line.waiters.delete(waiter);
      line.running++;
      free--;
      // Move it to the end of the round.
      lines.delete(organizationId);
      lines.set(organizationId, line);
      waiter.admit();
    }
  };

  const leave = (organizationId: string, line: Line): void => {
    if (line.running === 0 && line.waiters.size === 0) lines.delete(organizationId);
    admit();
  };

  return {
    get waiting() {
      return [...lines.values()].reduce((sum, { waiters }) => sum + waiters.size, 0);
    },
    enter(organizationId, signal) {
      const line = lines.get(organizationId) ?? { waiters: new Set(), running: 0 };
      if (line.waiters.size >= maxWaiting)
        return Promise.reject(
          resourceExhausted(
            `organization ${organizationId}: ${line.running} of its queries are running and ${line.waiters.size} are waiting, which is the maximum; try again once some have ended, or combine queries`,
          ),
        );
      lines.set(organizationId, line);
      return new Promise((resolve, reject) => {
        const aborted = (): void => {
          line.waiters.delete(waiter);
          leave(organizationId, line);
          reject(signal.reason);
        };
        let released = false;
        const waiter: Waiter = {
          admit() {
            signal.removeEventListener('abort', aborted);
            resolve({
              [Symbol.dispose]() {
                if (released) return;
                released = true;
                line.running--;
                free++;
                leave(organizationId, line);
              },
            });
          },
        };
        line.waiters.add(waiter);
        signal.addEventListener('abort', aborted, { once: true });
        if (signal.aborted) aborted();
        else admit();
      });
    },
  };
}
