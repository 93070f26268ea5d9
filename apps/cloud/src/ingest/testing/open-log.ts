/** An ingest log in a temporary directory of its own, for tests. */
import { createHash } from 'node:crypto';
import { type Clock, silentLog, systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import type { IngestLog, LogEntry } from '../log.ts';
import { openIngestLog } from '../open-ingest-log.ts';

export interface TestLog extends AsyncDisposable {
  readonly file: string;
  readonly log: IngestLog;
  /** Closes the log and opens it again, as a restart does. */
  reopen(): Promise<void>;
}

export async function openTestLog(clock: Clock = systemClock): Promise<TestLog> {
  const directory = await temporaryDirectory();
  const file = directory.file('ingest.sqlite');
  let log = await openIngestLog({ file, log: silentLog, clock });
  return {
    file,
    get log() {
      return log;
    },
    async reopen() {
      await log[Symbol.asyncDispose]();
      log = await openIngestLog({ file, log: silentLog, clock });
    },
    async [Symbol.asyncDispose]() {
      await log[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

export const streamA: Uint8Array = new Uint8Array(16).fill(0xa);

/** An upload of part `p`, stream A, unless said otherwise; equal `content` means equal bytes and hash. */
export function testEntry(seq: number, content = `content ${seq}`, more: Partial<LogEntry> = {}): LogEntry {
  return {
    partId: 'p',
    stream: streamA,
    seq,
    floor: 0,
    sha256: new Uint8Array(createHash('sha256').update(content).digest()),
    batch: new TextEncoder().encode(content),
    fileId: `file-${seq}`,
    ...more,
  };
}
