/**
 * Metrics of this process for Prometheus. Calls and delivery attempts are counted as they end; everything else is read when the metrics are
 * requested. Counters begin at zero at each start of the cloud, as Prometheus expects.
 */
import {
  DialStage,
  ICECandidateType,
  type ReportConnectionMetadataRequest,
} from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import type { ObserveCall } from '@platform/rpc/server';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { SendResult } from '../../outbox/channel.ts';
import type { ChannelName } from '../../outbox/store.ts';
import { type MetricSources, readSources } from './read-sources.ts';

export interface Metrics {
  readonly observeCall: ObserveCall;
  /** Called after each attempt to deliver a message. */
  readonly observeAttempt: (channel: ChannelName, outcome: SendResult['outcome'], seconds: number) => void;
  /** Called when a client says how an attempt to connect to a machine over WebRTC went. */
  readonly observeDial: (report: ReportConnectionMetadataRequest) => void;
  /** All metrics in the text format of Prometheus, version 0.0.4. */
  text(sources: MetricSources): Promise<string>;
}

/** Upper bounds in seconds, from a fast acknowledgement to the deadline of a query. */
const callSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const attemptSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const calls = new Histogram({
    name: 'platform_call_seconds',
    help: 'Time from the decoded request of a call to its answer. For uploads (DataSyncService) this is the time to the acknowledgement.',
    labelNames: ['method', 'code'],
    buckets: callSeconds,
    registers,
  });
  const attempts = new Histogram({
    name: 'platform_delivery_attempt_seconds',
    help: 'Duration of attempts to deliver webhooks and e-mail.',
    labelNames: ['channel', 'outcome'],
    buckets: attemptSeconds,
    registers,
  });
  const dials = new Counter({
    name: 'platform_webrtc_dials_total',
    help: 'Attempts of clients to connect to a machine over WebRTC, by the stage that they reached and the kinds of their candidates, as they report it.',
    labelNames: ['stage', 'local', 'remote'],
    registers,
  });
  const read = new Map<string, Gauge | Counter>();
  return {
    observeCall: (method, code, seconds) => calls.observe({ method, code }, seconds),
    observeAttempt: (channel, outcome, seconds) => attempts.observe({ channel, outcome }, seconds),
    observeDial: ({ reachedStage, local, remote }) =>
      dials.inc({
        stage: nameIn(DialStage, reachedStage),
        local: nameIn(ICECandidateType, local?.type),
        remote: nameIn(ICECandidateType, remote?.type),
      }),
    async text(sources) {
      for (const metric of read.values()) metric.reset();
      for (const { name, help, type, labels, value } of await readSources(sources)) {
        const metric =
          read.get(name) ??
          new { counter: Counter, gauge: Gauge }[type]({ name, help, labelNames: Object.keys(labels), registers });
        read.set(name, metric);
        metric.inc(labels, value);
      }
      return registry.metrics();
    },
  };
}

/** Such as `host` for ICE_CANDIDATE_TYPE_HOST. Clients may send any number, which must not become a label. */
function nameIn(type: Readonly<Record<string, number>>, value: number | undefined): string {
  const [name = 'unspecified'] = Object.entries(type).find(([, number]) => number === value) ?? [];
  return name.replace('ICE_CANDIDATE_TYPE_', '').toLowerCase();
}
