/** The metadata and log in a backup, from either store. */
import type { BackedUpFile, Manifest, StoreKind } from '../manifest.ts';

export interface CopyOptions {
  readonly dataDirectory: string;
  readonly destination: string;
  /** `postgres://…`, for an installation in Postgres. */
  readonly database?: string | undefined;
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface NamedFile {
  /** Relative to the data directory. */
  readonly path: string;
  /** Recorded when it was written; null: unknown. */
  readonly bytes: number | null;
  /** Hexadecimal. */
  readonly sha256: string | null;
}

export interface CopiedStores
  extends Pick<Manifest, 'metaVersion' | 'ingestVersion' | 'sealedPosition' | 'lastPosition'> {
  readonly store: StoreKind;
  /** Relative to the destination. */
  readonly files: readonly BackedUpFile[];
  /** The files listed by the catalog and the payloads named by the log. */
  readonly named: readonly NamedFile[];
}
