/** Which sealed positions open snapshots began at: hot rows after the least of them may still be read (I7). */

export interface Pin {
  readonly position: number;
  release(): void;
}

export interface Pins {
  /** Taken before the snapshot is opened, with the S known then: the snapshot's own is never less. */
  hold(position: number): Pin;
  /** Up to where hot rows may be dropped when `sealed` is S. */
  least(sealed: number): number;
  /** Resolves when every snapshot that is open now is released. */
  drained(): Promise<void>;
}

export function createPins(): Pins {
  const held = new Set<Pin>();
  const released = new Map<Pin, PromiseWithResolvers<void>>();
  return {
    hold(position) {
      const pin = {
        position,
        release() {
          held.delete(pin);
          released.get(pin)?.resolve();
          released.delete(pin);
        },
      };
      held.add(pin);
      released.set(pin, Promise.withResolvers<void>());
      return pin;
    },
    least: (sealed) => [...held].reduce((least, { position }) => Math.min(least, position), sealed),
    async drained() {
      await Promise.all([...released.values()].map(({ promise }) => promise));
    },
  };
}
