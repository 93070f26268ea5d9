/** The intensity of the fault tests: short by default, longer with `npm run fault`; the seed determines the moments. */
export interface FaultSettings {
  /** Default 20. */
  readonly kills: number;
  readonly seed: number;
  /** Duration of the load. Default 8. */
  readonly seconds: number;
  /** How many of the largest readings are sent at once. Default 1 and 30. */
  readonly large: readonly number[];
}

export function readFaultSettings(): FaultSettings {
  const { FAULT_KILLS = '20', FAULT_SEED = '20261121', FAULT_SECONDS = '8', FAULT_LARGE = '1,30' } = process.env;
  return {
    kills: Number(FAULT_KILLS),
    seed: Number(FAULT_SEED),
    seconds: Number(FAULT_SECONDS),
    large: FAULT_LARGE.split(',').map(Number),
  };
}
