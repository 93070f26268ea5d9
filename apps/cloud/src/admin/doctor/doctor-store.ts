/** What the doctor asks of metadata and log, whichever store they are in. */
import type { CatalogRows } from '../../tabular/integrity/catalog-findings.ts';
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

/** Of meta.sqlite, or the schema of that name. Their columns are those of CatalogRows. */
export const catalogTables: Readonly<Record<keyof CatalogRows, string>> = {
  state: 'tabular_state',
  files: 'tabular_files',
  deletes: 'tabular_deletes',
  proofs: 'tabular_proofs',
};

/** The least of these is how far everyone has followed the log. */
export const cursors: readonly string[] = [
  'select sealed_position as position from tabular_state',
  'select position from log_cursors',
];

export const selectPayloads = 'select id, blob_path as path, size_bytes, sha256 from binary_data';

export function payloadOf(row: Readonly<Record<string, unknown>>): ListedPayload {
  const text = (name: string): string => String(row[name]);
  return { id: text('id'), path: text('path'), sizeBytes: Number(row['size_bytes']), sha256: text('sha256') };
}
