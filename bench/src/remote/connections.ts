/** Dials, calls and streams over WebRTC, beside a bare data channel and beside the relay, by turns. */
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import type { Link } from '@platform/rpc/client';
import { openTunnel } from '@platform/sdk/machine';
import { processTree, proportionalBytes } from '@platform/testkit';
import type { DirectCall } from '../../../packages/webrtc/src/testing/call-directly.ts';
import { mapConcurrently } from '../figures/map-concurrently.ts';
import { median, percentile } from '../figures/statistics.ts';
import type { Figure } from '../store/figure.ts';
import type { RawPair } from './raw-pair.ts';
import { type RemoteMachine, sensorName } from './remote-machine.ts';

const dials = 100;
const calls = 1_000;
const manyConnections = 200;
const turns = 5;
/** Together with what surrounds it, the largest message of ours; see docs/specs/webrtc.md. */
const messageBytes = 60_000;
const floodSeconds = 2;

const read = (link: Pick<Link, 'client'>): Promise<unknown> =>
  link.client(SensorService).getReadings({ name: sensorName });

export async function measureDials(machine: RemoteMachine, raw: RawPair): Promise<Figure[]> {
  const [ours, bare]: number[][] = [[], []];
  for (let dial = 0; dial < dials; dial++) {
    const from = performance.now();
    const call = await machine.dial();
    ours?.push(performance.now() - from);
    await call[Symbol.asyncDispose]();
    if (dial % 2 === 0) bare?.push(await raw.dial());
  }
  return [
    {
      ...{ name: 'dial, p50', value: percentile(ours ?? [], 0.5), unit: 'ms', most: 150 },
      ...{
        beside: percentile(bare ?? [], 0.5),
        note: 'beside: two bare peers, whose descriptions pass through a pipe',
      },
    },
    {
      name: 'dial, p99',
      value: percentile(ours ?? [], 0.99),
      unit: 'ms',
      most: 1_500,
      beside: percentile(bare ?? [], 0.99),
    },
  ];
}

export async function measureCalls(machine: RemoteMachine, raw: RawPair): Promise<Figure[]> {
  await using call = await machine.dial();
  await raw.dial();
  const times = { direct: [] as number[], relay: [] as number[], raw: [] as number[] };
  const each = calls / turns;
  await timed(each, () => read(call.link));
  await timed(each, () => read(machine.relay));
  for (let turn = 0; turn < turns; turn++) {
    times.direct.push(...(await timed(each, () => read(call.link))));
    times.raw.push(...(await raw.echo(each)));
    times.relay.push(...(await timed(each, () => read(machine.relay))));
  }
  const beside = percentile(times.raw, 0.5);
  const note = 'beside: an echo of 100 bytes over a bare channel';
  return [
    { name: 'unary over WebRTC, p50', value: percentile(times.direct, 0.5), unit: 'ms', most: 2, aim: 1, beside, note },
    {
      name: 'unary over WebRTC, p99',
      value: percentile(times.direct, 0.99),
      unit: 'ms',
      beside: percentile(times.raw, 0.99),
    },
    { name: 'unary through the relay, p50', value: percentile(times.relay, 0.5), unit: 'ms', most: 4, beside },
    { name: 'unary through the relay, p99', value: percentile(times.relay, 0.99), unit: 'ms' },
  ];
}

/** Bytes that a program beside the machine sends through a tunnel, a stream of answers. */
export async function measureStream(machine: RemoteMachine, raw: RawPair, port: number): Promise<Figure[]> {
  await using call = await machine.dial();
  await raw.dial();
  const speeds = { ours: [] as number[], raw: [] as number[] };
  const seconds = { ours: [] as number[], raw: [] as number[] };
  for (let turn = 0; turn < turns; turn++) {
    const before = machine.seconds();
    const { bytes, bytesPerSecond } = await readTunnel(call, port);
    speeds.ours.push(bytesPerSecond / 1e6);
    seconds.ours.push(((machine.seconds() - before) / bytes) * 1e9);
    const rawBefore = raw.seconds();
    const bare = await raw.flood(messageBytes, floodSeconds);
    speeds.raw.push(bare / 1e6);
    seconds.raw.push(((raw.seconds() - rawBefore) / (bare * floodSeconds)) * 1e9);
  }
  return [
    {
      ...{ name: 'stream of answers over WebRTC', value: median(speeds.ours), unit: 'MB/s' },
      ...{
        beside: median(speeds.raw),
        leastRatio: 0.8,
        note: `beside: messages of ${messageBytes} bytes over a bare channel`,
      },
    },
    {
      ...{ name: 'stream: processor time for a GB', value: median(seconds.ours), unit: 's' },
      ...{ beside: median(seconds.raw), note: 'of both sides, with their engines' },
    },
  ];
}

export async function measureMany(machine: RemoteMachine): Promise<Figure[]> {
  const memory = (): number => processTree(machine.pid).reduce((sum, pid) => sum + proportionalBytes(pid), 0) / 1e6;
  const before = memory();
  await using open = new AsyncDisposableStack();
  const from = performance.now();
  const all = await mapConcurrently(8, manyConnections, async () => open.use(await machine.dial()));
  const dialed = (performance.now() - from) / 1_000;
  const answers = await Promise.all(
    all.map(({ link }) =>
      read(link).then(
        () => 1,
        () => 0,
      ),
    ),
  );
  const answered = answers.reduce((sum: number, one) => sum + one, 0);
  const again = await timed(1, () => Promise.all(all.map(({ link }) => read(link))));
  return [
    {
      ...{ name: 'of 200 connections to one machine, those that answer', value: (answered / manyConnections) * 100 },
      ...{ unit: '%', least: 100, note: `dialed within ${dialed.toFixed(1)} s` },
    },
    { name: '200 connections: a call over each of them at once', value: again[0] ?? Number.NaN, unit: 'ms' },
    {
      name: '200 connections: memory of machine-server and engine beyond one caller',
      value: memory() - before,
      unit: 'MB',
    },
  ];
}

async function readTunnel({ link }: DirectCall, port: number): Promise<{ bytes: number; bytesPerSecond: number }> {
  const { readable, closed } = openTunnel(link, port);
  const reader = readable.getReader();
  await reader.read();
  const from = performance.now();
  let bytes = 0;
  for (const untilMs = from + floodSeconds * 1_000; performance.now() < untilMs; )
    bytes += (await reader.read()).value?.length ?? 0;
  const bytesPerSecond = (bytes / (performance.now() - from)) * 1_000;
  await reader.cancel();
  await closed.catch(() => {});
  return { bytes, bytesPerSecond };
}

async function timed(count: number, run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < count; done++) {
    const from = performance.now();
    await run();
    times.push(performance.now() - from);
  }
  return times;
}
