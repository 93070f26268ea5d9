/**
 * Bounds open connections: whoever has sent one complete request may keep the connection, but not the descriptors that the process needs for
 * its files and for others. Beyond the bound, the connection that has been idle for longest ends first. Idle means that no request is in
 * progress: links and tunnels of machines, WebSockets and streams never are, and connections that are still silent have a bound of their own
 * (`silent-connections.ts`).
 *
 * States of a connection here: busy ⇄ idle → leaving (asked to end; its last answer may still be on its way) → closed.
 */
import { descriptorLimit } from './descriptor-limit.ts';

export interface OpenLimits {
  /** Beyond this, idle connections end. */
  readonly inAll: number;
  /** How many may be leaving; of more, the first is cut at once. */
  readonly leaving: number;
}

export interface Endable {
  /** Ends the connection once what was written has been sent. */
  leave(): void;
  /** Ends it now. */
  cut(): void;
}

export class OpenConnections {
  readonly #limits: OpenLimits;
  #open = 0;
  /** The one that has been idle for longest first. */
  readonly #idle = new Set<Endable>();
  /** The first that was asked to end first. */
  readonly #leaving = new Set<Endable>();
  #looking: NodeJS.Immediate | undefined;

  constructor(limits: OpenLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open;
  }

  /** A connection was accepted. */
  opened(): void {
    this.#open++;
    this.#look();
  }

  /** Call it once, after which `idle` must not be called any more. */
  closed(one: Endable): void {
    this.#open--;
    this.#idle.delete(one);
    this.#leaving.delete(one);
  }

  busy(one: Endable): void {
    this.#idle.delete(one);
  }

  /** Its last request in progress was answered. */
  idle(one: Endable): void {
    if (this.#leaving.has(one)) return;
    this.#idle.add(one);
    this.#look();
  }

  /** Requests that have arrived meanwhile are read first. */
  #look(): void {
    if (this.#open - this.#leaving.size <= this.#limits.inAll) return;
    this.#looking ??= setImmediate(() => this.#thinOut());
  }

  #thinOut(): void {
    this.#looking = undefined;
    for (const one of this.#idle) {
      if (this.#open - this.#leaving.size <= this.#limits.inAll) break;
      this.#idle.delete(one);
      this.#leaving.add(one);
      one.leave();
    }
    let surplus = this.#leaving.size - this.#limits.leaving;
    for (const one of this.#leaving) {
      if (surplus-- <= 0) break;
      one.cut();
    }
  }
}

/** Of all ports and sockets of this process, because descriptors belong to the process. */
export const openConnections: OpenConnections = openConnectionsOf(descriptorLimit());

function openConnectionsOf(descriptors: number): OpenConnections {
  return new OpenConnections({
    inAll: Math.max(1, Math.floor(descriptors / 2)),
    leaving: Math.max(1, Math.floor(descriptors / 16)),
  });
}
