/** What the writer needs from a disk. The machine-server has the real implementation; tests have one that loses unsynced data. */

export interface CaptureOutput {
  /** Writes all of `bytes` at `position`; a failed write may leave any part of them. Writing at the same position again replaces it. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Returns once the written bytes would survive a power failure (fdatasync). */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface CaptureStorage {
  /** Creates a file that must not exist yet (mode 0600), with its directories (mode 0700). */
  create(path: string): Promise<CaptureOutput>;
  /** Renames within a directory and makes the new name survive a power failure (fsync of the directory). */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; succeeds if it does not exist. */
  remove(path: string): Promise<void>;
}
