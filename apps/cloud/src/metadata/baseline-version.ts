/**
 * The number of the versions that went out first, with 0.1 (ADR-0077): of the layout of a data directory, and of the tables in each store.
 * Commits before it used the numbers from 1; none of them is used again.
 */
import { failedPrecondition } from '@platform/base';

export const baselineVersion = 103;

/** By the newest version that it reads: the last commit that reads what commits before 0.1 wrote. */
const lastCommits = [
  [99, '0dcb1cdd'],
  [100, '6eb3e1d3'],
  [101, '4d81c169'],
  [baselineVersion - 1, 'fe3824b3'],
] as const;

export interface Versions {
  readonly oldest: number;
  readonly newest: number;
}

/** @param migrations at least one, in ascending order */
export function versionsOf(migrations: readonly { readonly version: number }[]): Versions {
  return { oldest: migrations.at(0)?.version ?? 0, newest: migrations.at(-1)?.version ?? 0 };
}

/**
 * @param found the version of an existing store
 * @param readable the versions that this program reads; all others are refused
 * @param store what it is and where, at the beginning of the message
 * @throws failed_precondition
 */
export function requireReadable(found: number, { oldest, newest }: Versions, store: string): void {
  if (found > newest)
    throw failedPrecondition(
      `${store} has version ${found}, but this version supports only versions up to ${newest}: start the newer version that wrote it. Nothing was changed`,
    );
  const [, lastCommit] = lastCommits.find(([version]) => found <= version) ?? [];
  if (found < oldest)
    throw failedPrecondition(
      `${store} has version ${found}, of a commit before release 0.1, but this version supports only versions from ${oldest} on. Nothing was changed; start with an empty data directory (and database), or go on with the commit that wrote it (${lastCommit} still reads and exports it)`,
    );
}
