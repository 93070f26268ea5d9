/** The `event.conditional` of a trigger: which component and method, and the conditions on its readings (D18, D20). */
import { compileCondition, isCapturedBy, type JsonObject } from '@platform/conditions';
import { isObject, shown } from './json.ts';
import type { Problems } from './problems.ts';
import type { TriggerEventRule } from './trigger.ts';

export function parseConditional(
  value: unknown,
  components: readonly string[],
  path: string,
  problems: Problems,
): TriggerEventRule | undefined {
  const condition = compileCondition(value);
  for (const problem of condition.problems) {
    const at = problem.path === '' ? path : `${path}.${problem.path}`;
    if (problem.level === 'error') problems.error(at, problem.message);
    else problems.warn(at, problem.message);
  }
  const method = condition.captureMethod;
  if (method === undefined) return undefined;
  if (!components.includes(method.componentName)) {
    problems.warn(
      `${path}.data_capture_method`,
      `expected the name of a component or service, found ${shown(method.componentName)}; if a fragment or module brings it, the trigger works once it is there`,
    );
  }
  return {
    type: 'conditional_data_ingested',
    isFrom: (source) => isCapturedBy(method, source),
    ...(hasEvals(value) && {
      condition: { meets: (document: Readonly<Record<string, unknown>>) => condition.matches(document as JsonObject) },
    }),
    configured: value,
  };
}

/** Without any eval every upload fires, binary ones too (D20). */
function hasEvals(value: unknown): boolean {
  if (!isObject(value)) return false;
  const conditions = value['conditions'] ?? value['condition'];
  const evals = isObject(conditions) ? conditions['evals'] : undefined;
  return Array.isArray(evals) && evals.length > 0;
}
