/**
 * Asks the cloud whether this server should exit, so that its supervisor restarts it. It asks just as often while the cloud cannot be reached:
 * this is the call that first shows that it can, and ends the waits of others.
 */
import { type Clock, errorText, inBackground, type Log } from '@platform/base';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import type { Link } from '@platform/rpc/client';
import { stopwatch } from '../logging/stopwatch.ts';
import type { CloudReach } from './cloud-reach.ts';

const leastMs = 1_000;
const usualMs = 5_000;

export interface RestartWatchDeps {
  readonly link: Link;
  readonly partId: string;
  /** Called once. */
  readonly restart: () => void;
  readonly reach: Pick<CloudReach, 'wait'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function watchForRestart({ link, partId, restart, reach, clock, log }: RestartWatchDeps): AsyncDisposable {
  return inBackground(async (signal) => {
    for (let waitMs = usualMs; !signal.aborted; ) {
      await reach.wait(waitMs, signal);
      if (signal.aborted) return;
      const fromMs = clock.monotonic();
      const took = stopwatch(clock);
      try {
        const answer = await link.client(RobotService).needsRestart({ id: partId }, { signal, timeoutMs: 10_000 });
        log.debug('asked the cloud whether to restart', took());
        if (answer.mustRestart) {
          log.info('the cloud requests a restart');
          return restart();
        }
        const { seconds = 0n, nanos = 0 } = answer.restartCheckInterval ?? {};
        waitMs = Math.max(leastMs, Number(seconds) * 1_000 + nanos / 1e6 || usualMs);
      } catch (caught) {
        log.debug('checking for a requested restart failed', { error: errorText(caught) });
        waitMs = Math.max(leastMs, usualMs - (clock.monotonic() - fromMs));
      }
    }
  });
}
