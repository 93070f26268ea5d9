/**
 * Writes out captured readings, and notes until when further readings may be taken (`Alive`): every 400 ms to the operating system, which
 * survives a kill of the process, and every 800 ms to the disk, which survives a power cut.
 *
 * A note of the first kind reaches a second beyond the time up to which everything is written, so that a kill costs no more. A note of the
 * second kind reaches further if recent write-outs took long: the next note must be on the disk before the last one expires. If the next
 * note of either kind is late, readings wait for it. They do not wait for a disk that fails or hangs: it may be that of another series.
 */
import { type Clock, errorText } from '@platform/base';
import type { Alive, AliveSeries } from '../gaps/alive.ts';
import type { LimitedLog } from '../logging/limited-log.ts';
import type { RollFile } from './roll-file.ts';

export interface WriteOutsDeps {
  readonly alive: Pick<Alive, 'capturing' | 'mark' | 'extend' | 'written' | 'covers'>;
  readonly files: () => Pick<RollFile, 'write' | 'sync' | 'unwrittenUs' | 'failures'>[];
  /** Called after a new note: readings that waited may be taken. */
  readonly noted: () => void;
  readonly clock: Clock;
  readonly wallMicros: () => number;
  readonly log: LimitedLog;
}

/** What a kill may cost (gaps.md). */
const killUs = 1_000_000;
/** A disk that does not accept a write for this long is considered hung. */
const hangsMs = 2_000;
/** If a write-out takes longer, the time until which readings may be taken is extended. */
const slowMs = 100;
/** How far a note reaches: at least (what a power cut may cost), and at most (after stalls of the disk). */
const [leastReachMs, mostReachMs] = [1_000, 5_000];
/** The next note is on the disk after the time between two write-outs plus the next one: at most a quarter longer than recent ones. */
const [betweenMs, slower] = [800, 1.25];
/** Factor by which each write-out reduces the remembered time of the slowest. */
const forget = 0.9;
/** A note of new series that took longer is repeated, up to a maximum number of notes. */
const quickNoteMs = 100;
const mostNotes = 5;

export class WriteOuts {
  readonly #deps: WriteOutsDeps;
  /** How many times the captured series were noted. */
  #notes = 0;
  #underWay = 0;
  /** Time that recent write-outs took. */
  #takenMs = 0;

  constructor(deps: WriteOutsDeps) {
    this.#deps = deps;
  }

  /** Whether a reading may be taken at this time, µs. If not, `noted` will be called. */
  covers(us: number): boolean {
    if (this.#deps.alive.covers(us)) return true;
    // After a stall, or a step of the clock. A write-out in progress ends with a note.
    if (this.#underWay === 0) void this.writeOut();
    return false;
  }

  /** Hands user buffers to the operating system, and notes that. Returns the time before which every reading is written. */
  async write(): Promise<number> {
    this.#underWay++;
    try {
      const { clock, wallMicros, files } = this.#deps;
      using _hangs = clock.after(hangsMs, () => void this.#noteWritten(wallMicros()));
      const startedUs = wallMicros();
      await Promise.all(files().map((file) => file.write()));
      return await this.#noteWritten(startedUs);
    } finally {
      this.#underWay--;
    }
  }

  /** Writes out user buffers, and notes until when everything has reached the disk. */
  async writeOut(): Promise<void> {
    const { alive, clock } = this.#deps;
    const [notes, startedMs] = [this.#notes, clock.monotonic()];
    this.#underWay++;
    {
      using _late = clock.after(slowMs, () => void this.#extend());
      const safeUs = await this.#synced();
      if (safeUs === undefined) await this.#extend();
      // Otherwise, a later note was made meanwhile.
      else if (notes === this.#notes)
        await this.#note(alive.mark(safeUs, safeUs + this.#reachUs(clock.monotonic() - startedMs)));
    }
    this.#underWay--;
    this.#takenMs = Math.max(clock.monotonic() - startedMs, this.#takenMs * forget);
  }

  /**
   * Notes series before their first reading, so that a crash right after it is counted. Readings already captured are written out first. On
   * a slow disk, the note is repeated: the second that is reported after a crash begins with the noted time.
   */
  async noteSeries(series: readonly AliveSeries[]): Promise<void> {
    const { alive, clock, wallMicros } = this.#deps;
    this.#underWay++;
    for (let turn = 0; turn < mostNotes; turn++) {
      const startedMs = clock.monotonic();
      this.#notes++;
      const safeUs = (await this.#synced()) ?? wallMicros();
      await this.#note(alive.capturing(series, safeUs, safeUs + this.#reachUs(clock.monotonic() - startedMs)));
      await this.write();
      if (clock.monotonic() - startedMs < quickNoteMs) break;
    }
    this.#underWay--;
  }

  #reachUs(takenMs: number): number {
    const reachMs = betweenMs + slower * Math.max(takenMs, this.#takenMs);
    return 1_000 * Math.min(mostReachMs, Math.max(leastReachMs, reachMs));
  }

  /** Called if the disk is slow or fails: readings continue as long as a power cut would be reported. */
  async #extend(): Promise<void> {
    const { alive, wallMicros } = this.#deps;
    // This note may be late itself.
    await this.#note(alive.extend(wallMicros() + this.#reachUs(slowMs) - slowMs * 1_000));
  }

  /** @param startedUs when writing began */
  async #noteWritten(startedUs: number): Promise<number> {
    const { alive, files, wallMicros } = this.#deps;
    const [nowUs, all] = [wallMicros(), files()];
    const unwritten = all.map(({ unwrittenUs }) => unwrittenUs);
    const writtenUs = Math.min(startedUs, ...unwritten.filter((us) => us !== undefined));
    const hangs = nowUs - writtenUs >= hangsMs * 1_000 || all.some(({ failures }) => failures > 0);
    await this.#note(alive.written(writtenUs, (hangs ? nowUs : writtenUs) + killUs));
    return writtenUs;
  }

  /** Writes out user buffers; returns the time before which everything has reached the disk, or undefined if the disk fails. */
  async #synced(): Promise<number | undefined> {
    const writtenUs = await this.write();
    const synced = await Promise.all(this.#deps.files().map((file) => file.sync()));
    return synced.includes(false) ? undefined : writtenUs;
  }

  async #note(noting: Promise<void>): Promise<void> {
    await noting.catch((caught: unknown) =>
      this.#deps.log.write('warn', `what a crash would cost cannot be noted: ${errorText(caught)}`),
    );
    this.#deps.noted();
  }
}
