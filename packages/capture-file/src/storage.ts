/** What the writer needs from a disk. One real implementation (machine-server), one that forgets what was not synced (tests). */

export interface CaptureOutput {
  /** Writes all of `bytes` at `position`; a failed write may leave any part of them. Writing the same place again replaces it. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Returns once the written bytes survive a power cut (fdatasync). */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface CaptureStorage {
  /** Creates a file that must not exist yet, mode 0600, with its directories, mode 0700. */
  create(path: string): Promise<CaptureOutput>;
  /** Renames within a directory and makes the new name survive a power cut (fsync of the directory). */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; one that is not there is fine. */
  remove(path: string): Promise<void>;
}
