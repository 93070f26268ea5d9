/** Follows imports, fragment by fragment; every fault is reported at the position in the document that led to it. */

import { addPrefix } from './add-prefix.ts';
import type { Budget } from './budget.ts';
import { type FragmentImport, readImports } from './imports.ts';
import { emptyLayer, type Layer, layerOf, overlay } from './layer.ts';
import { applyMod, readMods, type Scope } from './mods.ts';
import type { FragmentProblem, Lookup, UsedFragment } from './types.ts';
import { withVariables } from './variables.ts';

export interface Resolving {
  readonly lookup: Lookup;
  readonly budget: Budget;
  readonly used: Map<string, UsedFragment>;
  readonly problems: FragmentProblem[];
  /** Overrides that may apply to a fragment here: those of the importing document, then those above it; the last one wins. */
  readonly scopes: readonly Scope[];
  /** The fragments that contain this import, outermost first. */
  readonly above: readonly string[];
  /** The import of the document itself that led here. */
  readonly at: string | undefined;
}

/** The combined content of all imports of a document; of two entries with the same name, the later wins. @throws TooLarge */
export function importAll(imports: readonly FragmentImport[], state: Resolving): Layer {
  let all = emptyLayer();
  for (const each of imports) {
    const path = state.at ?? each.path;
    const layer = importOne(each, state);
    if (layer === undefined) continue;
    all = overlay(all, layer, (message) => state.problems.push({ path, level: 'warning', message }));
  }
  return all;
}

function importOne(asked: FragmentImport, state: Resolving): Layer | undefined {
  const { lookup, budget, used, problems, above } = state;
  const { fragmentId, version } = asked;
  const nested = state.at !== undefined;
  const path = state.at ?? asked.path;
  const tell = (problem: Omit<FragmentProblem, 'path'>, below = ''): void => {
    // A position inside a fragment has no path in the document, but its import has.
    const where = nested ? `in fragment ${above.at(-1)}, at ${asked.path}${below}: ` : '';
    const found = { fragmentId, ...problem, path: nested ? path : `${path}${below}` };
    problems.push({ ...found, message: `${where}${problem.message}` });
  };
  const use = (revision?: string): void => {
    const key = `${fragmentId} ${version}`;
    const direct = !nested || used.get(key)?.direct === true;
    used.set(key, { fragmentId, version, direct, ...(revision === undefined ? {} : { revision }) });
  };

  if (above.includes(fragmentId)) {
    const way = [...above.slice(above.indexOf(fragmentId)), fragmentId].join(' → ');
    return void tell({ level: 'error', fault: 'cycle', message: `expected no cycle, found ${way}` });
  }
  if (above.length >= budget.maxNesting) {
    const message = `expected at most ${budget.maxNesting} levels of nested fragments, found more`;
    return void tell({ level: 'error', fault: 'nesting_limit', message });
  }
  budget.takeImport();
  const found = lookup(fragmentId, version);
  if (found === 'unknown') {
    use();
    const message = `expected the id of a fragment that may be used here, found "${fragmentId.slice(0, 64)}"`;
    return void tell({ level: 'error', fault: 'no_access', message });
  }
  if (found === 'unknown_version') {
    use();
    const message = `expected a revision or a tag of fragment ${fragmentId}, found "${version.slice(0, 64)}"`;
    return void tell({ level: 'error', message }, '.version');
  }
  const { revision, config, notice } = found;
  use(revision);
  if (notice !== undefined) tell({ level: 'warning', fault: 'no_access', message: notice });

  const filled = withVariables(config, asked.variables, budget);
  for (const { level, name, at, message, missing } of filled.problems) {
    const where = at === undefined ? {} : { at };
    const text = at === undefined ? message : `${message} (at ${at} of fragment ${fragmentId})`;
    const fault = missing ? { fault: 'no_value' as const } : {};
    tell({ level, message: text, ...where, ...fault }, name === '' ? '' : `.variables.${name}`);
  }
  const inner = readImports(filled.config);
  const mods = readMods(filled.config);
  for (const { level, path: at, message, fault } of [...inner.problems, ...mods.problems])
    tell({ level, message: `in fragment ${fragmentId}, at ${at}: ${message}`, ...(fault ? { fault } : {}) });
  const brought = importAll(inner.imports, {
    ...state,
    above: [...above, fragmentId],
    at: path,
    scopes: [{ mods: mods.mods, applied: new Set() }, ...state.scopes],
  });
  const origin = { fragmentId, revision, viaFragmentId: above[0] ?? fragmentId };
  let layer = overlay(brought, layerOf(filled.config, origin), (message) => tell({ level: 'warning', message }));
  for (const [distance, scope] of state.scopes.entries()) {
    const ofDocument = distance === state.scopes.length - 1;
    for (const each of scope.mods) {
      if (each.fragmentId !== fragmentId) continue;
      scope.applied.add(each);
      const changed = applyMod(layer, each, asked.prefix, budget);
      if ('lists' in changed) layer = changed;
      else if (ofDocument) problems.push(changed);
      else tell({ level: 'error', message: `${changed.path}: ${changed.message}` });
    }
  }
  return asked.prefix === '' ? layer : addPrefix(layer, asked.prefix, budget);
}
