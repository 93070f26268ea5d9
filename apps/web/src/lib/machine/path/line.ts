/**
 * What is known of one way to a machine: whether the machine answers over it, and how fast. A small call is made now and then.
 *
 * States: unknown (no answer yet, or none for a while) → works ⇄ silent (the last call was not answered).
 */
import type { JsonObject } from '@bufbuild/protobuf';
import type { Clock } from '@platform/base/clock';
import { isUndelivered } from './undelivered.ts';
import type { Way, WayInit } from './way.ts';

/** Every machine answers it, if only that it does not know it. */
const smallCall = 'platform.robot.v1.RobotService/GetVersion';
/** A small call that takes longer is not answered. */
const silentMs = 3_000;
/** An answer of earlier says nothing about now. */
const freshMs = 10_000;
const keptTrips = 5;

export class Line<W extends Way = Way> {
  readonly way: W;
  readonly #clock: Clock;
  readonly #changed: () => void;
  #health: 'unknown' | 'works' | 'silent' = 'unknown';
  /** Round trips of the last small calls. */
  #tripsMs: number[] = [];
  #asked: Promise<void> | undefined;
  #answeredMs: number | undefined;

  constructor(way: W, clock: Clock, changed: () => void) {
    this.way = way;
    this.#clock = clock;
    this.#changed = changed;
  }

  get health(): 'unknown' | 'works' | 'silent' {
    return this.#health;
  }

  /** When the machine last answered over it, in ms since 1970. */
  get answeredMs(): number | undefined {
    return this.#answeredMs;
  }

  /** Median of the last round trips. */
  get latencyMs(): number | undefined {
    const sorted = this.#tripsMs.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)];
  }

  async call(method: string, request: JsonObject, init: WayInit): Promise<JsonObject> {
    try {
      const answer = await this.way.call(method, request, init);
      this.#heard();
      return answer;
    } catch (caught) {
      // What a machine says about a resource looks the same as what is said about the connection.
      if (!isUndelivered(caught)) this.#heard();
      else if (init.signal?.aborted !== true) void this.ask();
      throw caught;
    }
  }

  /** Makes a small call, unless one is on its way. Never rejects. */
  ask(): Promise<void> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  /** Until the next answer, it counts as silent. */
  markSilent(): void {
    this.#tripsMs = [];
    this.#setHealth('silent');
  }

  /** If it was not used for a while, whether it works is unknown. */
  forget(): void {
    const isOld = this.#clock.now() - (this.#answeredMs ?? 0) > freshMs;
    if (this.#health === 'works' && isOld) this.#setHealth('unknown');
  }

  async #ask(): Promise<void> {
    const sentMs = this.#clock.monotonic();
    const over = new AbortController();
    using _limit = this.#clock.after(silentMs, () => over.abort(new Error('no answer in time')));
    try {
      await this.way.call(smallCall, {}, { signal: over.signal });
    } catch (caught) {
      if (isUndelivered(caught)) return this.markSilent();
    }
    this.#tripsMs = [...this.#tripsMs, this.#clock.monotonic() - sentMs].slice(-keptTrips);
    this.#heard();
    this.#changed();
  }

  #heard(): void {
    this.#answeredMs = this.#clock.now();
    this.#setHealth('works');
  }

  #setHealth(health: 'works' | 'silent' | 'unknown'): void {
    if (this.#health === health) return;
    this.#health = health;
    this.#changed();
  }
}
