/** The losses of the log in memory, so that each query can check them: those stored, and those found since then. */
import type { LogDamage, LogLoss, LossIn } from '../log/log.ts';
import { subtractPosition } from './subtract-position.ts';

export class KnownLosses {
  #losses: readonly LogLoss[];
  readonly #unwritten = new Set<LogLoss>();

  constructor(stored: readonly LogLoss[]) {
    this.#losses = stored;
  }

  list(): readonly LogLoss[] {
    return this.#losses;
  }

  /** Undefined: the loss is already known, whether accepted or not. */
  add(lossIn: LossIn, damage: LogDamage, nowMs: number): LogLoss | undefined {
    const { first, last } = damage;
    if (this.#losses.some((known) => known.lossIn === lossIn && known.first <= first && known.last >= last))
      return undefined;
    const loss = { ...damage, lossIn, foundMs: nowMs, acceptedMs: null };
    this.#losses = [...this.#losses, loss];
    this.#unwritten.add(loss);
    return loss;
  }

  /** Stores those added since the last time. On a full disk, a loss stays in memory until the next time. */
  async writeDown(write: (loss: LogLoss) => Promise<unknown>): Promise<void> {
    for (const loss of this.#unwritten) {
      await write(loss);
      this.#unwritten.delete(loss);
    }
  }

  /** Called when the row at the position was restored. */
  end(position: number): void {
    this.#losses = this.#losses.flatMap((loss) => subtractPosition(loss, position));
  }

  accept(nowMs: number): void {
    this.#losses = this.#losses.map((loss) => ({ ...loss, acceptedMs: loss.acceptedMs ?? nowMs }));
  }
}

/** Converts a row of the table `losses`. */
export function lossOf(row: Readonly<Record<string, unknown>>): LogLoss {
  const { parts, accepted_ms: acceptedMs } = row;
  return {
    lossIn: row['loss_in'] as LossIn,
    first: Number(row['first_position']),
    last: Number(row['last_position']),
    parts: typeof parts === 'string' ? (JSON.parse(parts) as readonly string[]) : null,
    reason: String(row['reason']),
    foundMs: Number(row['found_ms']),
    acceptedMs: acceptedMs === null ? null : Number(acceptedMs),
  };
}

/** Values in the order of the table's columns, without `accepted_ms`. */
export function lossRow({ lossIn, first, last, parts, reason, foundMs }: LogLoss): (string | number | null)[] {
  return [lossIn, first, last, parts === null ? null : JSON.stringify(parts), reason, foundMs];
}
