/** `-output-telemetry`: OpenTelemetry spans when they end, and metrics every 10 s and at the stop, as lines of OTLP/JSON. */
import { randomBytes } from 'node:crypto';
import { asPlatformError, type Clock, errorText, harmless } from '@platform/base';
import type { WatchCall } from '@platform/rpc/server';
import { CallDurations } from './call-durations.ts';
import type { Attributes, End, Observe } from './observe.ts';
import { type MetricRecord, metricsLine, type SpanRecord, spanKinds, spanLine } from './otlp.ts';
import { parseTraceparent, type TraceContext } from './trace-context.ts';

export interface TelemetryDeps {
  readonly write: (line: string) => void;
  /** Attributes of the sender, such as `service.name`. */
  readonly resource: Attributes;
  /** The metrics of the server, by name. */
  readonly measure: () => ReadonlyMap<string, number>;
  readonly clock: Clock;
}

export interface Telemetry {
  readonly observe: Observe;
  readonly watchCall: WatchCall;
  /** Prints metrics until the result is disposed, which prints them once more. */
  start(): Disposable;
}

const metricsEveryMs = 10_000;

export function createTelemetry({ write, resource, measure, clock }: TelemetryDeps): Telemetry {
  const startedMs = clock.now();
  const durations = new CallDurations();

  const span = (name: string, kind: SpanRecord['kind'], attributes: Attributes, parent?: TraceContext): End => {
    const [startMs, startedAt] = [clock.now(), clock.monotonic()];
    return (caught) => {
      if (parent?.isSampled === false) return;
      write(
        spanLine(resource, {
          traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
          parentSpanId: parent?.parentSpanId ?? '',
          ...{ spanId: randomBytes(8).toString('hex'), name, kind, attributes, startMs },
          endMs: startMs + (clock.monotonic() - startedAt),
          error: caught === undefined ? undefined : errorText(caught.error),
        }),
      );
    };
  };

  const printMetrics = harmless(() => {
    const numbers = [...measure()].map(([name, value]): MetricRecord => {
      const [, base = name, unit = ''] = /^(.*)_(bytes|us|milli)$/.exec(name) ?? [];
      return { kind: 'gauge', name: `machine_server.${base}`, unit: units[unit] ?? '1', value };
    });
    write(metricsLine(resource, [durations.metric(), ...numbers], startedMs, clock.now()));
  });

  return {
    observe: (name, attributes) => span(name, spanKinds.internal, attributes),
    watchCall(method, call) {
      const [, service = '', name = ''] = method.split('/');
      const attributes = {
        'rpc.system': 'grpc',
        'rpc.service': service,
        'rpc.method': name,
        'client.address': call.peerAddress,
      };
      const startedAt = clock.monotonic();
      const end = span(
        method.slice(1),
        spanKinds.server,
        attributes,
        parseTraceparent(call.metadata.get('traceparent')),
      );
      return (caught) => {
        const code = caught === undefined ? 'ok' : asPlatformError(caught.error).code;
        durations.add(service, name, code, (clock.monotonic() - startedAt) / 1_000);
        end(caught);
      };
    },
    start() {
      const timer = clock.every(metricsEveryMs, printMetrics);
      return {
        [Symbol.dispose]() {
          timer[Symbol.dispose]();
          printMetrics();
        },
      };
    },
  };
}

/** Units in UCUM, as OpenTelemetry writes them. */
const units: Readonly<Record<string, string>> = { bytes: 'By', us: 'us', milli: '10*-3' };
