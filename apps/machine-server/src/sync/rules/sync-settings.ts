import type { AfterSync } from '../files/after-sync.ts';

export interface SyncSettings {
  readonly intervalMs: number;
  readonly disabled: boolean;
  /** `maximum_num_sync_threads`. */
  readonly threads: number;
  readonly tags: readonly string[];
  readonly additionalPaths: readonly string[];
  /** Arbitrary files must be unmodified for this long. */
  readonly unmodifiedMs: number;
  readonly after: AfterSync;
  /** `-untrusted-env`: arbitrary files are read and moved only in these folders. Undefined: in all. */
  readonly allowedFolders?: readonly string[] | undefined;
  readonly newestFirst: boolean;
  /** By short name or `<api>/<name>`; higher is earlier, default 0. */
  readonly priorities: Readonly<Record<string, number>>;
  /** 0: no limit. */
  readonly maxBytesPerSecond: number;
}
