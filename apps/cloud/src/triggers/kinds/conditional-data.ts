/** `conditional_data_ingested`: uploads of one component and method with a reading that meets conditions (D18, D20, D21). */
import { compileCondition, isCapturedBy, type JsonObject as JsonDocument } from '@platform/conditions';
import { compileKeys } from '../../reading-codec/key-filter.ts';
import type { Document } from '../../reading-codec/read-document.ts';
import { isObject, type JsonObject, shown } from '../json.ts';
import type { Problems } from '../problems.ts';
import type { TriggerEventRule } from '../trigger.ts';
import { dataOf, documentOf, findReading, isEmpty } from '../upload-data.ts';
import type { TriggerKind } from './kind.ts';

const type = 'conditional_data_ingested';

export const conditionalData: TriggerKind = { type, keys: ['conditional'], parse };

function parse(
  { conditional: value }: JsonObject,
  components: readonly string[],
  eventPath: string,
  problems: Problems,
): TriggerEventRule | undefined {
  const path = `${eventPath}.conditional`;
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
      `expected the name of a component or service, found ${shown(method.componentName)}; if it comes from a fragment or module, the trigger works once it exists`,
    );
  }
  const meets = (document: Document): boolean => condition.matches(document as JsonDocument);
  const keys = condition.keys && compileKeys(condition.keys);
  const isConditional = hasEvals(value);
  return {
    type,
    ofUpload(upload, place) {
      const { componentType, componentName, methodName } = upload.metadata;
      if (!isCapturedBy(method, { componentType, componentName, methodName }) || isEmpty(upload)) return undefined;
      const found = isConditional ? findReading(upload, meets, keys) : documentOf(upload, 0);
      if (isConditional && found === undefined) return undefined;
      return { type, place, data: dataOf(upload, found), condition: value };
    },
  };
}

/** Without any eval every upload fires, including binary ones (D20). */
function hasEvals(value: unknown): boolean {
  if (!isObject(value)) return false;
  const conditions = value['conditions'] ?? value['condition'];
  const evals = isObject(conditions) ? conditions['evals'] : undefined;
  return Array.isArray(evals) && evals.length > 0;
}
