/** The only place that interprets errors from Postgres or the connection to it. */
import { type CodeName, ownFault, PlatformError } from '@platform/base';
import { contradiction } from '../sqlite/sqlite-fault.ts';

/** The caller sees neither the address nor the statement (D37). @param what the statement or the upload. @param where the database. */
export function postgresError(caught: unknown, what: string, where: string): PlatformError {
  if (caught instanceof PlatformError) return caught;
  const state = sqlState(caught);
  const fault = (code: CodeName, text: string): PlatformError => ownFault(code, text, `${where}: ${what}`, caught);
  if (isConnectionLost(caught)) return fault('unavailable', 'the database cannot be reached; nothing was stored');
  if (state === '53100') return fault('resource_exhausted', 'the disk of the database is full; nothing was stored');
  // Integrity: UNIQUE, FOREIGN KEY, NOT NULL, CHECK.
  if (state.startsWith('23')) return fault('already_exists', contradiction);
  // Resources, locks, a read-only server, its own I/O errors: the transaction was rolled back.
  if (/^(53|55|57|58|XX|40|25006)/.test(state))
    return fault('unavailable', 'the database is refusing requests for now; try again');
  if (/^(28|3D|42501)/.test(state))
    return fault('failed_precondition', 'the database no longer accepts connections of this installation');
  return fault('internal', 'the database rejected a statement');
}

/** The connection ended or never existed: the server rolls back whatever was not committed. */
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

/** Whether the server is starting or not yet reachable; false if it refuses the request, for example because of the password. */
export function isNotThereYet(caught: unknown): boolean {
  // Starting up, shutting down, recovering.
  if (sqlState(caught) !== '') return /^57P0[1-5]$/.test(sqlState(caught));
  if (!(caught instanceof Error)) return false;
  // A name with several addresses fails with one error for each.
  if (caught instanceof AggregateError) return caught.errors.length > 0 && caught.errors.every(isNotThereYet);
  if ('code' in caught) return networkCodes.has(String(caught.code));
  return /timeout expired|connection timeout|Connection terminated|connection was lost/i.test(caught.message);
}

/** An earlier statement failed, so the transaction accepts no more. */
export function isFailedBefore(caught: unknown): boolean {
  return sqlState(caught) === '25P02';
}

/** SQLSTATE, https://www.postgresql.org/docs/current/errcodes-appendix.html; '' if the server did not answer. */
function sqlState(caught: unknown): string {
  const code = caught instanceof Error && 'code' in caught && 'severity' in caught ? String(caught.code) : '';
  return /^[0-9A-Z]{5}$/.test(code) ? code : '';
}
