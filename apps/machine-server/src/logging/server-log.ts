/**
 * The server's log: lines go to standard output (text on a terminal, otherwise JSON objects) or to a file, and to the log shipper. Lines
 * that repeat are held back (`repeated-lines.ts`), unless the configuration forbids it or the logger writes at debug level.
 */
import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, createLog, fieldText, jsonLine, type Log, type LogLine } from '@platform/base';
import { Levels } from './levels.ts';
import { RepeatedLines } from './repeated-lines.ts';

export interface ServerLogOptions {
  /** `-log-file`: replaces standard output. */
  readonly file: string | undefined;
  /** `PLATFORM_LOGFILE`: an additional file. */
  readonly alsoFile: string | undefined;
  readonly clock: Clock;
}

/** Disposing writes the summaries of repeated lines and everything queued for its files; nothing is logged after that. */
export interface ServerLog extends AsyncDisposable {
  readonly log: Log;
  readonly levels: Levels;
  deduplicate: boolean;
  onLine(listener: (line: LogLine) => void): void;
}

const maxFileBytes = 64 * 1024 * 1024;

export function createServerLog({ file, alsoFile, clock }: ServerLogOptions): ServerLog {
  const levels = new Levels();
  const listeners: ((line: LogLine) => void)[] = [];
  const sinks: readonly Sink[] = [
    file === undefined ? standardOutput : openLogFile(file),
    ...(alsoFile === undefined ? [] : [openLogFile(alsoFile)]),
  ];

  const emit = (line: LogLine): void => {
    for (const sink of sinks) sink.write(line);
    for (const listener of listeners) listener(line);
  };
  const repeated = new RepeatedLines(clock, emit);
  const server: ServerLog = {
    levels,
    deduplicate: true,
    onLine: (listener) => void listeners.push(listener),
    log: createLog((level, logger, message, fields) => {
      if (!levels.passes(level, logger)) return;
      const line = { timeMs: clock.now(), level, logger, message, fields };
      if (server.deduplicate && !levels.passes('debug', logger) && repeated.holdsBack(line)) return;
      emit(line);
    }),
    async [Symbol.asyncDispose]() {
      repeated[Symbol.dispose]();
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
