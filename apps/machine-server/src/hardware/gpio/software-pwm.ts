/** PWM by setting a line high and low, in a separate thread, which starts on first use. */
import { Worker } from 'node:worker_threads';
import { siblingEntry, unavailable } from '@platform/base';
import type { Pulse } from './pulses.ts';
import type { PwmAnswer, PwmMessage } from './pwm-thread.ts';

export interface SoftwarePwm extends AsyncDisposable {
  /**
   * Begins or changes the pulses of a line; undefined ends them at an arbitrary level. Resolves when that is done.
   *
   * @param fd of the line @throws unavailable if the thread has ended
   */
  set(fd: number, pulse: Pulse | undefined): Promise<void>;
}

/** @param onError called with a line that could not be set; its pulses have ended */
export function createSoftwarePwm(onError: (fd: number, error: string) => void): SoftwarePwm {
  let worker: Worker | undefined;
  const wake = new SharedArrayBuffer(4);
  /** Calls in order, by line. */
  const waiting: { readonly fd: number; readonly done: PromiseWithResolvers<void> }[] = [];
  const start = (): Worker => {
    const started = new Worker(siblingEntry(import.meta.url, './pwm-thread'), {
      workerData: wake,
      execArgv: process.execArgv,
    });
    started.on('message', ({ output, error }: PwmAnswer) => {
      if (error !== undefined) return onError(output, error);
      const at = waiting.findIndex(({ fd }) => fd === output);
      if (at >= 0) waiting.splice(at, 1)[0]?.done.resolve();
    });
    const ended = (text: string): void => {
      worker = undefined;
      for (const { done } of waiting.splice(0)) done.reject(unavailable(`the thread for PWM ended: ${text}`));
    };
    started.on('error', (caught) => ended(caught instanceof Error ? caught.message : String(caught)));
    started.on('exit', () => ended('it was stopped'));
    return started;
  };
  return {
    async set(fd, pulse) {
      if (worker === undefined && pulse === undefined) return;
      worker ??= start();
      const done = Promise.withResolvers<void>();
      waiting.push({ fd, done });
      worker.postMessage({ output: fd, ...(pulse !== undefined && { pulse }) } satisfies PwmMessage);
      Atomics.add(new Int32Array(wake), 0, 1);
      Atomics.notify(new Int32Array(wake), 0);
      await done.promise;
    },
    async [Symbol.asyncDispose]() {
      await worker?.terminate();
    },
  };
}
