/**
 * Reads one method of one resource at its frequency and hands the encoded readings to its files.
 *
 * A tick is skipped and counted while the previous reading has not returned (`late`), or the disk is behind and the memory for that is full
 * (`held`). It waits while a crash
 * right after it would not be reported, because the note of that time is not on the disk yet (`covers`). A reading that takes too long is
 * given up, so that a later tick can try again; a later answer to it is discarded. No failure ends a collector.
 */
import {
  asPlatformError,
  deadlineExceeded,
  errorText,
  type Log,
  type LogFields,
  PlatformError,
  unavailable,
} from '@platform/base';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import type { BinaryReading, CapturedDocument } from '@platform/resources';
import { LimitedLog } from '../logging/limited-log.ts';
import { ReadingEncoder } from './encode.ts';
import { binaryFile, encodeBinary } from './encode-binary.ts';
import { ResourceMissing } from './resource-missing.ts';
import type { RollFile } from './roll-file.ts';

/** A document, or the binary readings of one group. */
export type Captured = CapturedDocument | readonly BinaryReading[];

export interface CollectorDeps {
  /** Resource and method, for messages. */
  readonly name: string;
  /** Takes a reading; undefined if there is nothing to capture this time. */
  readonly read: (signal: AbortSignal) => Captured | undefined | Promise<Captured | undefined>;
  /** A reading that takes longer is given up. */
  readonly limitMs: number;
  readonly file: Pick<RollFile, 'add' | 'ready'>;
  readonly wallMicros: () => number;
  /** Whether a reading may be taken at this time, µs; if not, `resume` follows. */
  readonly covers: (us: number) => boolean;
  readonly monotonicMs: () => number;
  /** Counts readings that are missing between two times. */
  readonly gap: (reason: GapReason, readings: number, startUs: number, endUs: number) => void;
  readonly intervalMs: number;
  readonly log: Log;
}

const encoder = new ReadingEncoder();

/** A filter in a module answers FAILED_PRECONDITION with this text if nothing is to be captured now. */
const filtered = 'no capture from filter module';

export class Collector {
  /** Counts of readings: taken, skipped because the previous one was late or the disk was behind, failed, arrived after the end. */
  taken = 0;
  late = 0;
  held = 0;
  failed = 0;
  dropped = 0;
  readonly #deps: CollectorDeps;
  /** Ticks that wait until their time is covered. */
  #waiting = 0;
  #reading: Promise<void> | undefined;
  #since = 0;
  /** Number of the reading in progress; earlier ones are over. */
  #turn = 0;
  #abort = new AbortController();
  #failures = 0;
  /** For the line at debug: readings since the last one, and how long the slowest took. */
  #steps = { readings: 0, longestUs: 0 };
  #error: string | undefined;
  readonly #log: LimitedLog;

  constructor(deps: CollectorDeps) {
    this.#deps = deps;
    this.#log = new LimitedLog(deps.log, () => deps.wallMicros() / 1_000);
  }

  /** Why nothing is captured: the error of the last readings. Undefined after a single failure, and after success. */
  get error(): string | undefined {
    return this.#failures > 1 ? this.#error : undefined;
  }

  /** Takes the `due` readings one after the other. @param missed ticks that passed before, because this computer stalled */
  tick(due: number, missed = 0): void {
    if (missed > 0) {
      this.late += missed;
      const nowUs = this.#deps.wallMicros();
      this.#deps.gap(GapReason.MISSED, missed, nowUs - Math.round(missed * this.#deps.intervalMs * 1_000), nowUs);
    }
    for (let i = 0; i < due; i++) {
      if (this.#reading !== undefined) {
        this.late++;
        this.#missing(GapReason.MISSED);
        this.#warn('the resource answers more slowly than the capture frequency', { skipped: this.late });
      } else if (!this.#deps.file.ready) {
        this.held++;
        this.#missing(GapReason.QUEUE_FULL);
        this.#warn('readings are skipped: the disk cannot keep up, and the memory for them is full', {
          skipped: this.held,
        });
      } else if (this.#waiting > 0 || !this.#take()) {
        this.#waiting++;
      }
    }
  }

  /** Call when readings may be taken again: takes one that waited, and counts the others as missed. */
  resume(): void {
    const waited = this.#waiting;
    this.#waiting = 0;
    if (waited === 0) return;
    this.tick(1, waited - 1);
    if (waited > 1) this.#warn('readings were skipped: the disk answered too late', { skipped: this.late });
  }

  /** Logs the readings of the last second at debug, and gives up one that has taken too long. Called every second. */
  check(): void {
    this.#tellSteps();
    if (this.#reading === undefined || this.#deps.monotonicMs() - this.#since < this.#deps.limitMs) return;
    this.#over();
    this.#fail(deadlineExceeded(`no answer within ${this.#deps.limitMs / 1_000} s`));
  }

  /** Waits for a reading in progress. */
  async settled(): Promise<void> {
    await this.#reading;
  }

  /** Ends a reading in progress; its answer is dropped. */
  abandon(): void {
    this.#missing(GapReason.MISSED, this.#waiting);
    this.late += this.#waiting;
    this.#waiting = 0;
    if (this.#reading === undefined) return;
    this.#over();
    this.#drop();
  }

  #over(): void {
    this.#turn++;
    this.#reading = undefined;
    this.#abort.abort(new PlatformError('canceled', 'the capture does not wait for this reading any more'));
    this.#abort = new AbortController();
  }

  /** Returns false if no reading may be taken now. */
  #take(): boolean {
    const requestedMicros = this.#deps.wallMicros();
    if (!this.#deps.covers(requestedMicros)) return false;
    try {
      const result = this.#deps.read(this.#abort.signal);
      if (!(result instanceof Promise)) {
        this.#keep(requestedMicros, result);
        return true;
      }
      const turn = ++this.#turn;
      this.#since = this.#deps.monotonicMs();
      this.#reading = result
        .then((captured) => turn === this.#turn && this.#keep(requestedMicros, captured))
        .catch((caught) => turn === this.#turn && this.#fail(caught))
        .then(() => {
          if (turn === this.#turn) this.#reading = undefined;
        });
    } catch (caught) {
      this.#fail(caught);
    }
    return true;
  }

  #keep(requestedMicros: number, captured: Captured | undefined): void {
    if (captured === undefined) return;
    const receivedMicros = this.#deps.wallMicros();
    this.#steps.readings++;
    this.#steps.longestUs = Math.max(this.#steps.longestUs, receivedMicros - requestedMicros);
    if (this.#add(captured, requestedMicros, receivedMicros)) this.taken++;
    else this.#drop();
    if (this.#failures > 1)
      this.#deps.log.info(`${this.#deps.name}: readings arrive again`, { failed: this.#failures });
    this.#failures = 0;
  }

  /** One line a second: lines for each of a thousand readings would displace all others. */
  #tellSteps(): void {
    const { readings, longestUs } = this.#steps;
    if (readings === 0) return;
    this.#steps = { readings: 0, longestUs: 0 };
    this.#deps.log.debug(`${this.#deps.name}: readings were taken`, { readings, longestMs: longestUs / 1_000 });
  }

  #add(captured: Captured, requestedMicros: number, receivedMicros: number): boolean {
    const { file } = this.#deps;
    if (!isBinary(captured)) return file.add(encoder.encode({ requestedMicros, receivedMicros, document: captured }));
    if (captured.length === 0 || captured.some(({ bytes }) => bytes.length === 0))
      throw unavailable('expected bytes to capture, found none');
    return captured
      .map((each) => file.add(encodeBinary(each, requestedMicros, receivedMicros), binaryFile(each.mimeType)))
      .every((isKept) => isKept);
  }

  #drop(): void {
    this.dropped++;
    this.#missing(GapReason.MISSED);
    this.#warn('a reading arrived after its capture had ended; it is dropped', { dropped: this.dropped });
  }

  #fail(caught: unknown): void {
    const { code, message } = asPlatformError(caught);
    if (code === 'failed_precondition' && message.includes(filtered)) return;
    this.failed++;
    this.#missing(GapReason.FAILED);
    this.#failures++;
    this.#error = errorText(caught);
    if (caught instanceof ResourceMissing) this.#deps.log.debug(`${this.#deps.name}: a reading failed: ${this.#error}`);
    else this.#warn(`a reading failed: ${this.#error}`);
  }

  #missing(reason: GapReason, readings = 1): void {
    const nowUs = this.#deps.wallMicros();
    if (readings > 0) this.#deps.gap(reason, readings, nowUs, nowUs);
  }

  #warn(message: string, fields?: LogFields): void {
    this.#log.write('warn', `${this.#deps.name}: ${message}`, fields);
  }
}

function isBinary(captured: Captured): captured is readonly BinaryReading[] {
  return Array.isArray(captured);
}
