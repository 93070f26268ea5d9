/**
 * A process that uploads pre-encoded readings and reports as JSON lines: `encoded`, then `done`.
 *
 * Closed loop: `inFlight` uploads at a time. Open loop: `batchesPerSecond`; an upload starts when it is due, whether or not earlier ones
 * are answered, and its latency counts from that time.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect } from '@platform/rpc/client';
import { openUploader, type Uploader } from '../cloud/unary-session.ts';
import type { GeneratedFleet, GeneratorOptions, GeneratorResult } from '../fleet/run-generator.ts';
import { componentCount, readingAt } from '../queries/readings.ts';
import { encodeBatches, sensorData, type Upload } from '../readings/encode-batches.ts';
import { sensorOf } from '../store/questions.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as GeneratorOptions;
const { url, batches, readingsEach, inFlight, batchesPerSecond } = options;

const common = { stream: randomBytes(16), batches, readingsEach, inFlight };
const encoded =
  'fleet' in options
    ? encodeBatches({ ...common, partId: '', uploadOf: (batch) => uploadOfFleet(options.fleet, batch, readingsEach) })
    : encodeBatches({ ...common, partId: options.partId });
const [entity, credentials] =
  'fleet' in options
    ? [options.fleet.keyId, { type: 'api-key', payload: options.fleet.key }]
    : [options.partId, { type: 'robot-secret', payload: options.partSecret }];
const link = connect({ baseUrl: url });
const { accessToken } = await link.client(AuthService).authenticate({ entity, credentials });
await link[Symbol.asyncDispose]();
using uploader = await openUploader(url, accessToken);

process.stdout.write(`${JSON.stringify({ event: 'encoded' })}\n`);
const started = performance.now();
const acknowledgedAt: number[] = new Array(batches).fill(0);
const latenciesMs = batchesPerSecond ? await openLoop(uploader, batchesPerSecond) : await closedLoop(uploader);
const result: GeneratorResult = {
  readings: batches * readingsEach,
  bytes: encoded.reduce((sum, { length }) => sum + length, 0),
  seconds: (performance.now() - started) / 1_000,
  latenciesMs,
  acknowledgedAt,
};
process.stdout.write(`${JSON.stringify({ event: 'done', ...result })}\n`);

async function closedLoop({ upload }: Uploader): Promise<number[]> {
  const latencies: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < batches) {
      const batch = next++;
      const before = performance.now();
      await upload(encoded[batch] as Uint8Array);
      latencies.push(performance.now() - before);
      acknowledgedAt[batch] = performance.timeOrigin + performance.now();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return latencies;
}

async function openLoop({ upload }: Uploader, perSecond: number): Promise<number[]> {
  const calls: Promise<number>[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const due = started + (batch * 1_000) / perSecond;
    const waitMs = due - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    calls.push(
      upload(encoded[batch] as Uint8Array).then(() => {
        const now = performance.now();
        acknowledgedAt[batch] = performance.timeOrigin + now;
        return now - due;
      }),
    );
  }
  return Promise.all(calls);
}

/** The batches rotate among the sensors; each contains the next readings of one sensor, a second apart. */
function uploadOfFleet({ partIds, startMs, firstBatch }: GeneratedFleet, batch: number, readingsEach: number): Upload {
  const number = firstBatch + batch;
  const index = number % componentCount;
  const first = Math.floor(number / componentCount) * readingsEach;
  return {
    partId: partIds[index % partIds.length] ?? '',
    componentName: sensorOf(index),
    reading(at) {
      const { temperature, humidity, pressure, door, state } = readingAt(index, first + at, 0);
      const requestedUs = (startMs + (first + at) * 1_000 + index) * 1_000;
      return sensorData(requestedUs, { temperature, humidity, pressure, door, state });
    },
  };
}
