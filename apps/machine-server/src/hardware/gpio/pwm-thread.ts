/**
 * The thread for software PWM: the main thread is too busy for punctual edges.
 *
 * Messages: `{output, pulse}` begins, changes or ends (without a pulse) the pulses of the line with this file descriptor, and is answered
 * by `{output}` once it is done. The pulses of a line that cannot be set end, which is reported as `{output, error}`.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { errorText } from '@platform/base';
import { openKernel } from '../kernel.ts';
import { createPulses, type Pulse } from './pulses.ts';
import { requests, valuesOf } from './structs.ts';

export interface PwmMessage {
  readonly output: number;
  readonly pulse?: Pulse;
}

export interface PwmAnswer {
  readonly output: number;
  readonly error?: string;
}

/** The system may wake a thread this late; if edges are rare enough, the thread wakes earlier by this time and polls for the rest. */
const lateMs = 0.15;
const rareMs = 5;

const port = parentPort;
if (port === null) throw new Error('expected to run in a thread');
const kernel = await openKernel();
const wake = new Int32Array(workerData as SharedArrayBuffer);
const [low, high] = [valuesOf(false), valuesOf(true)];
const periods = new Map<number, number>();
const pulses = createPulses((output, isHigh) => {
  try {
    kernel.control(output, requests.setValues, isHigh ? high : low);
  } catch (caught) {
    failed.set(output, errorText(caught));
  }
});
const failed = new Map<number, string>();

for (;;) {
  const seen = Atomics.load(wake, 0);
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    const { output, pulse } = next.message as PwmMessage;
    pulses.set(output, pulse);
    if (pulse === undefined) periods.delete(output);
    else periods.set(output, pulse.periodMs);
    port.postMessage({ output } satisfies PwmAnswer);
  }
  const nextMs = pulses.advance(performance.now());
  for (const [output, error] of failed) {
    pulses.set(output, undefined);
    periods.delete(output);
    port.postMessage({ output, error } satisfies PwmAnswer);
  }
  failed.clear();
  const isRare = [...periods.values()].every((periodMs) => periodMs >= rareMs);
  const waitMs = nextMs - performance.now() - (isRare ? lateMs : 0);
  if (waitMs > 0) Atomics.wait(wake, 0, seen, waitMs === Number.POSITIVE_INFINITY ? undefined : waitMs);
}
