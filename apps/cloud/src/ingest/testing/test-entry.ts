/** An entry of the ingest log, for tests. */
import { createHash } from 'node:crypto';
import type { LogEntry } from '../log/log.ts';

const streamA: Uint8Array = new Uint8Array(16).fill(0xa);

/** An upload of part `p` in stream A, unless changed by `more`; equal `content` means equal bytes and hash. */
export function testEntry(seq: number, content = `content ${seq}`, more: Partial<LogEntry> = {}): LogEntry {
  return {
    partId: 'p',
    stream: streamA,
    seq,
    lowWaterMark: 0,
    sha256: new Uint8Array(createHash('sha256').update(content).digest()),
    batch: new TextEncoder().encode(content),
    fileId: `file-${seq}`,
    ...more,
  };
}
