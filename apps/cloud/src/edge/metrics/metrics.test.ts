import type { IncomingMessage, ServerResponse } from 'node:http';
import { create } from '@bufbuild/protobuf';
import {
  DialStage,
  ICECandidateType,
  ReportConnectionMetadataRequestSchema,
} from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';
import { metricsRoute } from './metrics-route.ts';
import type { MetricSources } from './read-sources.ts';

const sources: MetricSources = {
  ingestLog: { lastPosition: () => 7, retainedBytes: () => 100, losses: () => [] },
  ingest: { stored: () => ({ uploads: 3, readings: 30, bytes: 900 }), uploadsSlowed: () => undefined },
  tabular: {
    status: async () => ({
      ...{ process: 'restarting', processId: undefined, restarts: 2, runningQueries: 0, isAsked: false },
      ...{ committedPosition: 7, loadedPosition: 5, sealedPosition: 4, unsealedBytes: 0, hotRows: 1, hotBytes: 2 },
      ...{ files: 3, fileRows: 4, fileBytes: 5, damagedRows: 0, damagedReadings: 0 },
    }),
  },
  triggers: { lag: () => ({ rows: 1, failures: 0 }) },
  binary: { lag: () => ({ rows: 2, failures: 0 }) },
  outbox: { counts: async () => ({ delivered: 1, kept: 0, pending: 2, failed: 3 }) },
  tree: { organizations: () => [], locationsOf: () => [] },
  registry: { machinesOf: () => [], partsOf: () => [] },
  presence: { of: () => ({ state: 'online', lastSeenMs: 0, changedMs: 0 }) },
  freeBytes: async () => 1e9,
  startedMs: 1_000,
};

test('gauges show current values, however often they are read; calls and attempts add up', async () => {
  const metrics = createMetrics();
  metrics.observeCall('/a.B/C', 'ok', 0.003);
  metrics.observeAttempt('webhook', 'retryLater', 2);
  const report = { reachedStage: DialStage.READY, local: { type: ICECandidateType.ICE_CANDIDATE_TYPE_STUN } };
  metrics.observeDial(create(ReportConnectionMetadataRequestSchema, report));
  // Numbers that are none of ours make no labels.
  for (const reachedStage of [77, 78] as unknown as DialStage[])
    metrics.observeDial(create(ReportConnectionMetadataRequestSchema, { reachedStage }));
  await metrics.text(sources);
  metrics.observeCall('/a.B/C', 'ok', 0.3);
  const text = await metrics.text(sources);
  for (const line of [
    'platform_ingest_readings_total 30',
    'platform_follower_lag_uploads{follower="load"} 2',
    'platform_follower_lag_uploads{follower="binary"} 2',
    'platform_store_up 0',
    'platform_store_restarts_total 2',
    'platform_messages{channel="webhook",state="failed"} 3',
    'platform_webrtc_dials_total{stage="ready",local="stun",remote="unspecified"} 1',
    'platform_webrtc_dials_total{stage="unspecified",local="unspecified",remote="unspecified"} 2',
    'platform_call_seconds_bucket{le="0.005",method="/a.B/C",code="ok"} 1',
    'platform_call_seconds_count{method="/a.B/C",code="ok"} 2',
    'platform_delivery_attempt_seconds_count{channel="webhook",outcome="retryLater"} 1',
    'platform_start_time_seconds 1',
  ])
    expect(text.split('\n')).toContain(line);
});

test('a cloud that others can reach serves no metrics without a token', async () => {
  const route = metricsRoute({ text: async () => '', token: undefined, loopbackOnly: false });
  await expect(route({ headers: {} } as IncomingMessage, {} as ServerResponse)).rejects.toThrow(
    'Set PLATFORM_METRICS_TOKEN for the cloud',
  );
});
