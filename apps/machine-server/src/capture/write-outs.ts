/**
 * Writes out what is captured, every 800 ms, and notes until when readings may be taken before the next time (`Alive`).
 *
 * A note reaches a second further than what it says is on the disk, and more if writing out has taken long lately: the next note is to be on
 * the disk before the time of the last one is over. If it is not, readings wait for it.
 */
import { type Clock, errorText } from '@platform/base';
import type { Alive, AliveSeries } from '../gaps/alive.ts';
import type { LimitedLog } from '../logging/limited-log.ts';
import type { RollFile } from './roll-file.ts';

export interface WriteOutsDeps {
  readonly alive: Pick<Alive, 'capturing' | 'mark' | 'extend' | 'covers'>;
  readonly files: () => Pick<RollFile, 'tick' | 'unwrittenUs'>[];
  /** There is a new note: readings that waited may be taken. */
  readonly noted: () => void;
  readonly clock: Clock;
  readonly wallMicros: () => number;
  readonly log: LimitedLog;
}

/** If a write-out takes longer, the time until which readings may be taken is extended. */
const slowMs = 100;
/** How far a note reaches at least, which is what a crash may cost (gaps.md), and at most, after stalls of the disk. */
const [leastReachMs, mostReachMs] = [1_000, 5_000];
/** The next note is on the disk after the time between two write-outs and what the next one takes: at most a quarter more than lately. */
const [betweenMs, slower] = [800, 1.25];
/** By how much a later write-out forgets how long the slowest took. */
const forget = 0.9;
/** A note of new series that took longer is repeated, so many times at most. */
const quickNoteMs = 100;
const mostNotes = 5;

export class WriteOuts {
  readonly #deps: WriteOutsDeps;
  /** How often the captured series were noted. */
  #notes = 0;
  #underWay = 0;
  /** What write-outs have taken lately. */
  #takenMs = 0;

  constructor(deps: WriteOutsDeps) {
    this.#deps = deps;
  }

  /** Whether a reading may be taken at this time, µs. If not, `noted` will be called. */
  covers(us: number): boolean {
    if (this.#deps.alive.covers(us)) return true;
    // After a stall, or a step of the clock. What is under way ends with a note.
    if (this.#underWay === 0) void this.writeOut();
    return false;
  }

  /** Writes out user buffers, and notes until when everything has reached the disk. */
  async writeOut(): Promise<void> {
    const { alive, clock } = this.#deps;
    const [notes, startedMs] = [this.#notes, clock.monotonic()];
    this.#underWay++;
    {
      using _late = clock.after(slowMs, () => void this.#extend());
      const safeUs = await this.#written();
      if (safeUs === undefined) await this.#extend();
      // What was noted meanwhile is later than this.
      else if (notes === this.#notes)
        await this.#note(alive.mark(safeUs, safeUs + this.#reachUs(clock.monotonic() - startedMs)));
    }
    this.#underWay--;
    this.#takenMs = Math.max(clock.monotonic() - startedMs, this.#takenMs * forget);
  }

  /**
   * Before the first reading of a series, so that a crash right after it is counted; what is captured already is written out first. On a
   * slow disk it is noted again: the second that is reported after a crash begins with the noted time.
   */
  async noteSeries(series: readonly AliveSeries[]): Promise<void> {
    const { alive, clock, wallMicros } = this.#deps;
    this.#underWay++;
    for (let turn = 0; turn < mostNotes; turn++) {
      const startedMs = clock.monotonic();
      this.#notes++;
      const safeUs = (await this.#written()) ?? wallMicros();
      await this.#note(alive.capturing(series, safeUs, safeUs + this.#reachUs(clock.monotonic() - startedMs)));
      if (clock.monotonic() - startedMs < quickNoteMs) break;
    }
    this.#underWay--;
  }

  #reachUs(takenMs: number): number {
    const reachMs = betweenMs + slower * Math.max(takenMs, this.#takenMs);
    return 1_000 * Math.min(mostReachMs, Math.max(leastReachMs, reachMs));
  }

  /** The disk is slow or fails; readings are taken nevertheless, as long as a crash would be reported. */
  async #extend(): Promise<void> {
    const { alive, files, wallMicros } = this.#deps;
    const unwritten = files().map(({ unwrittenUs }) => unwrittenUs);
    // This may be late itself.
    const nowUs = wallMicros();
    const writtenUs = Math.min(nowUs, ...unwritten.filter((us) => us !== undefined));
    await this.#note(alive.extend(nowUs + this.#reachUs(slowMs) - slowMs * 1_000, writtenUs));
  }

  /** Writes out user buffers; returns the time before which everything has reached the disk, or undefined if the disk fails. */
  async #written(): Promise<number | undefined> {
    const safeUs = this.#deps.wallMicros();
    const written = await Promise.all(this.#deps.files().map((file) => file.tick()));
    return written.includes(false) ? undefined : safeUs;
  }

  async #note(noting: Promise<void>): Promise<void> {
    await noting.catch((caught: unknown) =>
      this.#deps.log.write('warn', `what a crash would cost cannot be noted: ${errorText(caught)}`),
    );
    this.#deps.noted();
  }
}
