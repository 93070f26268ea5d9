/** One damage to a cloud's data on the disk, and how to undo it. */
export interface Damage {
  readonly what: string;
  /** A query's error and the doctor's finding contain one of these texts. */
  readonly names: readonly string[];
  /** Queries of all files may be answered, because they do not use what is damaged. */
  readonly sparesWhole?: boolean;
  undo(): Promise<void>;
}

export type Random = (from: number, to: number) => number;

export function oneOf<T>(list: readonly T[], random: Random): T {
  const found = list[Math.floor(random(0, list.length))];
  if (found === undefined) throw new Error('expected something to choose from, found nothing');
  return found;
}
