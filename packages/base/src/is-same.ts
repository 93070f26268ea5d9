/**
 * Whether two values are the same: objects and messages by their fields, in any order, unknown ones included; bytes by their content. A field
 * that is undefined is the same as none. Allocates nothing: the texts of a long configuration take long to make.
 */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (a instanceof Uint8Array || b instanceof Uint8Array)
    return a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  // Messages inherit the defaults of their absent fields.
  const [first, second] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  for (const key in first) if (!isSame(first[key], second[key])) return false;
  for (const key in second) if (second[key] !== undefined && first[key] === undefined) return false;
  return true;
}
