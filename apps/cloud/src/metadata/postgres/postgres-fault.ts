/** The one place where what Postgres, or the way to it, throws is interpreted. */
import { type CodeName, ownFault, PlatformError } from '@platform/base';
import { contradiction } from '../sqlite/sqlite-fault.ts';

/** The caller reads nothing of the address and the statement (D37). @param what the statement or the upload. @param where which database. */
export function postgresError(caught: unknown, what: string, where: string): PlatformError {
  if (caught instanceof PlatformError) return caught;
  const state = sqlState(caught);
  const fault = (code: CodeName, text: string): PlatformError => ownFault(code, text, `${where}: ${what}`, caught);
  if (isConnectionLost(caught)) return fault('unavailable', 'the database cannot be reached; nothing was stored');
  if (state === '53100') return fault('resource_exhausted', 'the disk of the database is full; nothing was stored');
  // Integrity: UNIQUE, FOREIGN KEY, NOT NULL, CHECK.
  if (state.startsWith('23')) return fault('already_exists', contradiction);
  // Resources, locks, a server that is read-only, its own I/O: what was begun was rolled back.
  if (/^(53|55|57|58|XX|40|25006)/.test(state))
    return fault('unavailable', 'the database is refusing requests for now; try again');
  if (/^(28|3D|42501)/.test(state))
    return fault('failed_precondition', 'the database no longer accepts connections of this installation');
  return fault('internal', 'the database rejected a statement');
}

/** The connection ended, or there was none: whatever was not committed is rolled back by the server. */
export function isConnectionLost(caught: unknown): boolean {
  const state = sqlState(caught);
  return state === '' || state.startsWith('08') || /^57P0[1-5]$/.test(state);
}

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** A server that is being started, or is not at its address yet; not one that refuses what it is asked, such as a password. */
export function isNotThereYet(caught: unknown): boolean {
  // Starting up, shutting down, recovering.
  if (sqlState(caught) !== '') return /^57P0[1-5]$/.test(sqlState(caught));
  if (!(caught instanceof Error)) return false;
  // A name of several addresses fails with one error for each.
  if (caught instanceof AggregateError) return caught.errors.length > 0 && caught.errors.every(isNotThereYet);
  if ('code' in caught) return networkCodes.has(String(caught.code));
  return /timeout expired|connection timeout|Connection terminated|connection was lost/i.test(caught.message);
}

/** A statement before it had failed, so that the transaction takes none any more. */
export function isFailedBefore(caught: unknown): boolean {
  return sqlState(caught) === '25P02';
}

/** SQLSTATE, https://www.postgresql.org/docs/current/errcodes-appendix.html; '' when the server did not answer. */
function sqlState(caught: unknown): string {
  const code = caught instanceof Error && 'code' in caught && 'severity' in caught ? String(caught.code) : '';
  return /^[0-9A-Z]{5}$/.test(code) ? code : '';
}
