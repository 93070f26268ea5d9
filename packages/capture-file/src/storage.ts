/** What the writer needs from a disk. The machine-server contains the real implementation; tests use one that loses unsynced data. */

export interface CaptureOutput {
  /** Writes all of `bytes` at `position`; a failed write may leave any part of them. Writing at the same position again replaces it. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Returns once the written bytes would survive a power failure (fdatasync). After a failure, their state is unknown. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface CaptureStorage {
  /** Creates a file that must not exist yet (mode 0600), with its directories (mode 0700). */
  create(path: string): Promise<CaptureOutput>;
  read(path: string): Promise<Uint8Array>;
  /**
   * Renames within a directory, replacing `to`, and makes the new name survive a power failure (fsync of the directory). Succeeds if an
   * earlier, failed call already renamed the file.
   */
  rename(from: string, to: string): Promise<void>;
  /** Makes the name of a file survive a power failure, with those of the directories above it. */
  syncName(path: string): Promise<void>;
  /** Removes a file; succeeds if it does not exist. */
  remove(path: string): Promise<void>;
}
