/** The time limit that gRPC writes into the header `grpc-timeout`. */

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };

/** In ms; 0 if the header is absent or not a time limit. */
export function grpcTimeoutMs(header: string | undefined): number {
  const [, digits = '', unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header ?? '') ?? [];
  return Number(digits) * (unitMs[unit] ?? 0);
}
