/**
 * Reads one method of one resource at its frequency and hands the encoded readings to its files.
 *
 * A tick is skipped, and counted, while the reading before it has not returned (`late`) or the queue is full (`held`).
 */
import { errorText, type Log, type LogFields } from '@platform/base';
import type { Document } from '@platform/resources';
import { LimitedLog } from '../logging/limited-log.ts';
import { ReadingEncoder } from './encode.ts';
import type { RollFile } from './roll-file.ts';

export interface CollectorDeps {
  /** Resource and method, for messages. */
  readonly name: string;
  /** The document of a reading; undefined if there is nothing to capture this time. */
  readonly read: () => Document | undefined | Promise<Document | undefined>;
  readonly file: RollFile;
  readonly wallMicros: () => number;
  readonly log: Log;
}

const encoder = new ReadingEncoder();

export class Collector {
  /** Counts of readings: taken, skipped because the previous one had not returned, skipped because the disk was behind, failed, arrived after the end. */
  taken = 0;
  late = 0;
  held = 0;
  failed = 0;
  dropped = 0;
  readonly #deps: CollectorDeps;
  #reading: Promise<void> | undefined;
  readonly #log: LimitedLog;

  constructor(deps: CollectorDeps) {
    this.#deps = deps;
    this.#log = new LimitedLog(deps.log, () => deps.wallMicros() / 1_000);
  }

  /** Takes the `due` readings, one after the other. */
  tick(due: number): void {
    for (let i = 0; i < due; i++) {
      if (this.#reading !== undefined) {
        this.late++;
        this.#warn('the resource answers more slowly than the capture frequency', { skipped: this.late });
      } else if (!this.#deps.file.ready) {
        this.held++;
        this.#warn('readings are skipped: the disk cannot keep up and the queue is full', { skipped: this.held });
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
    const requestedMicros = this.#deps.wallMicros();
    try {
      const result = this.#deps.read();
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
    const receivedMicros = this.#deps.wallMicros();
    if (this.#deps.file.add(encoder.encode({ requestedMicros, receivedMicros, document }))) {
      this.taken++;
      return;
    }
    this.dropped++;
    this.#warn('a reading arrived after its capture had ended; it is dropped', { dropped: this.dropped });
  }

  #fail(caught: unknown): void {
    this.failed++;
    this.#warn(`a reading failed: ${errorText(caught)}`);
  }

  #warn(message: string, fields?: LogFields): void {
    this.#log.write('warn', `${this.#deps.name}: ${message}`, fields);
  }
}
