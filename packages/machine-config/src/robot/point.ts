export interface Point {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** `{x, y, z}`, also in capital letters; missing coordinates are 0. Undefined if it is not an object of numbers. */
export function pointOf(value: unknown): Point | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const from = value as Readonly<Record<string, unknown>>;
  const [x, y, z] = ['x', 'y', 'z'].map((key) => from[key] ?? from[key.toUpperCase()] ?? 0);
  if (typeof x !== 'number' || typeof y !== 'number' || typeof z !== 'number') return undefined;
  return { x, y, z };
}
