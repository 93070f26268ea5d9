/**
 * Memory that a main thread shares with its watchdog: how many turns its event loop made, whether it is to be watched now, and the
 * last call that began, for a loop that is stuck where nothing else can be read.
 */
const turnsAt = 0;
const watchedAt = 1;
const callTurnAt = 2;
const callLengthAt = 3;
const words = 4;
const callBytes = 512;

export class SharedTurns {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #call: Buffer;

  /** @param buffer of another SharedTurns */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(4 * words + callBytes)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer, 0, words);
    this.#call = Buffer.from(buffer, 4 * words, callBytes);
  }

  /** The event loop made a turn. @param isWatched false: the loop may take any time for the next one */
  turn(isWatched: boolean): void {
    Atomics.store(this.#words, watchedAt, isWatched ? 1 : 0);
    Atomics.add(this.#words, turnsAt, 1);
  }

  get turns(): number {
    return Atomics.load(this.#words, turnsAt);
  }

  get isWatched(): boolean {
    return Atomics.load(this.#words, watchedAt) === 1;
  }

  /** @param text one of printable characters */
  callBegan(text: string): void {
    Atomics.store(this.#words, callTurnAt, this.turns);
    Atomics.store(this.#words, callLengthAt, this.#call.write(text, 'latin1'));
  }

  /** The last call, if it began in the last turn or in the one before; the loop must be stuck. */
  recentCall(): string | undefined {
    const length = Atomics.load(this.#words, callLengthAt);
    const isRecent = this.turns - Atomics.load(this.#words, callTurnAt) <= 1;
    return length > 0 && isRecent ? this.#call.toString('latin1', 0, length) : undefined;
  }
}
