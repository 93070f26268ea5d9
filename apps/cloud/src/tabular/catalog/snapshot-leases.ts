/** Tracks the sealed positions at which open snapshots began. Hot rows after the least of them may still be read (I7). */

export interface SnapshotLease {
  readonly position: number;
  release(): void;
}

export interface SnapshotLeases {
  /** Must be called before opening the snapshot, with the S known then; the snapshot's own S is never less. */
  hold(position: number): SnapshotLease;
  /** Position up to which hot rows may be dropped when `sealed` is S. */
  least(sealed: number): number;
  /** Resolves when every snapshot that is open now is released. */
  drained(): Promise<void>;
}

export function createSnapshotLeases(): SnapshotLeases {
  const held = new Set<SnapshotLease>();
  const released = new Map<SnapshotLease, PromiseWithResolvers<void>>();
  return {
    hold(position) {
      const lease = {
        position,
        release() {
          held.delete(lease);
          released.get(lease)?.resolve();
          released.delete(lease);
        },
      };
      held.add(lease);
      released.set(lease, Promise.withResolvers<void>());
      return lease;
    },
    least: (sealed) => [...held].reduce((least, { position }) => Math.min(least, position), sealed),
    async drained() {
      await Promise.all([...released.values()].map(({ promise }) => promise));
    },
  };
}
