/** The process of a module: serves its models until the machine-server stops it. */
import { errorText, systemClock } from '@platform/base';
import type { Model } from './define-model.ts';
import { ownSettings } from './settings.ts';
import { startModule } from './start-module.ts';

export interface ModuleOptions {
  readonly models: readonly Model[];
}

/** Time limit of a stop; the machine-server would kill the process only later. */
const stopLimitMs = 5_000;

/**
 * Reads arguments and environment, serves the models, and ends the process: with exit code 0 after SIGTERM or SIGINT, with 1 if it cannot
 * start or its machine-server is gone. Call it once, as the last statement of a module.
 */
export async function serveModule({ models }: ModuleOptions): Promise<never> {
  const stop = Promise.withResolvers<number>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.resolve(0));
  // The machine-server may end before this process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    await using _running = await startModule({
      models,
      settings: ownSettings(),
      clock: systemClock,
      print: (text, level) =>
        void (level === 'warn' || level === 'error' ? process.stderr : process.stdout).write(text),
      onParentGone: () => {
        process.stderr.write('the machine-server of this module no longer answers: the module ends\n');
        stop.resolve(1);
      },
    });
    const code = await stop.promise;
    systemClock.after(stopLimitMs, () => process.exit(code));
  } catch (caught) {
    process.stderr.write(`${errorText(caught)}\n`);
    process.exit(1);
  }
  process.exit(await stop.promise);
}
