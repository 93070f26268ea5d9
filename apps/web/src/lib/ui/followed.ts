/** A value outside of components, which templates and effects follow when they read it. */
import { createSubscriber } from 'svelte/reactivity';

export interface Followed<T> {
  /** Whoever reads it in a template or an effect follows changes. */
  get(): T;
  /** Does nothing if it is the same value. */
  set(next: T): void;
}

/** @param read the first value; called when it is first read, unless one was set before */
export function followed<T>(read: () => T): Followed<T> {
  const readers = new Set<() => void>();
  const follow = createSubscriber((update) => {
    readers.add(update);
    return () => readers.delete(update);
  });
  let kept: { readonly value: T } | undefined;
  return {
    get() {
      follow();
      kept ??= { value: read() };
      return kept.value;
    },
    set(next) {
      if (kept !== undefined && kept.value === next) return;
      kept = { value: next };
      for (const update of readers) update();
    },
  };
}
