/**
 * Resolves the fragments that a configuration imports: variables, overrides, prefixes, nesting. Pure: no database, no
 * clock; whoever calls decides by `lookup` what may be used. The format and its rules: docs/specs/fragments.md.
 *
 * What is set in a document itself wins over what it imports; of two imports the later one wins. Own entries keep their
 * positions, so that paths of problems in the result are those of the saved document; imported entries follow them.
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
  /** The effective document; the very same object when nothing was imported. */
  readonly document: JsonObject;
  /** Paths are those of the document that was given; what stands inside a fragment is told in the message. */
  readonly problems: readonly FragmentProblem[];
  /** Every import that was met, in order, each once; `revision` is absent for those that could not be had. */
  readonly used: readonly UsedFragment[];
  /** Path in the effective document (`components[3]`, `network`) → the fragment that it came from. */
  readonly origins: ReadonlyMap<string, FragmentOrigin>;
}

/**
 * @param document decoded JSON of any shape. Never throws for anything in it.
 * @param lookup answers a fragment's configuration; it must answer alike for ids that are unknown and forbidden.
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
