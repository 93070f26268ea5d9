/** The `event` of a trigger (D18). */
import { isObject, type JsonObject, namesOf, shown, warnUnknown } from './json.ts';
import { parseConditional } from './parse-conditional.ts';
import type { Problems } from './problems.ts';
import type { TriggerEventRule } from './trigger.ts';

const types = [
  'part_data_ingested',
  'conditional_data_ingested',
  'part_online',
  'part_offline',
  'conditional_logs_ingested',
] as const;
const dataTypes = ['binary', 'tabular', 'file', 'unspecified'] as const;
const logLevels = ['error', 'warn', 'info'] as const;

export function parseEvent(
  value: unknown,
  components: readonly string[],
  path: string,
  problems: Problems,
): TriggerEventRule | undefined {
  if (!isObject(value)) return problems.error(path, `expected an object with type, found ${shown(value)}`);
  const type = types.find((one) => one === value['type']);
  if (type === undefined) {
    return problems.error(`${path}.type`, `expected one of ${types.join(', ')}, found ${shown(value['type'])}`);
  }
  warnUnknown(value, ['type', 'data_ingested', 'data_types', 'conditional', 'log_levels'], path, problems);
  if (type === 'part_data_ingested') return parseDataIngested(value, path, problems);
  if (type === 'conditional_data_ingested')
    return parseConditional(value['conditional'], components, `${path}.conditional`, problems);
  if (type !== 'conditional_logs_ingested') return { type };
  problems.warn(path, `${type} triggers do not fire yet in this version; the others do`);
  const levels = namesOf(value['log_levels'], logLevels, `${path}.log_levels`, problems);
  return levels && { type, logLevels: levels };
}

/** `data_ingested.data_types` as in the template, or `data_types` as in the attribute table. */
function parseDataIngested(event: JsonObject, path: string, problems: Problems): TriggerEventRule | undefined {
  const { data_ingested: nested, data_types: direct } = event;
  let given = direct;
  let at = `${path}.data_types`;
  if (nested !== undefined) {
    if (!isObject(nested))
      return problems.error(`${path}.data_ingested`, `expected an object with data_types, found ${shown(nested)}`);
    warnUnknown(nested, ['data_types'], `${path}.data_ingested`, problems);
    if (direct !== undefined) problems.warn(at, 'ignored, because data_ingested.data_types is given as well');
    given = nested['data_types'];
    at = `${path}.data_ingested.data_types`;
  }
  const names = namesOf(given, dataTypes, at, problems);
  return names && { type: 'part_data_ingested', dataTypes: names };
}
