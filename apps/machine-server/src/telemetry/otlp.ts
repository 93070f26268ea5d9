/**
 * The OpenTelemetry data model as lines of OTLP/JSON, the format of the OTLP file exporter, which collectors read with the receiver
 * `otlpjsonfile`. For two kinds of lines, the official packages would add 21 MB to a program that is fetched over the network.
 */
import type { Attributes } from './observe.ts';

/** Span kinds: SPAN_KIND_INTERNAL, SPAN_KIND_SERVER. */
export const spanKinds = { internal: 1, server: 2 } as const;
const statusCodes = { ok: 1, error: 2 } as const;
/** AGGREGATION_TEMPORALITY_CUMULATIVE */
const cumulative = 2;

export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty if it begins its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: (typeof spanKinds)[keyof typeof spanKinds];
  /** Wall clock, Unix ms with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Undefined if it succeeded. */
  readonly error: string | undefined;
}

export type MetricRecord =
  | { readonly kind: 'gauge'; readonly name: string; readonly unit: string; readonly value: number }
  | {
      readonly kind: 'histogram';
      readonly name: string;
      readonly unit: string;
      readonly bounds: readonly number[];
      readonly points: readonly HistogramPoint[];
    };

export interface HistogramPoint {
  readonly attributes: Attributes;
  readonly count: number;
  readonly sum: number;
  /** One more than the number of bounds. */
  readonly buckets: readonly number[];
}

export function spanLine(resource: Attributes, span: SpanRecord): string {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, error } = span;
  const record = {
    ...{ traceId, spanId, ...(parentSpanId !== '' && { parentSpanId }), name, kind },
    ...{ startTimeUnixNano: nanos(startMs), endTimeUnixNano: nanos(endMs), attributes: keyValues(attributes) },
    status: error === undefined ? { code: statusCodes.ok } : { code: statusCodes.error, message: error },
  };
  return line({
    resourceSpans: [{ resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope, spans: [record] }] }],
  });
}

/** @param startMs when histograms started counting */
export function metricsLine(
  resource: Attributes,
  metrics: readonly MetricRecord[],
  startMs: number,
  nowMs: number,
): string {
  const times = { startTimeUnixNano: nanos(startMs), timeUnixNano: nanos(nowMs) };
  const records = metrics.map((metric) => ({ name: metric.name, unit: metric.unit, ...pointsOf(metric, times) }));
  return line({
    resourceMetrics: [{ resource: { attributes: keyValues(resource) }, scopeMetrics: [{ scope, metrics: records }] }],
  });
}

interface Times {
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

function pointsOf(metric: MetricRecord, times: Times): object {
  if (metric.kind === 'gauge')
    return { gauge: { dataPoints: [{ timeUnixNano: times.timeUnixNano, asDouble: metric.value }] } };
  const dataPoints = metric.points.map(({ attributes, count, sum, buckets }) => ({
    ...{ ...times, attributes: keyValues(attributes), count: String(count), sum },
    ...{ explicitBounds: metric.bounds, bucketCounts: buckets.map(String) },
  }));
  return { histogram: { aggregationTemporality: cumulative, dataPoints } };
}

const scope = { name: 'machine-server' };

function line(document: object): string {
  return `${JSON.stringify(document)}\n`;
}

function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000)));
}

function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => {
    switch (typeof value) {
      case 'boolean':
        return { key, value: { boolValue: value } };
      case 'number':
        return { key, value: Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
      default:
        return { key, value: { stringValue: value } };
    }
  });
}
