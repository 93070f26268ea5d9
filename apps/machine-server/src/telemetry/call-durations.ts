/** Measures the duration of calls, by method and code. */
import type { HistogramPoint, MetricRecord } from './otlp.ts';

/** In seconds, as OpenTelemetry recommends for RPC. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

interface Counted {
  readonly attributes: HistogramPoint['attributes'];
  readonly buckets: number[];
  count: number;
  sum: number;
}

export class CallDurations {
  /** Bounded: only methods that exist are watched. */
  readonly #byMethod = new Map<string, Counted>();

  add(service: string, method: string, code: string, seconds: number): void {
    const key = `${service}/${method} ${code}`;
    const counted = this.#byMethod.get(key) ?? {
      attributes: { 'rpc.service': service, 'rpc.method': method, 'rpc.response.status_code': code.toUpperCase() },
      buckets: new Array<number>(bounds.length + 1).fill(0),
      ...{ count: 0, sum: 0 },
    };
    this.#byMethod.set(key, counted);
    const at = bounds.findIndex((bound) => seconds <= bound);
    const bucket = at === -1 ? bounds.length : at;
    counted.buckets[bucket] = (counted.buckets[bucket] ?? 0) + 1;
    counted.count++;
    counted.sum += seconds;
  }

  metric(): MetricRecord {
    return {
      kind: 'histogram',
      name: 'rpc.server.call.duration',
      unit: 's',
      bounds,
      points: [...this.#byMethod.values()],
    };
  }
}
