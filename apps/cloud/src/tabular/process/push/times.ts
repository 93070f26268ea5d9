/** Stored times are whole microseconds, those of queries whole milliseconds. */

const int64 = { min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n };

/** The least microsecond that shows as this millisecond or a later one. */
export function minMicroseconds(ms: number): bigint {
  return clamped(BigInt(Math.trunc(ms)) * 1_000n);
}

/** The greatest microsecond that shows as this millisecond or an earlier one. */
export function maxMicroseconds(ms: number): bigint {
  return clamped(BigInt(Math.trunc(ms)) * 1_000n + 999n);
}

function clamped(microseconds: bigint): bigint {
  return microseconds < int64.min ? int64.min : microseconds > int64.max ? int64.max : microseconds;
}
