/** One damage to what a cloud has on the disk, and how it is taken back. */
export interface Damage {
  readonly what: string;
  /** One of these texts is in what a query and the doctor say of it. */
  readonly names: readonly string[];
  undo(): Promise<void>;
}

export type Random = (from: number, to: number) => number;

export function oneOf<T>(list: readonly T[], random: Random): T {
  const found = list[Math.floor(random(0, list.length))];
  if (found === undefined) throw new Error('expected something to choose from, found nothing');
  return found;
}
