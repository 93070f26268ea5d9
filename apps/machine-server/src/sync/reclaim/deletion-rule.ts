/** Decides when capture files must be deleted to keep the disk usable (D11). Pure. */

export interface DiskUse {
  readonly volumeBytes: number;
  readonly usedBytes: number;
  readonly captureBytes: number;
}

export interface DeletionThresholds {
  /** Share of the volume that is used, 0–1. */
  readonly diskUsage: number;
  /** Share of the used bytes that is in the capture directory, 0–1. */
  readonly captureDirectory: number;
}

/** Whether both thresholds are met; the directory's share is of the used bytes of its volume. */
export function mustDelete(use: DiskUse, thresholds: DeletionThresholds): boolean {
  if (use.volumeBytes <= 0 || use.usedBytes <= 0) return false;
  return (
    use.usedBytes / use.volumeBytes >= thresholds.diskUsage &&
    use.captureBytes / use.usedBytes >= thresholds.captureDirectory
  );
}
