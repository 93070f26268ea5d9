/** What the doctor asks of metadata and log, whichever store they are in. */
import { cursorsSql } from '../../follow-log/store.ts';
import type { CatalogRows } from '../../tabular/integrity/catalog-findings.ts';
import { sealedPositionSql } from '../../tabular/store.ts';
import type { LogToCheck } from './check-log.ts';
import type { ListedPayload } from './check-payloads.ts';

export interface DoctorStore {
  /** Each answers what was found, or throws what is wrong and what to do. */
  readonly checks: readonly { readonly name: string; readonly look: () => Promise<string> }[];
  /** All rows of the catalog of readings, at this moment. */
  catalog(): Promise<CatalogRows>;
  /** What the log names, below `blobs/`. */
  payloads(): Promise<readonly string[]>;
  /** What the list of pictures and files says of their payloads. */
  listedPayloads(): Promise<readonly ListedPayload[]>;
  /** Reads the log, and how far everyone had followed it before. */
  log<T>(look: (log: LogToCheck, followed: number) => Promise<T>): Promise<T>;
}

/** The least of the positions is how far everyone has followed the log. */
export const followedSql: readonly string[] = [sealedPositionSql, cursorsSql];

export function payloadOf(row: Readonly<Record<string, unknown>>): ListedPayload {
  const text = (name: string): string => String(row[name]);
  return { id: text('id'), path: text('path'), sizeBytes: Number(row['size_bytes']), sha256: text('sha256') };
}
