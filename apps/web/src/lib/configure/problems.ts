/** Which card a problem belongs to, by its path. Pure. */
export interface Located {
  /** Such as `components[0].attributes.max_rpm`. */
  readonly path: string;
}

/** A problem as the page shows it. */
export interface ShownProblem extends Located {
  /** `error` or `warning`. */
  readonly severity: string;
  readonly message: string;
}

/** The problems at the path or below it. */
export function problemsAt<T extends Located>(problems: readonly T[], path: string): readonly T[] {
  return problems.filter((one) => one.path.startsWith(path) && /^([.[]|$)/.test(one.path.slice(path.length)));
}

/** The steps of a path: `components[0].attributes["a b"]` → components, 0, attributes, a b. */
export function stepsOfPath(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g)].map(([, index, quoted, key]) =>
    index !== undefined ? Number(index) : quoted !== undefined ? quoted.replace(/\\(.)/g, '$1') : (key ?? ''),
  );
}
