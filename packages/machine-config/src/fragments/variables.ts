import { formatValue } from '../format-value.ts';
import { isObject } from '../is-object.ts';
import type { Json, JsonObject } from '../schema.ts';
import type { Budget } from './budget.ts';

export interface VariableProblem {
  readonly level: 'error' | 'warning';
  /** The variable that the importer gave or omitted. */
  readonly name: string;
  /** Where the variable occurs in the fragment; undefined if it does not occur. */
  readonly at: string | undefined;
  readonly message: string;
  /** No value was given, or null instead of one. */
  readonly missing: boolean;
}

const types: Readonly<Record<string, (value: Json) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: isObject,
};

/** A fragment's configuration with its `{"$variable": {…}}` objects replaced; one without a value stays and is reported. */
export function withVariables(
  config: JsonObject,
  given: JsonObject,
  budget: Budget,
): { config: JsonObject; problems: readonly VariableProblem[] } {
  const problems: VariableProblem[] = [];
  const met = new Set<string>();
  const replace = (object: JsonObject, at: string): Json | undefined => {
    const variable = object['$variable'];
    if (variable === undefined || Object.keys(object).length !== 1) return undefined;
    const fault = (name: string, message: string, missing = false): Json => {
      problems.push({ level: 'error', name, at, message, missing });
      return null;
    };
    if (!isObject(variable) || typeof variable['name'] !== 'string' || variable['name'] === '')
      return fault('', `expected {"$variable": {"name": "…"}}, found ${formatValue(object)}`);
    const { name, type = 'any' } = variable as { name: string; type?: Json };
    met.add(name);
    if (type !== 'any' && (typeof type !== 'string' || !Object.hasOwn(types, type)))
      return fault(name, `expected a type of ${Object.keys(types).join(', ')}, found ${formatValue(type)}`);
    const fits = (value: Json): boolean => type === 'any' || types[String(type)]?.(value) === true;
    if (Object.hasOwn(given, name)) {
      const value = given[name] as Json;
      return fits(value)
        ? budget.copy(value)
        : fault(name, `expected ${String(type)}, found ${formatValue(value)}`, value === null);
    }
    if (!Object.hasOwn(variable, 'default_value'))
      return fault(name, `expected a value for the variable "${name.slice(0, 64)}", found none`, true);
    const value = budget.copy(variable['default_value'] as Json, replace);
    return fits(value) ? value : fault(name, `expected a default of type ${String(type)}, found ${formatValue(value)}`);
  };
  const copied = budget.copy(config, replace);
  for (const name of Object.keys(given))
    if (!met.has(name))
      problems.push({
        level: 'warning',
        name,
        at: undefined,
        missing: false,
        message: 'expected a variable of the fragment, found one that it does not use',
      });
  return { config: isObject(copied) ? copied : {}, problems };
}
