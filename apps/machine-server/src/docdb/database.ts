import type { ReadingDocument } from './documents-of.ts';

export interface DocdbSettings {
  /** Secret. */
  readonly uri: string;
  readonly database: string;
  readonly collection: string;
}

/** A document that the database will never take. */
export interface Refusal {
  readonly index: number;
  readonly reason: string;
  /** Whether a retry may help, because the error does not name the document. */
  readonly isUnsure: boolean;
}

export interface DocumentDatabase extends AsyncDisposable {
  /**
   * Stores documents; one that already exists counts as stored.
   *
   * @returns the documents that were not stored
   * @throws PlatformError without the secret: some may be stored, all must be sent again
   */
  insert(documents: readonly ReadingDocument[]): Promise<readonly Refusal[]>;
}

/** @throws PlatformError invalid_argument if the settings can never work */
export type OpenDatabase = (settings: DocdbSettings) => Promise<DocumentDatabase>;
