/** What the doctor asks of metadata and log, whichever store they are in. */
export interface DoctorStore {
  /** Each answers what was found, or throws what is wrong and what to do. */
  readonly checks: readonly { readonly name: string; readonly look: () => Promise<string> }[];
  /** What the catalog lists at this moment, below `parquet/`. */
  files(): Promise<readonly { readonly file: string; readonly bytes: number }[]>;
  /** What the log names, below `blobs/`. */
  payloads(): Promise<readonly string[]>;
}
