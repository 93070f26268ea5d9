/**
 * Reads one method of one resource at its frequency and hands the encoded readings to its files.
 *
 * A tick is skipped, and counted, while the reading before it has not returned (`late`) or the queue is full (`held`).
 */
import { errorText, type Log } from '@platform/base';
import type { Document } from '@platform/resources';
import { ReadingEncoder } from './encode.ts';
import type { RollFile } from './roll-file.ts';

export interface CollectorOptions {
  /** Resource and method, for messages. */
  readonly name: string;
  /** The document of a reading; undefined if there is nothing to capture this time. */
  readonly read: () => Document | undefined | Promise<Document | undefined>;
  readonly file: RollFile;
  readonly wallMicros: () => number;
  readonly log: Log;
}

const logEveryMicros = 60_000_000;
const encoder = new ReadingEncoder();

export class Collector {
  /** Counts of readings: taken, skipped because the previous one had not returned, skipped because the disk was behind, failed, arrived after the end. */
  taken = 0;
  late = 0;
  held = 0;
  failed = 0;
  dropped = 0;
  readonly #options: CollectorOptions;
  #reading: Promise<void> | undefined;
  #loggedAt = new Map<string, number>();

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  /** Takes the `due` readings, one after the other. */
  tick(due: number): void {
    for (let i = 0; i < due; i++) {
      if (this.#reading !== undefined) {
        this.late++;
        this.#complain('the resource answers more slowly than the capture frequency', { skipped: this.late });
      } else if (!this.#options.file.ready) {
        this.held++;
        this.#complain('readings are skipped: the disk cannot keep up and the queue is full', { skipped: this.held });
      } else {
        this.#take();
      }
    }
  }

  /** Waits for a reading in progress. */
  async settled(): Promise<void> {
    await this.#reading;
  }

  #take(): void {
    const requestedMicros = this.#options.wallMicros();
    try {
      const result = this.#options.read();
      if (!(result instanceof Promise)) {
        this.#keep(requestedMicros, result);
        return;
      }
      this.#reading = result
        .then((document) => this.#keep(requestedMicros, document))
        .catch((caught) => this.#fail(caught))
        .finally(() => {
          this.#reading = undefined;
        });
    } catch (caught) {
      this.#fail(caught);
    }
  }

  #keep(requestedMicros: number, document: Document | undefined): void {
    if (document === undefined) return;
    const receivedMicros = this.#options.wallMicros();
    if (this.#options.file.add(encoder.encode({ requestedMicros, receivedMicros, document }))) {
      this.taken++;
      return;
    }
    this.dropped++;
    this.#complain('a reading arrived after its capture had ended; it is dropped', { dropped: this.dropped });
  }

  #fail(caught: unknown): void {
    this.failed++;
    this.#complain(`a reading failed: ${errorText(caught)}`);
  }

  /** Logs the same problem at most once a minute. */
  #complain(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const now = this.#options.wallMicros();
    if (now - (this.#loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < logEveryMicros) return;
    if (this.#loggedAt.size > 100) this.#loggedAt.clear();
    this.#loggedAt.set(message, now);
    this.#options.log.warn(`${this.#options.name}: ${message}`, fields);
  }
}
