/**
 * Bounds silent connections: those that have not sent a complete request yet. Each costs a descriptor, and nobody has shown that they are
 * needed. Without a bound, anybody who reaches a port can leave the process without descriptors for its own files.
 *
 * A connection is silent until the head of its first request is complete: the headers of HTTP/1.1, or the first stream of HTTP/2. A TLS
 * handshake, the preface, SETTINGS and PING are no request. After that it is never silent again, so links and tunnels of machines,
 * WebSockets and long streams are not affected; what follows the head is bounded by its pace (`../pace.ts`).
 */
import { descriptorLimit } from './descriptor-limit.ts';

/** How many connections may be silent at once; with more, the oldest is cut. */
interface SilentLimits {
  readonly inAll: number;
  readonly ofAddress: number;
}

interface Silent {
  readonly address: string | undefined;
  readonly cut: () => void;
}

export class SilentConnections {
  readonly #limits: SilentLimits;
  /** The oldest first. */
  readonly #all = new Set<Silent>();
  readonly #byAddress = new Map<string, Set<Silent>>();

  constructor(limits: SilentLimits) {
    this.#limits = limits;
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
    const one = { address, cut };
    this.#all.add(one);
    if (address !== undefined) {
      const ofAddress = this.#byAddress.get(address) ?? new Set();
      this.#byAddress.set(address, ofAddress.add(one));
      if (ofAddress.size > this.#limits.ofAddress) this.#cutFirst(ofAddress);
    }
    if (this.#all.size > this.#limits.inAll) this.#cutFirst(this.#all);
    return () => this.#remove(one);
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
    ofAddress?.delete(one);
    if (ofAddress?.size === 0) this.#byAddress.delete(one.address);
  }
}

/** Of all ports and sockets of this process, because descriptors belong to the process. */
export const silentConnections: SilentConnections = new SilentConnections({
  inAll: Math.max(1, Math.floor(descriptorLimit() / 4)),
  ofAddress: 32,
});
