/** What the doctor asks of metadata and log, whichever store they are in. */
import type { CatalogRows } from '../tabular/catalog-findings.ts';

export interface DoctorStore {
  /** Each answers what was found, or throws what is wrong and what to do. */
  readonly checks: readonly { readonly name: string; readonly look: () => Promise<string> }[];
  /** All rows of the catalog of readings, at this moment. */
  catalog(): Promise<CatalogRows>;
  /** What the log names, below `blobs/`. */
  payloads(): Promise<readonly string[]>;
}

/** Of meta.sqlite, or the schema of that name. Their columns are those of CatalogRows. */
export const catalogTables: Readonly<Record<keyof CatalogRows, string>> = {
  state: 'tabular_state',
  files: 'tabular_files',
  deletes: 'tabular_deletes',
  proofs: 'tabular_proofs',
};
