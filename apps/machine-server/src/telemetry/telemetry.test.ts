import { PlatformError } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { observed } from './observe.ts';
import { createTelemetry } from './telemetry.ts';
import { parseTraceparent } from './trace-context.ts';

function started() {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const lines: string[] = [];
  const telemetry = createTelemetry({
    write: (line) => void lines.push(line),
    resource: { 'service.name': 'machine-server' },
    measure: () => new Map([['process.rss_bytes', 5]]),
    clock,
  });
  const spans = () => lines.flatMap((line) => JSON.parse(line).resourceSpans?.[0].scopeSpans[0].spans ?? []);
  const metrics = () => lines.flatMap((line) => JSON.parse(line).resourceMetrics?.[0].scopeMetrics[0].metrics ?? []);
  return { clock, telemetry, lines, spans, metrics };
}

const callWith = (traceparent?: string) =>
  ({
    metadata: new Headers(traceparent === undefined ? {} : { traceparent }),
    peerAddress: '127.0.0.1:5',
  }) as Parameters<ReturnType<typeof createTelemetry>['watchCall']>[1];

test('a call is a span of the trace that its caller names, with its duration and its error', async () => {
  const { clock, telemetry, spans } = started();
  const [trace, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const end = telemetry.watchCall('/platform.a.v1.S/M', callWith(`00-${trace}-${parent}-01`));
  await clock.advance(1_500);
  end({ error: new PlatformError('not_found', 'no such thing') });
  expect(spans()).toEqual([
    {
      ...{ traceId: trace, parentSpanId: parent, spanId: expect.stringMatching(/^[\da-f]{16}$/), kind: 2 },
      name: 'platform.a.v1.S/M',
      startTimeUnixNano: '1767225600000000000',
      endTimeUnixNano: '1767225601500000000',
      attributes: [
        { key: 'rpc.system', value: { stringValue: 'grpc' } },
        { key: 'rpc.service', value: { stringValue: 'platform.a.v1.S' } },
        { key: 'rpc.method', value: { stringValue: 'M' } },
        { key: 'client.address', value: { stringValue: '127.0.0.1:5' } },
      ],
      status: { code: 2, message: 'no such thing' },
    },
  ]);
  telemetry.watchCall('/a.S/M', callWith(`00-${trace}-${parent}-00`))();
  expect(spans()).toHaveLength(1);
  telemetry.watchCall('/a.S/M', callWith())();
  expect(spans()[1]).not.toHaveProperty('parentSpanId');
  expect(spans()[1].traceId).not.toBe(trace);
});

test('a trace context that is not valid begins a new trace', () => {
  const [trace, parent] = ['a'.repeat(32), 'b'.repeat(16)];
  expect(parseTraceparent(`00-${trace}-${parent}-01`)).toEqual({
    traceId: trace,
    parentSpanId: parent,
    isSampled: true,
  });
  expect(parseTraceparent(`cc-${trace}-${parent}-03-what-comes-later`)?.isSampled).toBe(true);
  const wrong = [
    '',
    'x',
    `ff-${trace}-${parent}-01`,
    `00-${trace}-${parent}-01-more`,
    `00-${'0'.repeat(32)}-${parent}-01`,
  ];
  for (const header of [null, ...wrong, `00-${trace}-${'0'.repeat(16)}-01`, `00-${trace.toUpperCase()}-${parent}-01`])
    expect(parseTraceparent(header), String(header)).toBeUndefined();
});

test('work of the server is a separate span; without an observer it runs unobserved', async () => {
  const { telemetry, spans } = started();
  expect(await observed(telemetry.observe, 'resource.build', { attempt: 2, ok: true }, async () => 7)).toBe(7);
  const failing = observed(telemetry.observe, 'upload', {}, () =>
    Promise.reject(new PlatformError('internal', 'broken')),
  );
  await expect(failing).rejects.toThrow('broken');
  expect(spans()).toMatchObject([
    {
      ...{ name: 'resource.build', kind: 1, status: { code: 1 } },
      attributes: [
        { key: 'attempt', value: { intValue: '2' } },
        { key: 'ok', value: { boolValue: true } },
      ],
    },
    { name: 'upload', status: { code: 2, message: 'broken' } },
  ]);
  expect(await observed(undefined, 'upload', {}, async () => 8)).toBe(8);
});

test('metrics come every 10 s and at the stop: durations of calls by code, and the numbers of the server', async () => {
  const { clock, telemetry, metrics } = started();
  const metering = telemetry.start();
  const end = telemetry.watchCall('/a.S/M', callWith());
  await clock.advance(30);
  end();
  telemetry.watchCall('/a.S/M', callWith())({ error: new PlatformError('unavailable', 'x') });
  await clock.advance(10_000);
  expect(metrics()).toHaveLength(2);
  metering[Symbol.dispose]();
  expect(metrics()).toHaveLength(4);
  const [calls, rss] = metrics();
  expect(rss).toMatchObject({
    name: 'machine_server.process.rss',
    unit: 'By',
    gauge: { dataPoints: [{ asDouble: 5 }] },
  });
  expect(calls).toMatchObject({
    name: 'rpc.server.call.duration',
    unit: 's',
    histogram: { aggregationTemporality: 2 },
  });
  const { dataPoints } = calls.histogram;
  expect(dataPoints.map((point: { count: string; sum: number }) => [point.count, point.sum])).toEqual([
    ['1', 0.03],
    ['1', 0],
  ]);
  expect(dataPoints[0].bucketCounts.indexOf('1')).toBe(3);
  expect(dataPoints[0].bucketCounts).toHaveLength(dataPoints[0].explicitBounds.length + 1);
});
