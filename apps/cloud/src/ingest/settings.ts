/** Limits on the data that uploads may accumulate before the tabular store processes it, with their defaults. */

export interface IngestSettings {
  /**
   * Bytes of readings acknowledged but not yet sealed. Uploads slow down from three quarters of it. Default 512 MB: twice the amount sealed
   * at a time, so a store that keeps up never comes near it.
   */
  readonly unsealedBytes: number;
  /**
   * Bytes of readings acknowledged but not loaded; every query waits for them. Applies when the excess persists and queries run. Default 24
   * MB.
   */
  readonly unloadedBytes: number;
  /** The same limit for a few seconds. Default 128 MB: a million small readings as fast as they can be sent. */
  readonly burstBytes: number;
  /** Maximum wait of an upload before it is stored anyway; never more than half its client's deadline. Default 5 s. */
  readonly maxWaitMs: number;
  /** Maximum memory held by waiting uploads; further ones are refused. Default 32 MB. */
  readonly waitingBytes: number;
}

export const defaultIngestSettings: IngestSettings = {
  unsealedBytes: 512_000_000,
  unloadedBytes: 24_000_000,
  burstBytes: 128_000_000,
  maxWaitMs: 5_000,
  waitingBytes: 32_000_000,
};
