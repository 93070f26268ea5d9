/** The W3C trace context that a caller sends in the header `traceparent`. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly parentSpanId: string;
  /** False if the caller does not record this trace; others should not either. */
  readonly isSampled: boolean;
}

/** Undefined if there is none, or an invalid one: the call then begins a new trace. */
export function parseTraceparent(header: string | null): TraceContext | undefined {
  const [, version = '', traceId = '', parentSpanId = '', flags = '', rest] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(header?.trim() ?? '') ?? [];
  // Later versions may append fields; version 00 has none, and ff is invalid.
  const isValid = version !== '' && version !== 'ff' && (version !== '00' || rest === undefined);
  if (!isValid || /^0+$/.test(traceId) || /^0+$/.test(parentSpanId)) return undefined;
  return { traceId, parentSpanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
