/**
 * Writes out captured readings, and notes until when further readings may be taken (`Alive`): every 400 ms to the operating system, which
 * survives a kill of the process, and every 800 ms to the disk, which survives a power cut.
 *
 * A note of the first kind begins with the oldest reading that is only in memory, one of the second kind with the oldest that is not synced.
 * On a quick disk each reaches a second beyond that; on a slow one so far that the next note is there in time, however long the files take: readings must not wait for the disk, as long as there is memory for them.
 * Only if a note is late do they wait for it, for half a minute at most. The longest time that a note took is remembered for some minutes, because a disk that was
 * slow once will be slow again.
 */
import { type Clock, errorText } from '@platform/base';
import type { Alive, AliveSeries } from '../gaps/alive.ts';
import type { LimitedLog } from '../logging/limited-log.ts';
import type { RollFile } from './roll-file.ts';

export interface WriteOutsDeps {
  readonly alive: Pick<Alive, 'capturing' | 'mark' | 'extend' | 'written' | 'covers' | 'hangs' | 'untilUs' | 'safeUs'>;
  /** Start of the oldest gap that could not be written to the disk, µs: a crash would lose it, and must report that time itself. */
  readonly unwrittenGapUs: () => number | undefined;
  readonly files: () => Pick<RollFile, 'write' | 'sync' | 'unwrittenUs' | 'isBehind'>[];
  /** Called after a new note: readings that waited may be taken. */
  readonly noted: () => void;
  readonly clock: Clock;
  readonly wallMicros: () => number;
  readonly log: LimitedLog;
}

/** What a kill may cost (gaps.md), unless the disk is behind. */
const killUs = 1_000_000;
/** A disk that does not accept a write for this long is behind, too. On a busy computer, readings wait for a shorter time. */
const hangsMs = 2_000;
/** A write that takes longer than this is noted as one that is under way. */
const lateMs = 300;
/** A write-out to the disk that takes longer than this is slow. */
const slowMs = 100;
/** What a power cut may cost on a quick disk, according to the note. */
const leastReachUs = 1_000_000;
/** How far a note reaches once the disk is slow, if it is not known yet how slow. */
const slowReachMs = 30_000;
/** The next note is on the disk after the time between two write-outs, the rest of the one in progress and its own: at most a quarter longer each. */
const [betweenMs, slower] = [800, 2 * 1.25];
/** Factor by which each note reduces the remembered time of the slowest: half of it after 4 minutes. */
const forget = 0.998;
/** A note that takes longer than this may never be on the disk. */
const longestNoteMs = 30_000;
/** How long the note of new series waits for readings that are already captured. */
const mostWaitMs = 1_000;

export class WriteOuts {
  readonly #deps: WriteOutsDeps;
  /** How many times the captured series were noted. */
  #notes = 0;
  #writing: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  /** Time that recent notes took. */
  #slowestNoteMs = 0;
  /** When the last note was on the disk. */
  #notedMs = 0;

  constructor(deps: WriteOutsDeps) {
    this.#deps = deps;
  }

  /** Whether a reading may be taken at this time, µs. If not, `noted` will be called. */
  covers(us: number): boolean {
    if (this.#deps.alive.covers(us)) return true;
    // After a stall, or a step of the clock. A write-out in progress ends with a note.
    if (this.#writing === undefined && this.#syncing === undefined) void this.writeOut();
    return false;
  }

  /** Call it every 400 ms. @param isToDisk every second time */
  tick(isToDisk: boolean): void {
    const isLate = this.#syncing !== undefined;
    if (isToDisk && !isLate) void this.writeOut();
    else if (this.#writing === undefined) void this.write();
    else void this.#noteWritten(this.#deps.wallMicros());
    const { alive, wallMicros } = this.#deps;
    if (isLate && alive.untilUs - wallMicros() < 1_000 * this.#aheadMs) void this.#extend();
  }

  /** Hands user buffers to the operating system, and notes that. Returns the time before which every reading is written. */
  async write(): Promise<number> {
    const { clock, wallMicros, files } = this.#deps;
    const startedUs = wallMicros();
    using _late = clock.after(lateMs, () => void this.#noteWritten(startedUs));
    this.#writing ??= this.#writeAll(files());
    await this.#writing;
    return await this.#noteWritten(startedUs);
  }

  /** Writes out user buffers, and notes until when everything has reached the disk. One at a time. */
  writeOut(): Promise<void> {
    this.#syncing ??= this.#writeOut().finally(() => {
      this.#syncing = undefined;
    });
    return this.#syncing;
  }

  /**
   * Notes series before their first reading, so that a crash right after it is counted. The note reaches far, so that it need not be
   * repeated on a slow disk; on a quick one, the next write-out shortens it.
   */
  async noteSeries(series: readonly AliveSeries[]): Promise<void> {
    const { alive, clock, wallMicros } = this.#deps;
    this.#notes++;
    const startedUs = wallMicros();
    const late = Promise.withResolvers<undefined>();
    using _late = clock.after(mostWaitMs, () => late.resolve(undefined));
    const safeUs = (await Promise.race([this.#synced(), late.promise])) ?? alive.safeUs ?? this.#withGaps(startedUs);
    await this.#note(alive.capturing(series, safeUs, wallMicros() + this.#slowReachUs));
    await this.write();
  }

  async #writeAll(files: ReturnType<WriteOutsDeps['files']>): Promise<void> {
    try {
      await Promise.all(files.map((file) => file.write()));
    } finally {
      this.#writing = undefined;
    }
  }

  async #writeOut(): Promise<void> {
    const { alive, clock, wallMicros, unwrittenGapUs } = this.#deps;
    const notes = this.#notes;
    let isSlow = this.#slowestNoteMs > slowMs || unwrittenGapUs() !== undefined;
    using _slow = clock.after(slowMs, () => {
      isSlow = true;
      void this.#extend();
    });
    const safeUs = await this.#synced();
    if (safeUs === undefined) await this.#extend();
    // Otherwise, a later note was made meanwhile.
    else if (notes === this.#notes) {
      await this.#note(alive.mark(safeUs, isSlow ? wallMicros() + this.#slowReachUs : safeUs + leastReachUs));
    }
  }

  /** How long before it expires a note must be renewed. */
  get #aheadMs(): number {
    return betweenMs + slower * this.#slowestNoteMs;
  }

  get #slowReachUs(): number {
    return 1_000 * Math.max(slowReachMs, 2 * this.#aheadMs);
  }

  /** The disk is slow, or fails: readings continue as long as a power cut would be reported. */
  async #extend(): Promise<void> {
    const { alive, wallMicros } = this.#deps;
    await this.#note(alive.extend(wallMicros() + this.#slowReachUs));
  }

  /** @param startedUs when writing began */
  async #noteWritten(startedUs: number): Promise<number> {
    const { alive, files, wallMicros, unwrittenGapUs } = this.#deps;
    const [nowUs, all] = [wallMicros(), files()];
    const unwritten = all.map(({ unwrittenUs }) => unwrittenUs);
    const writtenUs = this.#withGaps(Math.min(startedUs, ...unwritten.filter((us) => us !== undefined)));
    const isWaiting = unwrittenGapUs() !== undefined || all.some((file) => file.isBehind);
    const isBehind = isWaiting || nowUs - writtenUs >= hangsMs * 1_000;
    await this.#noting(alive.written(writtenUs, (isBehind ? nowUs : writtenUs) + killUs));
    return writtenUs;
  }

  /** Not after the start of a gap that a crash would lose. */
  #withGaps(us: number): number {
    return Math.min(us, this.#deps.unwrittenGapUs() ?? us);
  }

  /** Writes out user buffers; returns the time before which everything has reached the disk, or undefined if the disk fails. */
  async #synced(): Promise<number | undefined> {
    const writtenUs = await this.write();
    const synced = await Promise.all(this.#deps.files().map((file) => file.sync()));
    return synced.includes(false) ? undefined : writtenUs;
  }

  /** Of the second kind. */
  async #note(noting: Promise<void>): Promise<void> {
    const { clock } = this.#deps;
    const startedMs = clock.monotonic();
    {
      using _hung = clock.after(longestNoteMs, () => this.#hangs());
      await this.#noting(noting);
    }
    const nowMs = clock.monotonic();
    // They are written one after the other.
    const tookMs = nowMs - Math.max(startedMs, this.#notedMs);
    this.#slowestNoteMs = Math.max(tookMs, this.#slowestNoteMs * forget);
    this.#notedMs = nowMs;
  }

  #hangs(): void {
    const { alive, log, noted } = this.#deps;
    log.write(
      'warn',
      `what a crash would cost cannot be noted: the disk has not answered for ${longestNoteMs / 1_000} s`,
    );
    alive.hangs();
    noted();
  }

  async #noting(noting: Promise<void>): Promise<void> {
    await noting.catch((caught: unknown) =>
      this.#deps.log.write('warn', `what a crash would cost cannot be noted: ${errorText(caught)}`),
    );
    this.#deps.noted();
  }
}
