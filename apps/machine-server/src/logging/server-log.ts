/**
 * The server's log: lines go to standard output (text on a terminal, otherwise JSON objects) or to a file, and to listeners, such as the
 * queue for the cloud. Secrets are removed from each line first (`redact.ts`). Lines that repeat are held back (`repeated-lines.ts`),
 * unless the configuration forbids it or the logger writes at debug level.
 */
import { type Clock, createLog, fieldText, jsonLine, type Log, type LogLine, printableEntry } from '@platform/base';
import { Levels } from './levels.ts';
import { LogFile } from './log-file.ts';
import { Redactor } from './redact.ts';
import { RepeatedLines } from './repeated-lines.ts';

export interface ServerLogOptions {
  /** `-log-file`: replaces standard output. */
  readonly file: string | undefined;
  /** `PLATFORM_LOGFILE`: an additional file. */
  readonly alsoFile: string | undefined;
  /** Outputs in addition to these. */
  readonly sinks?: readonly Sink[];
  readonly clock: Clock;
}

/** Disposing writes the summaries of repeated lines and everything queued for its files; nothing is logged after that. */
export interface ServerLog extends AsyncDisposable {
  readonly log: Log;
  /** A log whose lines stay on this computer, and keep their secrets. */
  readonly local: Log;
  readonly levels: Levels;
  readonly redactor: Redactor;
  deduplicate: boolean;
  /** The first listener also gets the earlier lines. */
  onLine(listener: (line: LogLine) => void): void;
}

export interface Sink {
  write(line: LogLine): void;
  close(): Promise<void>;
}

/** How many lines are kept for the first listener. */
const maxEarlyLines = 1_000;

export function createServerLog({ file, alsoFile, sinks: more = [], clock }: ServerLogOptions): ServerLog {
  const levels = new Levels();
  const redactor = new Redactor();
  const listeners: ((line: LogLine) => void)[] = [];
  let early: LogLine[] = [];
  const openFile = (path: string): Sink => openLogFile(path, clock, () => server.log.child('logging'));
  const sinks: readonly Sink[] = [
    file === undefined ? standardOutput : openFile(file),
    ...(alsoFile === undefined ? [] : [openFile(alsoFile)]),
    ...more,
  ];

  const writeTo = (line: LogLine): void => {
    for (const sink of sinks) sink.write(line);
  };
  const emit = (line: LogLine): void => {
    writeTo(line);
    if (listeners.length === 0 && early.length < maxEarlyLines) early.push(line);
    for (const listener of listeners) listener(line);
  };
  const repeated = new RepeatedLines(clock, emit);
  const server: ServerLog = {
    levels,
    redactor,
    deduplicate: true,
    onLine(listener) {
      listeners.push(listener);
      for (const line of early) listener(line);
      early = [];
    },
    log: createLog((level, logger, message, fields) => {
      if (!levels.passes(level, logger)) return;
      const line = redactor.line({ timeMs: clock.now(), level, logger, message, fields });
      if (server.deduplicate && !levels.passes('debug', logger) && repeated.holdsBack(line)) return;
      emit(line);
    }),
    local: createLog((level, logger, message, fields) => {
      if (levels.passes(level, logger)) writeTo({ timeMs: clock.now(), level, logger, message, fields });
    }),
    async [Symbol.asyncDispose]() {
      repeated[Symbol.dispose]();
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
  return server;
}

const standardOutput: Sink = {
  write: (line) => void process.stdout.write(process.stdout.isTTY ? asText(line) : jsonLine(line)),
  close: async () => {},
};

/** An unwritable file is reported once, on standard error and in the log, and stops nothing. */
function openLogFile(path: string, clock: Clock, log: () => Log): Sink {
  const file = new LogFile({
    path,
    clock,
    onState(state) {
      if ('problem' in state) {
        const message = `the log file ${path} cannot be written (${state.problem}); trying again every 5 s. Free space, or give the account access`;
        process.stderr.write(`machine-server: ${message}\n`);
        log().error(message);
      } else log().info(`the log file ${path} is written again`, { droppedLines: state.dropped });
    },
  });
  return { write: (line) => file.write(asText(line)), close: () => file[Symbol.asyncDispose]() };
}

/** No text in it can look like a separate line, or do anything to a terminal. */
function asText({ timeMs, level, logger, message, fields }: LogLine): string {
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : fieldText(value)}`,
  );
  const text = `${new Date(timeMs).toISOString()} ${level.toUpperCase().padEnd(5)} ${logger} ${message}${rest.join('')}`;
  return `${printableEntry(text)}\n`;
}
