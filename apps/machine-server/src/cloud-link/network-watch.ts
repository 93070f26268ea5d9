/** Notices when this computer gets or loses a network address: a cable, a modem, a roaming radio, a VPN. */
import { networkInterfaces } from 'node:os';
import type { Clock } from '@platform/base';

const everyMs = 1_000;

export interface NetworkWatchDeps {
  /** Addresses of this computer. */
  readonly addresses: () => readonly string[];
  /** Called with the addresses after each change. */
  readonly onChange: (addresses: ReadonlySet<string>) => void;
  readonly clock: Clock;
}

export class NetworkWatch implements Disposable {
  readonly #deps: NetworkWatchDeps;
  #known = '';
  #timer: Disposable | undefined;

  constructor(deps: NetworkWatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { addresses, clock } = this.#deps;
    this.#known = textOf(addresses());
    this.#timer = clock.every(everyMs, () => this.#look());
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #look(): void {
    const found = this.#deps.addresses();
    const text = textOf(found);
    if (text === this.#known) return;
    this.#known = text;
    this.#deps.onChange(new Set(found));
  }
}

function textOf(addresses: readonly string[]): string {
  return addresses.toSorted((a, b) => a.localeCompare(b)).join(' ');
}

/** Nothing if the system does not tell, as in some sandboxes. */
export function systemAddresses(): string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  } catch {
    return [];
  }
}
