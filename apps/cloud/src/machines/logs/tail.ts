/**
 * Live tails: readers get lines as they are stored, without a query. Each reader has a buffer of limited size; a reader that falls behind
 * is told how many lines are missing, at the place where they are missing.
 */
import { type Clock, resourceExhausted, Wakeup } from '@platform/base';
import type { LogFilter } from './filter.ts';
import { maxTailBatch, maxTailBytes, maxTailLines, maxTailsPerPart } from './limits.ts';
import { bytesOf, type Line, ownLineOf } from './line.ts';

export interface Tail extends Disposable {
  /** The next lines, oldest first, as soon as there are any; empty if none arrive within `waitMs`. */
  next(waitMs: number, signal: AbortSignal): Promise<readonly Line[]>;
}

export interface Tails {
  /** Follows lines that are stored from now on. @throws resource_exhausted if the part has too many readers */
  open(partId: string, matches: LogFilter): Tail;
  publish(lines: readonly Line[]): void;
}

export function createTails(clock: Clock): Tails {
  const readers = new Map<string, Set<BufferedTail>>();
  return {
    open(partId, matches) {
      const ofPart = readers.get(partId) ?? new Set();
      if (ofPart.size >= maxTailsPerPart) {
        throw resourceExhausted(
          `TailRobotPartLogs of part ${partId}: expected at most ${maxTailsPerPart} readers at a time, found that many already; end one of them`,
        );
      }
      readers.set(partId, ofPart);
      const tail = new BufferedTail(partId, matches, clock, () => {
        ofPart.delete(tail);
        if (ofPart.size === 0) readers.delete(partId);
      });
      ofPart.add(tail);
      return tail;
    },
    publish(lines) {
      if (readers.size === 0) return;
      for (const line of lines) for (const tail of readers.get(line.part_id) ?? []) tail.take(line);
    },
  };
}

class BufferedTail implements Tail {
  readonly #partId: string;
  readonly #matches: LogFilter;
  readonly #clock: Clock;
  readonly #close: () => void;
  #lines: Line[] = [];
  #bytes = 0;
  #leftOut = 0;
  readonly #news: Wakeup;

  constructor(partId: string, matches: LogFilter, clock: Clock, close: () => void) {
    this.#partId = partId;
    this.#matches = matches;
    this.#clock = clock;
    this.#close = close;
    this.#news = new Wakeup(clock);
  }

  take(line: Line): void {
    if (!this.#matches(line)) return;
    // Once lines are missing, drop all further ones until this is reported to the reader, who otherwise would not know where they are
    // missing.
    const full = this.#lines.length >= maxTailLines || this.#bytes >= maxTailBytes;
    if (full || this.#leftOut > 0) {
      this.#leftOut += 1;
    } else {
      this.#lines.push(line);
      this.#bytes += bytesOf(line);
    }
    this.#news.wake();
  }

  async next(waitMs: number, signal: AbortSignal): Promise<readonly Line[]> {
    if (this.#lines.length === 0 && this.#leftOut === 0) await this.#news.wait(waitMs, signal);
    const lines = this.#lines.splice(0, maxTailBatch);
    for (const line of lines) this.#bytes -= bytesOf(line);
    if (this.#lines.length > 0 || this.#leftOut === 0) return lines;
    lines.push(this.#missing(this.#leftOut));
    this.#leftOut = 0;
    return lines;
  }

  [Symbol.dispose](): void {
    this.#close();
    this.#news.wake();
  }

  #missing(count: number): Line {
    const message = `${count} ${count === 1 ? 'line was' : 'lines were'} left out of this tail, because it is read more slowly than the machine logs. They are in the log`;
    return ownLineOf(this.#partId, { level: 'warn', loggerName: 'cloud.logs', message }, this.#clock.now());
  }
}
