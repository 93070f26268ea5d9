/** What the doctor reads from metadata and log, in either kind of store. */
import { cursorsSql } from '../../follow-log/store.ts';
import type { CheckedRows } from '../../metadata/row-checks/find-row-damage.ts';
import type { CatalogRows } from '../../tabular/integrity/catalog-findings.ts';
import { sealedPositionSql } from '../../tabular/store.ts';
import type { LogToCheck } from './check-log.ts';
import type { ListedPayload } from './check-payloads.ts';

export interface DoctorStore {
  /** Each resolves to what was checked, or throws the problem and its remedy. */
  readonly checks: readonly { readonly name: string; readonly look: () => Promise<string> }[];
  /** All current rows of the catalog of readings. */
  catalog(): Promise<CatalogRows>;
  /** Payloads that the log refers to, as paths within `blobs/`. */
  payloads(): Promise<readonly string[]>;
  /** The payloads in the list of images and files. */
  listedPayloads(): Promise<readonly ListedPayload[]>;
  /** Every row that carries a checksum, and every set of rows that has a proof. */
  rows(): Promise<CheckedRows>;
  /** Reads how far all followers have processed the log, then the log itself. */
  log<T>(look: (log: LogToCheck, followed: number) => Promise<T>): Promise<T>;
}

/** All followers have processed the log up to the minimum of these positions. */
export const followedSql: readonly string[] = [sealedPositionSql, cursorsSql];

export function payloadOf(row: Readonly<Record<string, unknown>>): ListedPayload {
  const text = (name: string): string => String(row[name]);
  return { id: text('id'), path: text('path'), sizeBytes: Number(row['size_bytes']), sha256: text('sha256') };
}
