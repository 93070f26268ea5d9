/** Bounds of what uploads may leave behind for the tabular store, with their defaults. */

export interface IngestSettings {
  /**
   * Readings that are acknowledged and not sealed yet, bytes. Uploads slow down from three quarters of it on. Default 512 MB: twice
   * what is sealed at a time, so that a store that keeps up never comes near.
   */
  readonly unsealedBytes: number;
  /** Readings that are acknowledged and not loaded yet, for which every query waits, when it lasts and queries are asked. Default 24 MB. */
  readonly unloadedBytes: number;
  /** … for a few seconds. Default 128 MB: a million small readings as fast as they can be sent. */
  readonly burstBytes: number;
  /** An upload waits no longer than this, then it is stored all the same; never longer than half its client's deadline. Default 5 s. */
  readonly maxWaitMs: number;
  /** Uploads that wait hold no more memory than this; beyond it they are refused. Default 32 MB. */
  readonly waitingBytes: number;
}

export const defaultIngestSettings: IngestSettings = {
  unsealedBytes: 512_000_000,
  unloadedBytes: 24_000_000,
  burstBytes: 128_000_000,
  maxWaitMs: 5_000,
  waitingBytes: 32_000_000,
};
