/** Goes on with the new lines of a log, also when the connection is cut: each line once. */
import { asPlatformError, type Clock, type LogEntry, timestampMs } from '@platform/sdk/cloud';

/** With these codes a connection was lost; all others are the cloud's word. */
const cutCodes: ReadonlySet<string> = new Set(['unavailable', 'unknown', 'internal', 'aborted', 'deadline_exceeded']);
const firstPauseMs = 500;
const maxPauseMs = 15_000;
/** A line may arrive so much later than its time says. */
const lateMs = 60_000;
/** Of the last lines, by which those that are read again are known. */
const keptKeys = 5_000;

export interface FollowOptions {
  /** Lines as they come. @param onOpen called when the cloud sends new lines from now on */
  readonly open: (onOpen: () => void) => AsyncIterable<readonly LogEntry[]>;
  /** The lines from this time on, oldest first. @param fromMs undefined: of any time */
  readonly readFrom: (fromMs: number | undefined) => Promise<readonly LogEntry[]>;
  /** What was printed already, oldest first. */
  readonly printed: readonly LogEntry[];
  readonly print: (entry: LogEntry) => void;
  readonly warn: (text: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Ends by the signal alone, or throws what the cloud refuses. */
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
      // What came before the cloud listened for us; some of it may come once more.
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
      if (!isCut) warn(`the log was cut (${error.message}): opening it again`);
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
