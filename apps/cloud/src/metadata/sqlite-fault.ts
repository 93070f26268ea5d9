/** The one place where what SQLite throws is interpreted. */
import { PlatformError } from '@platform/base';
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

/** @param what the statement or the upload, for the message. @param file which database. */
export function faultError(fault: SqliteFault, what: string, file: string): PlatformError {
  switch (fault.kind) {
    case 'full':
      return new PlatformError(
        'resource_exhausted',
        `the disk that holds ${file} is full; nothing of ${what} was stored`,
      );
    case 'busy':
      return new PlatformError('unavailable', `${file} is locked by another process: ${fault.message}`);
    case 'constraint':
      return new PlatformError('already_exists', `${what}: ${fault.message}`);
    case 'fatal':
      return new PlatformError('unavailable', `writing ${file} failed, the process has to restart: ${fault.message}`);
    case 'statement':
      return new PlatformError('internal', `${what}: ${fault.message}`);
  }
}
