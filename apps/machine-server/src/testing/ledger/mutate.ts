/** Ways to damage a file. The same numbers give the same damage. */

export interface Mutation {
  readonly kind: (typeof kinds)[number];
  /** The position of the first changed byte. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

const kinds = ['flip', 'zero', 'noise', 'truncate', 'remove', 'insert', 'repeat', 'swap'] as const;

/** @param random uniform in [0, 1) */
export function mutate(original: Uint8Array, random: () => number): Mutation {
  const below = (most: number): number => Math.floor(random() * most);
  const kind = kinds[below(kinds.length)] ?? 'flip';
  const at = below(original.length);
  const length = 1 + below(Math.min(random() < 0.5 ? 8 : 400, original.length - at));
  const [before, part, after] = [
    original.subarray(0, at),
    original.slice(at, at + length),
    original.subarray(at + length),
  ];
  const to = at + length + below(after.length + 1);
  const changed = { kind, at };
  switch (kind) {
    case 'flip': {
      const bytes = original.slice();
      bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8));
      return { ...changed, bytes };
    }
    case 'zero':
      return { ...changed, bytes: Buffer.concat([before, part.fill(0), after]) };
    case 'noise':
      return { ...changed, bytes: Buffer.concat([before, part.map(() => below(256)), after]) };
    case 'truncate':
      return { ...changed, bytes: before };
    case 'remove':
      return { ...changed, bytes: Buffer.concat([before, after]) };
    case 'insert':
      return { ...changed, bytes: Buffer.concat([before, part.map(() => below(256)), original.subarray(at)]) };
    case 'repeat':
      return { ...changed, bytes: Buffer.concat([original.subarray(0, to), part, original.subarray(to)]) };
    case 'swap':
      return {
        ...changed,
        bytes: Buffer.concat([before, original.subarray(at + length, to), part, original.subarray(to)]),
      };
  }
}
