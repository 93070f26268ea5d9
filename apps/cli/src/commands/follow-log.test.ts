import { type LogEntry, PlatformError, systemClock, timestampFromDate } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { followLog } from './follow-log.ts';

const at = (ms: number, message = `line ${ms}`): LogEntry =>
  ({
    time: timestampFromDate(new Date(ms)),
    level: 'info',
    loggerName: 'a',
    host: 'h',
    message,
    stack: '',
  }) as LogEntry;

/** A log that can be read and followed; each connection receives appended lines until it is cut. */
function log() {
  const lines: LogEntry[] = [];
  let wake = (): void => {};
  let cut: PlatformError | undefined;
  let connections = 0;
  return {
    lines,
    get connections() {
      return connections;
    },
    append(...entries: LogEntry[]) {
      lines.push(...entries);
      wake();
    },
    cut(error: PlatformError) {
      cut = error;
      wake();
    },
    async *open(onOpen: () => void) {
      connections++;
      cut = undefined;
      let from = lines.length;
      onOpen();
      for (;;) {
        if (from < lines.length) {
          const found = lines.slice(from);
          from = lines.length;
          yield found;
        }
        if (cut !== undefined) throw cut;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    readFrom: async (fromMs = 0) => lines.filter(({ time }) => Number(time?.seconds) * 1_000 >= fromMs),
  };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('after a lost connection, a log continues where it stopped: each line once, including late ones and those of the gap', async () => {
  const source = log();
  const seen: string[] = [];
  const warned: string[] = [];
  const stop = new AbortController();
  source.append(at(1_000), at(2_000));
  const following = followLog({
    open: (onOpen) => source.open(onOpen),
    readFrom: source.readFrom,
    printed: [...source.lines],
    print: ({ message }) => seen.push(message),
    warn: (text) => warned.push(text),
    clock: { ...systemClock, sleep: async (_ms, signal) => signal?.throwIfAborted() },
    signal: stop.signal,
  });
  source.append(at(3_000));
  await until(() => seen.length === 1);
  source.append(at(4_000), at(4_000));
  await until(() => seen.length === 3);
  source.lines.push(at(5_000), at(3_000, 'late'));
  source.cut(new PlatformError('unavailable', 'the cloud stops'));
  await until(() => seen.length === 5);
  source.append(at(6_000));
  await until(() => seen.length === 6);
  expect(seen).toEqual(['line 3000', 'line 4000', 'line 4000', 'line 5000', 'late', 'line 6000']);
  expect(warned).toEqual(['lost the connection to the log (the cloud stops); reconnecting']);
  expect(source.connections).toBe(2);
  source.cut(new PlatformError('permission_denied', 'no longer'));
  await expect(following).rejects.toThrow('no longer');
});
