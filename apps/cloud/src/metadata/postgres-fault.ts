/** The one place where what Postgres, or the way to it, throws is interpreted. */
import { PlatformError } from '@platform/base';

/** @param what the statement or the upload, for the message. @param where which database. */
export function postgresError(caught: unknown, what: string, where: string): PlatformError {
  if (caught instanceof PlatformError) return caught;
  const message = caught instanceof Error ? caught.message : String(caught);
  const state = sqlState(caught);
  const said = (code: ConstructorParameters<typeof PlatformError>[0], text: string): PlatformError =>
    new PlatformError(code, text, caught);
  if (isConnectionLost(caught))
    return said('unavailable', `${where} cannot be reached, nothing of ${what} was stored: ${message}`);
  if (state === '53100')
    return said('resource_exhausted', `the disk of ${where} is full; nothing of ${what} was stored`);
  // Integrity: UNIQUE, FOREIGN KEY, NOT NULL, CHECK.
  if (state.startsWith('23')) return said('already_exists', `${what}: ${message}`);
  // Resources, locks, a server that is read-only, its own I/O: what was begun was rolled back.
  if (/^(53|55|57|58|XX|40|25006)/.test(state)) return said('unavailable', `${where} refused ${what}: ${message}`);
  if (/^(28|3D|42501)/.test(state)) return said('failed_precondition', `${where}: ${message}`);
  return said('internal', `${what}: ${message}`);
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
