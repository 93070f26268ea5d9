/** Counts the lines that readers get, each with its stored size, for billing. */
import { bytesOf } from './line.ts';
import type { MachineLogs } from './logs.ts';

type Reads = Pick<MachineLogs, 'read' | 'tail'>;

export function countedReads(reads: Reads, sent: (partId: string, bytes: number) => void): Reads {
  return {
    async read(request) {
      const page = await reads.read(request);
      sent(request.partId, page.bytes);
      return page;
    },
    tail(partId, matches) {
      const tail = reads.tail(partId, matches);
      return {
        async next(waitMs, signal) {
          const lines = await tail.next(waitMs, signal);
          sent(
            partId,
            lines.reduce((sum, line) => sum + bytesOf(line), 0),
          );
          return lines;
        },
        [Symbol.dispose]: () => tail[Symbol.dispose](),
      };
    },
  };
}
