/** What the audit trail says of calls of one caller to one method of one resource within 10 s. */

export interface CountedCalls {
  /** Empty: the machine itself. */
  readonly resource: string;
  readonly count: number;
  /** Wall clock; undefined: unknown. */
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
  /** A summary of the last call's, in JSON, cut; undefined: unknown. */
  readonly arguments: string | undefined;
  /** `relay`: through the cloud. */
  readonly path: 'relay' | 'webrtc' | 'direct';
  /** The cloud knows of the calls only from the machine. */
  readonly isReported?: boolean;
  /** Earlier records that the machine had no space for. */
  readonly dropped?: number;
}

/** The detail of the entry. */
export function callDetail(calls: CountedCalls): Readonly<Record<string, unknown>> {
  const { resource, count, firstMs, lastMs, path, isReported = false, dropped = 0 } = calls;
  return {
    ...(resource !== '' && { resource }),
    count,
    ...(firstMs !== undefined && { first: new Date(firstMs).toISOString() }),
    ...(lastMs !== undefined && { last: new Date(lastMs).toISOString() }),
    ...(calls.arguments !== undefined && { arguments: calls.arguments }),
    path,
    ...(isReported && { reported_by: 'machine' }),
    ...(dropped > 0 && { dropped }),
  };
}
