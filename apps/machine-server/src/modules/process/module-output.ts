/**
 * Converts the output of a module to lines of our log. A line has a maximum length. Beyond a limit per second, lines are dropped and
 * counted; a module that writes even faster must wait: its output is read again in the next second.
 */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Clock, Log, LogFields, LogLevel } from '@platform/base';
import { readPrinted, withoutColours } from '../module-line.ts';

const maxLineLength = 16 * 1024;
const linesPerSecond = 500;
const bytesPerSecond = 4 * 1024 * 1024;

/** The lines of one module, from all sources. */
export class ModuleLines {
  readonly #module: string;
  readonly #log: Log;
  readonly #clock: Clock;
  #second = Number.NaN;
  #lines = 0;
  #bytes = 0;
  #dropped = 0;

  /** @param log of the module with this name */
  constructor(module: string, log: Log, clock: Clock) {
    this.#module = module;
    this.#log = log;
    this.#clock = clock;
  }

  /** @param logger appended to the module's; empty: the module's own. */
  write(level: LogLevel, given: string, logger = '', fields: LogFields = {}): void {
    this.#tick();
    if (++this.#lines > linesPerSecond) {
      this.#dropped++;
      return;
    }
    const log = logger === '' ? this.#log : this.#log.child(logger.slice(0, 200));
    const text = withoutColours(given);
    const rest = text.length - maxLineLength;
    log[level](rest > 0 ? `${text.slice(0, maxLineLength)}… (${rest} more characters)` : text, fields);
  }

  /** Writes a line of its output. @param level if the line does not name one */
  writePrinted(level: LogLevel, text: string): void {
    const line = readPrinted(text, level, this.#module);
    this.write(line.level, line.message, line.logger, line.fields);
  }

  /** Counts the bytes read. @returns for how many milliseconds reading must pause; 0: not at all. */
  read(bytes: number): number {
    this.#tick();
    this.#bytes += bytes;
    return this.#bytes < bytesPerSecond ? 0 : 1_000 - (this.#clock.monotonic() % 1_000);
  }

  /** Logs how much was dropped. */
  flush(): void {
    if (this.#dropped === 0) return;
    this.#log.warn(
      `${this.#dropped} lines of this module were dropped: it wrote more than ${linesPerSecond} in a second`,
    );
    this.#dropped = 0;
  }

  #tick(): void {
    const second = Math.floor(this.#clock.monotonic() / 1_000);
    if (second === this.#second) return;
    this.flush();
    this.#second = second;
    this.#lines = 0;
    this.#bytes = 0;
  }
}

/** Logs the lines of an output stream of a process. Resolves when it ends. */
export async function logOutput(stream: Readable, level: LogLevel, lines: ModuleLines, clock: Clock): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let open = '';
  const add = (text: string): void => {
    const parts = text.split('\n');
    for (const [at, part] of parts.entries()) {
      // Of an endless line, only the logged part is kept.
      if (open.length <= maxLineLength) open += part;
      if (at === parts.length - 1) return;
      const line = open.endsWith('\r') ? open.slice(0, -1) : open;
      if (line !== '') lines.writePrinted(level, line);
      open = '';
    }
  };
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      add(decoder.write(chunk));
      const waitMs = lines.read(chunk.length);
      if (waitMs > 0) await clock.sleep(waitMs);
    }
  } catch {
    // The pipe broke because its process is gone.
  }
  if (open !== '') lines.writePrinted(level, open);
  lines.flush();
}
