/** Counts and streams ticks of digital interrupts. */
import type { Clock } from '@platform/base';
import { createFeed, type Feed } from '../../fake/feed.ts';

export interface Tick {
  readonly pinName: string;
  /** Nanoseconds on a monotonic clock. */
  readonly time: bigint;
  readonly high: boolean;
}

export interface Ticks extends Pick<Feed<Tick>, 'follow' | 'end'> {
  /** @param time default: now */
  add(pinName: string, high: boolean, time?: bigint): void;
  /** Counts ticks without any details. */
  miss(pinName: string, ticks: number): void;
  /** Ticks since the start. */
  count(pinName: string): bigint;
}

export function createTicks(clock: Clock): Ticks {
  const counts = new Map<string, bigint>();
  const { add, follow, end } = createFeed<Tick>();
  const count = (name: string): bigint => counts.get(name) ?? 0n;
  return {
    add(pinName, high, time = BigInt(Math.round(clock.monotonic() * 1e6))) {
      counts.set(pinName, count(pinName) + 1n);
      add({ pinName, time, high });
    },
    miss(pinName, ticks) {
      if (ticks > 0) counts.set(pinName, count(pinName) + BigInt(ticks));
    },
    ...{ count, follow, end },
  };
}
