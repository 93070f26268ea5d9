/** The place of an error in a query, from the cloud's message: `stage 2 ($group) at _id.x: …` or `line 3, column 7: …`. Pure. */
export type ErrorPlace =
  /** Position of the stage from 0, and the keys and positions below it. */
  | { readonly path: readonly (string | number)[] }
  /** From 1. */
  | { readonly line: number; readonly column: number };

/** Undefined: the message names none. */
export function errorPlaceOf(message: string): ErrorPlace | undefined {
  const [, line, column] = /\bline (\d+), column (\d+)/.exec(message) ?? [];
  if (line !== undefined) return { line: Number(line), column: Number(column) };
  const [, stage, name, below] = /\bstage (\d+)(?: \(([^)]+)\))?(?: at ([^\s:]+))?/.exec(message) ?? [];
  if (stage === undefined) return undefined;
  const steps = (below ?? '').split('.').filter((step) => step !== '');
  // The path may begin with the stage itself.
  const within = name !== undefined && steps[0] !== name ? [name, ...steps] : steps;
  return { path: [Number(stage), ...within.map((step) => (/^\d+$/.test(step) ? Number(step) : step))] };
}
