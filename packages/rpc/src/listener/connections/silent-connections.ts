/**
 * Bounds silent connections: those that have not sent a complete request yet. Each costs a descriptor, and nobody has shown that they are
 * needed. Without a bound, anybody who reaches a port can leave the process without descriptors for its own files.
 *
 * A connection is silent until the head of its first request is complete: the headers of HTTP/1.1, or the first stream of HTTP/2. A TLS
 * handshake, the preface, SETTINGS and PING are no request. After that it is never silent again, so links and tunnels of machines,
 * WebSockets and long streams are not affected; what follows the head is bounded by its pace (`../pace.ts`).
 */
import { type Clock, systemClock } from '@platform/base';
import { descriptorLimit } from './descriptor-limit.ts';

/** How many connections may be silent at once. */
interface SilentLimits {
  /** Never more. */
  readonly inAll: number;
  /** An address that has more for longer than a moment loses the oldest, and the first one if too many are silent in all. */
  readonly ofAddress: number;
}

interface Silent {
  readonly address: string | undefined;
  readonly sinceMs: number;
  readonly cut: () => void;
}

/**
 * How long an address may have too many. The machines of a site share an address, and connect at once after a failure; with TLS, each needs
 * some turns, and those that came first are nearest to their request.
 */
const momentMs = 5_000;
const lookEveryMs = 500;

export class SilentConnections {
  readonly #limits: SilentLimits;
  readonly #clock: Clock;
  /** The oldest first, here and below. */
  readonly #all = new Set<Silent>();
  readonly #byAddress = new Map<string, Set<Silent>>();
  /** Those of addresses that have too many. */
  readonly #crowds = new Set<Set<Silent>>();
  #looking: Disposable | undefined;

  constructor(limits: SilentLimits, clock: Clock = systemClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#all.size;
  }

  /**
   * @param address undefined: only the limit for all applies
   * @param cut ends the connection
   * @returns ends the counting, when it is not silent any more or closed; further calls have no effect
   */
  add(address: string | undefined, cut: () => void): () => void {
    const one: Silent = { address, sinceMs: this.#clock.monotonic(), cut };
    this.#all.add(one);
    if (address !== undefined) {
      const ofAddress = this.#byAddress.get(address) ?? new Set();
      this.#byAddress.set(address, ofAddress.add(one));
      if (ofAddress.size > this.#limits.ofAddress) this.#crowds.add(ofAddress);
    }
    if (this.#all.size > this.#limits.inAll) {
      // One address alone does not drive out the others.
      const [crowd = this.#all] = this.#crowds;
      this.#cutFirst(crowd);
    }
    this.#look();
    return () => this.#remove(one);
  }

  #look(): void {
    if (this.#crowds.size === 0) return;
    // If the process was stalled meanwhile, requests may be waiting: they are read first.
    this.#looking ??= this.#clock.after(lookEveryMs, () => setImmediate(() => this.#thinOut()));
  }

  #thinOut(): void {
    this.#looking = undefined;
    const latestMs = this.#clock.monotonic() - momentMs;
    for (const crowd of this.#crowds)
      for (const { sinceMs } of crowd) {
        if (sinceMs > latestMs || crowd.size <= this.#limits.ofAddress) break;
        this.#cutFirst(crowd);
      }
    this.#look();
  }

  #cutFirst(connections: ReadonlySet<Silent>): void {
    const [oldest] = connections;
    if (oldest === undefined) return;
    this.#remove(oldest);
    oldest.cut();
  }

  #remove(one: Silent): void {
    this.#all.delete(one);
    if (one.address === undefined) return;
    const ofAddress = this.#byAddress.get(one.address);
    if (ofAddress === undefined) return;
    ofAddress.delete(one);
    if (ofAddress.size <= this.#limits.ofAddress) this.#crowds.delete(ofAddress);
    if (ofAddress.size === 0) this.#byAddress.delete(one.address);
  }
}

/** Of all ports and sockets of this process, because descriptors belong to the process. */
export const silentConnections: SilentConnections = new SilentConnections({
  inAll: Math.max(1, Math.floor(descriptorLimit() / 4)),
  ofAddress: 32,
});
