/**
 * The server's log: lines go to standard output (text on a terminal, otherwise JSON objects) or to a file, and to the log shipper. A
 * message logged more than 3 times within a minute is noisy: for the rest of the minute it is counted and reported in one line, unless
 * debug logging is on.
 */
import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, createLog, fieldText, jsonLine, type Log, type LogFields, type LogLine } from '@platform/base';
import { Levels } from './levels.ts';

export interface ServerLogOptions {
  /** `-log-file`: replaces standard output. */
  readonly file: string | undefined;
  /** `PLATFORM_LOGFILE`: an additional file. */
  readonly alsoFile: string | undefined;
  readonly clock: Clock;
}

/** Disposing writes the lines queued for its files; nothing is logged after that. */
export interface ServerLog extends AsyncDisposable {
  readonly log: Log;
  readonly levels: Levels;
  deduplicate: boolean;
  onLine(listener: (line: LogLine) => void): void;
}

const noisyAfter = 3;
const windowMs = 60_000;
const maxFileBytes = 64 * 1024 * 1024;

export function createServerLog({ file, alsoFile, clock }: ServerLogOptions): ServerLog {
  const levels = new Levels();
  const listeners: ((line: LogLine) => void)[] = [];
  const sinks: readonly Sink[] = [
    file === undefined ? standardOutput : openLogFile(file),
    ...(alsoFile === undefined ? [] : [openLogFile(alsoFile)]),
  ];
  let window = { from: 0, counts: new Map<string, number>() };

  const emit = (line: LogLine): void => {
    for (const sink of sinks) sink.write(line);
    for (const listener of listeners) listener(line);
  };
  const noisy = (logger: string, message: string, fields: LogFields, timeMs: number): boolean => {
    if (timeMs - window.from >= windowMs) {
      const before = window;
      window = { from: timeMs, counts: new Map() };
      for (const [key, count] of before.counts) {
        if (count > noisyAfter)
          emit({
            timeMs,
            level: 'info',
            logger: '',
            message: `logged ${count} times in the past minute: ${key}`,
            fields: {},
          });
      }
    }
    if (window.counts.size > 1_000) window.counts.clear();
    const key = `${logger} ${message} ${fieldText(fields)}`;
    const count = (window.counts.get(key) ?? 0) + 1;
    window.counts.set(key, count);
    return count > noisyAfter;
  };
  const server: ServerLog = {
    levels,
    deduplicate: true,
    onLine: (listener) => void listeners.push(listener),
    log: createLog((level, logger, message, fields) => {
      if (!levels.passes(level, logger)) return;
      const timeMs = clock.now();
      if (server.deduplicate && !levels.debug && noisy(logger, message, fields, timeMs)) return;
      emit({ timeMs, level, logger, message, fields });
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
  return server;
}

interface Sink {
  write(line: LogLine): void;
  close(): Promise<void>;
}

const standardOutput: Sink = {
  write: (line) => void process.stdout.write(process.stdout.isTTY ? asText(line) : jsonLine(line)),
  close: async () => {},
};

/** Appends; a file over 64 MiB becomes `<file>.1`, replacing the previous one. */
function openLogFile(path: string): Sink {
  mkdirSync(dirname(path), { recursive: true });
  let size = sizeOf(path);
  const open = (): WriteStream => createWriteStream(path, { flags: 'a', mode: 0o600 }).on('error', () => {});
  let stream = open();
  return {
    write(line) {
      const text = asText(line);
      size += text.length;
      if (size > maxFileBytes) {
        stream.end();
        renameSync(path, `${path}.1`);
        stream = open();
        size = text.length;
      }
      stream.write(text);
    },
    close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      // Resolves after a file error too, which must not delay a stopping server.
      if (stream.closed) resolve();
      else stream.once('close', resolve).end();
      return promise;
    },
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function asText({ timeMs, level, logger, message, fields }: LogLine): string {
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : fieldText(value)}`,
  );
  return `${new Date(timeMs).toISOString()} ${level.toUpperCase().padEnd(5)} ${logger} ${message}${rest.join('')}\n`;
}
