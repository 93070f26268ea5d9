import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** What almost everything that runs is given. */
export interface ClockAndLog {
  readonly clock: Clock;
  readonly log: Log;
}
