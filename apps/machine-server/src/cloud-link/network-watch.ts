/** Notices when this computer gets or loses a network address: a cable, a modem, a roaming radio, a VPN. */
import { networkInterfaces } from 'node:os';
import type { Clock } from '@platform/base';

const everyMs = 1_000;

export interface NetworkWatchDeps {
  /** Addresses of this computer; undefined: unknown at the moment. */
  readonly addresses: () => readonly string[] | undefined;
  /** Called with the addresses after each change. */
  readonly onChange: (addresses: ReadonlySet<string>) => void;
  readonly clock: Clock;
}

export class NetworkWatch implements Disposable {
  readonly #deps: NetworkWatchDeps;
  /** Undefined: they were not yet known. */
  #known: string | undefined;
  #timer: Disposable | undefined;

  constructor(deps: NetworkWatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#look();
    this.#timer = this.#deps.clock.every(everyMs, () => this.#look());
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #look(): void {
    const found = this.#deps.addresses();
    if (found === undefined) return;
    const [before, now] = [this.#known, textOf(found)];
    this.#known = now;
    if (before !== undefined && before !== now) this.#deps.onChange(new Set(found));
  }
}

function textOf(addresses: readonly string[]): string {
  return addresses.toSorted((a, b) => a.localeCompare(b)).join(' ');
}

/** Undefined if the system does not tell, as in some sandboxes, or while no descriptor is free (EMFILE): that is no change of the network. */
export function systemAddresses(read: typeof networkInterfaces = networkInterfaces): string[] | undefined {
  try {
    return Object.values(read()).flatMap((all) => (all ?? []).map(({ address }) => address));
  } catch {
    return;
  }
}
