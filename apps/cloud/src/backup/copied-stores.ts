/** What a backup has of metadata and log, whichever store they are in. */
import type { BackedUpFile, StoreKind } from './manifest.ts';

export interface CopyOptions {
  readonly dataDirectory: string;
  readonly destination: string;
  /** `postgres://…`, of an installation in Postgres. */
  readonly database?: string | undefined;
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface NamedFile {
  /** Below the data directory. */
  readonly path: string;
  /** As it was written; null: not known. */
  readonly bytes: number | null;
  /** Hexadecimal. */
  readonly sha256: string | null;
}

export interface CopiedStores {
  readonly store: StoreKind;
  /** Written below the destination. */
  readonly files: readonly BackedUpFile[];
  readonly metaVersion: number;
  readonly ingestVersion: number;
  /** S, and the last position of the log. */
  readonly sealedPosition: number;
  readonly lastPosition: number;
  /** The files that the catalog lists, and the payloads that the log names. */
  readonly named: readonly NamedFile[];
}
