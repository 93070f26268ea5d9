/** Caches the result of `make` for the current value, and calls it again when the value changes. */
export function memoizeLast<T, U>(value: () => T, make: (value: T) => U): () => U {
  let last: { readonly of: T; readonly made: U } | undefined;
  return () => {
    const now = value();
    if (last === undefined || last.of !== now) last = { of: now, made: make(now) };
    return last.made;
  };
}
