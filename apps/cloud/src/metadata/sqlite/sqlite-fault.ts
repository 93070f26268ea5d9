/** The only place that interprets errors from SQLite. */
import { type CodeName, ownFault, type PlatformError } from '@platform/base';
import type { FaultKind, SqliteFault } from './thread-protocol.ts';

// Primary result codes of SQLite, https://www.sqlite.org/rescode.html
const kinds: Readonly<Record<number, FaultKind>> = {
  5: 'busy', // BUSY
  6: 'busy', // LOCKED
  8: 'fatal', // READONLY
  10: 'fatal', // IOERR, failed syncs included
  11: 'fatal', // CORRUPT
  13: 'full', // FULL
  14: 'fatal', // CANTOPEN: the journal's file
  19: 'constraint', // CONSTRAINT
  26: 'fatal', // NOTADB
};

export function sqliteFault(caught: unknown): SqliteFault {
  const message = caught instanceof Error ? caught.message : String(caught);
  const code = caught instanceof Error && 'errcode' in caught ? Number(caught.errcode) & 0xff : -1;
  return { kind: kinds[code] ?? 'statement', message };
}

const ioError = 10;
/** An I/O error for lack of memory. */
const ioNoMemory = ioError | (12 << 8);
const corrupt = 11;

/** Of a statement that only reads. */
export function readFault(caught: unknown): SqliteFault {
  const fault = sqliteFault(caught);
  return isUnreadable(caught) ? { ...fault, kind: 'unreadable' } : fault;
}

/** Whether a read may have failed because of the disk: SQLite reports EIO as a damaged file. */
export function isUnreadable(caught: unknown): boolean {
  const code = caught instanceof Error && 'errcode' in caught ? Number(caught.errcode) : -1;
  return code !== ioNoMemory && [ioError, corrupt].includes(code & 0xff);
}

/** The caller sees neither the file nor the statement (D37). @param what the statement or the upload. @param file the database. */
export function faultError({ kind, message }: SqliteFault, what: string, file: string): PlatformError {
  const fault = (code: CodeName, text: string): PlatformError => ownFault(code, text, `${file}: ${what}: ${message}`);
  switch (kind) {
    case 'full':
      return fault('resource_exhausted', 'the disk of the server is full; nothing was stored');
    case 'busy':
      return fault('unavailable', 'the store is in use by another process; try again in a moment');
    case 'constraint':
      return fault('already_exists', contradiction);
    case 'fatal':
      return fault('unavailable', 'the store cannot be written and the process must restart; try again in a moment');
    case 'unreadable':
      return fault('unavailable', 'a part of the store cannot be read; try again in a moment');
    case 'statement':
      return fault('internal', 'the store rejected a statement');
  }
}

/** For UNIQUE, FOREIGN KEY, NOT NULL and CHECK. */
export const contradiction = 'this conflicts with stored data: it already exists, or what it belongs to does not';
