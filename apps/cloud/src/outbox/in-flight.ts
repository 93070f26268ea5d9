import type { Channel } from './channel.ts';
import type { Circuits } from './stuck-targets/circuits.ts';

/** The deliveries in progress on one channel, and its free slots. */
export class InFlight {
  readonly #limits: Pick<Channel, 'maxInFlight' | 'maxPerTarget'>;
  readonly #circuits: Circuits | undefined;
  readonly #deliveries = new Map<string, Promise<void>>();
  /** Number of messages being sent to each target. */
  readonly #sending = new Map<string, number>();

  /** @param circuits absent: failures of a target do not reduce its slots */
  constructor(limits: Pick<Channel, 'maxInFlight' | 'maxPerTarget'>, circuits?: Circuits) {
    this.#limits = limits;
    this.#circuits = circuits;
  }

  get count(): number {
    return this.#deliveries.size;
  }

  get free(): number {
    return this.#limits.maxInFlight - this.#deliveries.size;
  }

  has(id: string): boolean {
    return this.#deliveries.has(id);
  }

  /** Ids of the messages that are being sent now. */
  ids(): ReadonlySet<string> {
    return new Set(this.#deliveries.keys());
  }

  hasRoomFor(target: string): boolean {
    const { maxPerTarget } = this.#limits;
    if (this.#circuits?.isOpen(target) === true) return false;
    return (this.#sending.get(target) ?? 0) < (this.#circuits?.placesOf(target, maxPerTarget) ?? maxPerTarget);
  }

  /** Targets that get nothing now, because they have reached their limit or their circuit is open. */
  withoutRoom(): string[] {
    const full = [...this.#sending.keys()].filter((target) => !this.hasRoomFor(target));
    return [...new Set([...full, ...(this.#circuits?.open() ?? [])])];
  }

  reserve(target: string): void {
    this.#sending.set(target, (this.#sending.get(target) ?? 0) + 1);
  }

  release(target: string): void {
    const left = (this.#sending.get(target) ?? 1) - 1;
    if (left > 0) this.#sending.set(target, left);
    else this.#sending.delete(target);
  }

  /** @param delivery must not reject @returns resolves when its slot is free again */
  add(id: string, delivery: Promise<void>): Promise<void> {
    const ended = delivery.then(() => void this.#deliveries.delete(id));
    this.#deliveries.set(id, ended);
    return ended;
  }

  async ended(): Promise<void> {
    await Promise.all(this.#deliveries.values());
  }
}
