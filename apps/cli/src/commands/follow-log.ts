/** Follows the new lines of a log, across lost connections; each line appears once. */
import { asPlatformError, type Clock, type LogEntry, timestampMs } from '@platform/sdk/cloud';

/** These codes mean that the connection was lost; all others come from the cloud. */
const cutCodes: ReadonlySet<string> = new Set(['unavailable', 'unknown', 'internal', 'aborted', 'deadline_exceeded']);
const firstPauseMs = 500;
const maxPauseMs = 15_000;
/** How much later than its timestamp a line may arrive. */
const lateMs = 60_000;
/** How many of the last lines are remembered, to recognize lines that are read again. */
const keptKeys = 5_000;

export interface FollowOptions {
  /** Lines as they arrive. @param onOpen called once the cloud sends all new lines */
  readonly open: (onOpen: () => void) => AsyncIterable<readonly LogEntry[]>;
  /** The lines since this time, oldest first. @param fromMs undefined: all lines */
  readonly readFrom: (fromMs: number | undefined) => Promise<readonly LogEntry[]>;
  /** Lines that are printed already, oldest first. */
  readonly printed: readonly LogEntry[];
  readonly print: (entry: LogEntry) => void;
  readonly warn: (text: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Runs until the signal is aborted. @throws the error with which the cloud refuses the request */
export async function followLog({
  open,
  readFrom,
  print,
  warn,
  clock,
  signal,
  ...given
}: FollowOptions): Promise<never> {
  const known = new Set(given.printed.map(keyOf));
  const firstMs = given.printed.length === 0 ? 0 : (msOf(given.printed[0]) ?? 0);
  let lastMs = given.printed.reduce<number | undefined>(later, undefined);
  const show = (entry: LogEntry): void => {
    print(entry);
    known.add(keyOf(entry));
    for (const oldest of known) {
      if (known.size <= keptKeys) break;
      known.delete(oldest);
    }
    lastMs = later(lastMs, entry);
  };
  let isCut = false;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    try {
      const opened = Promise.withResolvers<void>();
      const coming = open(opened.resolve)[Symbol.asyncIterator]();
      let next = coming.next();
      await Promise.race([opened.promise, next]);
      isCut = false;
      // Lines from before the stream was open; some of them may arrive again.
      const again = new Set<string>();
      for (const entry of await readFrom(lastMs && Math.max(firstMs, lastMs - lateMs))) {
        if (known.has(keyOf(entry))) continue;
        show(entry);
        again.add(keyOf(entry));
      }
      for (let found = await next; found.done !== true; found = await next) {
        pauseMs = firstPauseMs;
        for (const entry of found.value) if (!again.delete(keyOf(entry))) show(entry);
        next = coming.next();
      }
    } catch (caught) {
      const error = asPlatformError(caught);
      if (signal.aborted || !cutCodes.has(error.code)) throw caught;
      if (!isCut) warn(`lost the connection to the log (${error.message}); reconnecting`);
      isCut = true;
    }
    await clock.sleep(pauseMs, signal);
  }
}

function keyOf({ time, level, loggerName, message, host }: LogEntry): string {
  return [time?.seconds, time?.nanos, level, loggerName, host, message].join('\n');
}

function msOf(entry: LogEntry | undefined): number | undefined {
  return entry?.time && timestampMs(entry.time);
}

function later(newestMs: number | undefined, entry: LogEntry): number | undefined {
  const ms = msOf(entry);
  return newestMs === undefined || (ms !== undefined && ms > newestMs) ? ms : newestMs;
}
