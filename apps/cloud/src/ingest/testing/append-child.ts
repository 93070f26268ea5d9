/**
 * A process that appends to an ingest log and writes what was acknowledged to stdout, for tests that kill it or record its writes.
 *
 * Arguments: the log's file, or the URL of its database, and a JSON object {stream, appends, parallel, batchBytes, truncateEvery, firstSeq}.
 * Output, one JSON object a line: {"ready":true}, {"ack":seq,"position","outcome"}, {"truncated":upTo}, {"done":true}.
 */
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { silentLog, systemClock } from '@platform/base';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import type { LogEntry } from '../log/log.ts';
import { openIngestLog } from '../log/open-ingest-log.ts';

export interface AppendPlan {
  /** Hex, 16 bytes. */
  readonly stream: string;
  readonly appends: number;
  readonly parallel: number;
  readonly batchBytes: number;
  /** Truncate half of the rows after this many acknowledgements; 0: never. */
  readonly truncateEvery: number;
  readonly firstSeq: number;
}

/** Upload number `seq` of a plan, the same in every process; its batch begins with a unique marker. */
export function plannedEntry(
  plan: Pick<AppendPlan, 'stream' | 'batchBytes'>,
  seq: number,
  lowWaterMark: number,
): LogEntry {
  const marker = createHash('sha256').update(`${plan.stream}/${seq}`).digest();
  const batch = new Uint8Array(Math.max(marker.length, plan.batchBytes)).fill(seq);
  batch.set(marker);
  return {
    partId: 'part',
    stream: Buffer.from(plan.stream, 'hex'),
    seq,
    lowWaterMark,
    sha256: createHash('sha256').update(batch).digest(),
    batch,
    fileId: `file-${seq}`,
  };
}

function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function main(file: string, plan: AppendPlan): Promise<void> {
  const database = file.startsWith('postgres:') ? file : undefined;
  await using log = await openIngestLog({ onFatal: throwUncaught, file, database, log: silentLog, clock: systemClock });
  say({ ready: true });
  const end = plan.firstSeq + plan.appends;
  const open = new Set<number>();
  let next = plan.firstSeq;
  let acknowledged = 0;
  const worker = async (): Promise<void> => {
    while (next < end) {
      const seq = next++;
      open.add(seq);
      const { position, outcome } = await log.append(plannedEntry(plan, seq, Math.min(...open)));
      open.delete(seq);
      say({ ack: seq, position, outcome });
      if (plan.truncateEvery > 0 && ++acknowledged % plan.truncateEvery === 0) {
        const upTo = Math.floor(log.lastPosition() / 2);
        // Reported in advance: from here on these rows may be gone.
        say({ truncated: upTo });
        await log.truncate(upTo, 1_000);
      }
    }
  };
  await Promise.all(Array.from({ length: plan.parallel }, worker));
  say({ done: true });
}

const [, self, file, plan] = process.argv;
if (self !== undefined && import.meta.url.endsWith(self.slice(self.lastIndexOf('/'))) && file && plan) {
  await main(file, JSON.parse(plan) as AppendPlan);
}
