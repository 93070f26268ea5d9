/** Maps that fill themselves. */

interface Lookup<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** The value of the key, computed and stored if there is none; like `Map.prototype.getOrInsertComputed` of later Node versions. */
export function getOrInsert<Key, Value>(map: Lookup<Key, Value>, key: Key, compute: (key: Key) => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = compute(key);
  map.set(key, value);
  return value;
}

/** Computes the value of each object once, and keeps it as long as the object. An undefined value is computed again. */
export function memoized<Key extends WeakKey, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>();
  return (key) => getOrInsert(known, key, compute);
}
