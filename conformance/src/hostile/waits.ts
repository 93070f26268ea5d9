/**
 * How long callers of an attacked process wait, beside callers of a machine-server that nobody attacks. The attackers need processors, too:
 * what the attacked process itself causes is the processor time of its main thread.
 */
import { expect } from 'vitest';
import { type CanaryOptions, startCanary } from '../faults/canary.ts';
import { startMachine } from '../machine/start-machine.ts';

export const operationCalls: CanaryOptions['calls'] = [{ path: '/platform.robot.v1.RobotService/GetOperations' }];

export interface WaitFigures {
  /** The longest wait, and what was sent meanwhile. */
  longestMs: number;
  slowest: string;
  /** The most processor time of the main thread during one call, and what was sent meanwhile. */
  busiestMs: number;
  busiest: string;
  /** The longest wait of a machine-server that nobody attacks: what other work on this computer causes. */
  peerMs: number;
  /** How often each method failed, with its status. */
  readonly failures: Record<string, number>;
}

export interface Waits extends AsyncDisposable {
  readonly figures: WaitFigures;
  /** Leaves out what happened since the last time, e.g. while attackers started. */
  discard(): Promise<void>;
  /** Adds what happened since the last time. @param sent what was sent meanwhile */
  note(sent: string): Promise<void>;
}

/** @param attacked the process, and what its callers call */
export async function startWaits(attacked: CanaryOptions & { readonly pid: number }): Promise<Waits> {
  await using starting = new AsyncDisposableStack();
  const canary = starting.use(await startCanary(attacked));
  const { url } = starting.use(await startMachine({}));
  const peer = starting.use(await startCanary({ url, calls: operationCalls }));
  const reports = () => Promise.all([canary.report(), peer.report()]);
  await reports();
  const figures: WaitFigures = { longestMs: 0, slowest: '', busiestMs: 0, busiest: '', peerMs: 0, failures: {} };
  const started = starting.move();
  return {
    figures,
    discard: async () => void (await reports()),
    async note(sent) {
      const [report, { longestMs: peerMs }] = await reports();
      if (report.longestMs > figures.longestMs) Object.assign(figures, { longestMs: report.longestMs, slowest: sent });
      if (report.busiestMs > figures.busiestMs) Object.assign(figures, { busiestMs: report.busiestMs, busiest: sent });
      figures.peerMs = Math.max(figures.peerMs, peerMs);
      for (const [call, times] of Object.entries(report.failures))
        figures.failures[call] = (figures.failures[call] ?? 0) + times;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** The limit of a wait, ms. A computer on which the other process waits long, too, is not quiet: there twice its wait counts. */
export function longestWait({ peerMs }: WaitFigures, longestWaitMs: number): number {
  return Math.max(longestWaitMs, 2 * peerMs);
}

/** @param longestWaitMs infinite where other tests keep the processors busy */
export function expectShortWaits(figures: WaitFigures, longestWaitMs: number): void {
  expect(figures.busiestMs, figures.busiest).toBeLessThanOrEqual(longestWaitMs);
  expect(figures.longestMs, figures.slowest).toBeLessThanOrEqual(longestWait(figures, longestWaitMs));
}
