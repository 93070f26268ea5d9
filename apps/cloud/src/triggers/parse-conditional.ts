/** The `event.conditional` of a trigger: which component and method, and the conditions on its readings (D18, D20). */
import { isObject, requiredText, shown, warnUnknown } from './json.ts';
import type { Problems } from './problem.ts';
import type { TriggerEventRule, UploadSource } from './trigger.ts';

export function parseConditional(
  value: unknown,
  components: readonly string[],
  path: string,
  problems: Problems,
): TriggerEventRule | undefined {
  if (!isObject(value))
    return problems.error(path, `expected an object with data_capture_method, found ${shown(value)}`);
  warnUnknown(value, ['data_capture_method', 'conditions', 'condition'], path, problems);
  const text = requiredText(value, 'data_capture_method', path, problems);
  if (text === undefined) return undefined;
  const parts = text.split(':');
  const [method = '', name = '', type = '', ...prefix] = parts.reverse();
  if (method === '' || name === '' || type === '' || (prefix.length !== 0 && prefix.length !== 2)) {
    return problems.error(
      `${path}.data_capture_method`,
      `expected <component>:<component_name>:<method> such as sensor:my-sensor:Readings, found ${shown(text)}`,
    );
  }
  if (!components.includes(name))
    problems.warn(
      `${path}.data_capture_method`,
      `no component or service is named ${shown(name)}; if a fragment or module brings it, the trigger works once it is there`,
    );
  return {
    type: 'conditional_data_ingested',
    isFrom: (source: UploadSource) => source.componentName === name,
    configured: value,
  };
}
