/** Reads what the preloaded library recorded, as the calls that `cutImages` takes. */
import type { Syscall } from '../record-syscalls.ts';

const mark = Buffer.from('\u0001R ');

/** A process that was killed while it recorded leaves a part of a record, which is skipped. */
export function readJournal(journal: Buffer): Syscall[] {
  const calls: Syscall[] = [];
  const begun = new Map<string, number>();
  for (let at = journal.indexOf(mark); at !== -1; ) {
    const found = recordAt(journal, at);
    if (found === undefined) {
      at = journal.indexOf(mark, at + mark.length);
      continue;
    }
    const { kind, number, path, to, bytes, end } = found;
    at = journal.indexOf(mark, end);
    switch (kind) {
      case 'begin':
        begun.set(number, calls.length);
        break;
      case 'sync':
        calls.push({ kind, path, startedAt: begun.get(number) ?? 0 });
        break;
      case 'failed':
        calls.push({ kind: 'failed-sync', path });
        break;
      case 'write':
        calls.push({ kind, path, offset: Number(number), bytes });
        break;
      case 'truncate':
        calls.push({ kind, path, length: Number(number) });
        break;
      case 'rename':
      case 'link':
        calls.push({ kind, path, to });
        break;
      case 'create':
      case 'mkdir':
      case 'unlink':
        calls.push({ kind, path });
        break;
      default:
        throw new Error(`the journal of disk faults has a record of kind ${JSON.stringify(kind)}`);
    }
  }
  return calls;
}

interface JournalRecord {
  readonly kind: string;
  readonly number: string;
  readonly path: string;
  readonly to: string;
  readonly bytes: Uint8Array;
  readonly end: number;
}

/** Undefined: incomplete. */
function recordAt(journal: Buffer, at: number): JournalRecord | undefined {
  const line = journal.indexOf('\n', at);
  if (line === -1) return undefined;
  const head = /^(\d+) (\w+) (\d+)\t([^\t]*)\t([^\t]*)$/.exec(journal.toString('utf8', at + mark.length, line));
  if (head === null) return undefined;
  const [, length = '0', kind = '', number = '0', path = '', to = ''] = head;
  const end = line + 1 + Number(length);
  const isWhole = end === journal.length || journal.subarray(end, end + mark.length).equals(mark);
  return isWhole ? { kind, number, path, to, bytes: journal.subarray(line + 1, end), end } : undefined;
}
