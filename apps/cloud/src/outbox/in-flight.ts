import type { Channel } from './channel.ts';

/** The deliveries in progress on one channel, and its free places. */
export class InFlight {
  readonly #limits: Pick<Channel, 'maxInFlight' | 'maxPerTarget'>;
  readonly #deliveries = new Map<string, Promise<void>>();
  /** Number of messages being sent to each target. */
  readonly #sending = new Map<string, number>();

  constructor(limits: Pick<Channel, 'maxInFlight' | 'maxPerTarget'>) {
    this.#limits = limits;
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

  hasRoomFor(target: string): boolean {
    return (this.#sending.get(target) ?? 0) < this.#limits.maxPerTarget;
  }

  /** Targets that have reached their limit. */
  saturated(): string[] {
    return [...this.#sending.keys()].filter((target) => !this.hasRoomFor(target));
  }

  reserve(target: string): void {
    this.#sending.set(target, (this.#sending.get(target) ?? 0) + 1);
  }

  release(target: string): void {
    const left = (this.#sending.get(target) ?? 1) - 1;
    if (left > 0) this.#sending.set(target, left);
    else this.#sending.delete(target);
  }

  /** @param delivery must not reject @returns resolves when its place is free again */
  add(id: string, delivery: Promise<void>): Promise<void> {
    const ended = delivery.then(() => void this.#deliveries.delete(id));
    this.#deliveries.set(id, ended);
    return ended;
  }

  async ended(): Promise<void> {
    await Promise.all(this.#deliveries.values());
  }
}
