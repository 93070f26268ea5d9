/**
 * Resolves the fragments that a configuration imports: variables, overrides, prefixes, nesting. Pure: no database, no clock; the caller's
 * `lookup` decides what may be used. The format and its rules: docs/specs/fragments.md.
 *
 * Values in the document itself win over imported ones; of two imports the later one wins. Own entries keep their positions, so that paths
 * of problems in the result are those of the saved document; imported entries follow them.
 */
import { Budget, type FragmentLimits, TooLarge } from './fragments/budget.ts';
import { readImports } from './fragments/imports.ts';
import { emptyLayer, layerOf, overlay, writeLayer } from './fragments/layer.ts';
import { readMods, type Scope } from './fragments/mods.ts';
import { importAll } from './fragments/resolve.ts';
import type { FragmentOrigin, FragmentProblem, Lookup, UsedFragment } from './fragments/types.ts';
import type { JsonObject } from './schema.ts';

export { defaultFragmentLimits, type FragmentLimits } from './fragments/budget.ts';
export { type FragmentImport, readImports } from './fragments/imports.ts';
export type {
  FoundFragment,
  FragmentFault,
  FragmentOrigin,
  FragmentProblem,
  Lookup,
  UsedFragment,
} from './fragments/types.ts';
export { isObject } from './is-object.ts';

export interface ResolvedDocument {
  /** The effective document; the same object if nothing was imported. */
  readonly document: JsonObject;
  /** Paths are those of the given document; for a problem inside a fragment, the message states the position. */
  readonly problems: readonly FragmentProblem[];
  /** Every import that was encountered, in order, each once; `revision` is absent for those that could not be resolved. */
  readonly used: readonly UsedFragment[];
  /** Path in the effective document (`components[3]`, `network`) → the fragment that it came from. */
  readonly origins: ReadonlyMap<string, FragmentOrigin>;
}

/**
 * @param document decoded JSON of any shape. Never throws for any content. @param lookup returns a fragment's configuration; it must not
 * distinguish unknown from forbidden ids.
 */
export function resolveFragments(
  document: JsonObject,
  lookup: Lookup,
  limits?: Partial<FragmentLimits>,
): ResolvedDocument {
  const problems: FragmentProblem[] = [];
  const { imports, problems: faults } = readImports(document);
  const { mods, problems: modFaults } = readMods(document);
  if (imports.length === 0) {
    const idle = mods.map(({ path, fragmentId }) => unusedMods(path, fragmentId));
    return { document, problems: [...faults, ...modFaults, ...idle], used: [], origins: new Map() };
  }
  for (const fault of [...faults, ...modFaults]) problems.push(fault);
  const used = new Map<string, UsedFragment>();
  const scope: Scope = { mods, applied: new Set() };
  const budget = new Budget(limits);
  let imported = emptyLayer();
  try {
    imported = importAll(imports, { lookup, budget, used, problems, scopes: [scope], above: [], at: undefined });
  } catch (caught) {
    if (!(caught instanceof TooLarge)) throw caught;
    problems.push({ path: 'fragments', level: 'error', message: caught.message });
  }
  for (const each of mods) if (!scope.applied.has(each)) problems.push(unusedMods(each.path, each.fragmentId));
  const result = overlay(imported, layerOf(document, undefined), (message) =>
    problems.push({ path: 'fragments', level: 'warning', message }),
  );
  return { ...writeLayer(result), problems, used: [...used.values()] };
}

function unusedMods(path: string, fragmentId: string): FragmentProblem {
  const message = `expected the id of a fragment that is imported here, found "${fragmentId.slice(0, 64)}": it has no effect`;
  return { path: `${path}.fragment_id`, level: 'warning', message };
}
