/** The size of a fleet bench; other benches ignore it. */
export interface Load {
  /** Number of machines. */
  readonly parts: number;
  /** Duration of the measurement. */
  readonly seconds: number;
}
