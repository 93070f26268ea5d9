/** Finds attributes that do not match their schema, with the messages of the machine-server. Pure. */
import type { AttributeSchema, Json, JsonObject } from '@platform/machine-config/schema';
import { isObject } from './document.ts';

export interface Misfit {
  readonly path: string;
  readonly message: string;
}

/** Checks all attributes. Skips strings with `${…}`: the machine fills them in. @param path of the attributes */
export function misfitsOf(schema: AttributeSchema, value: JsonObject, path: string): readonly Misfit[] {
  const { properties = {}, required = [] } = schema;
  const missing = required
    .filter((name) => value[name] === undefined || value[name] === '')
    .map((name) => ({ path: `${path}.${name}`, message: 'is required' }));
  const wrong = Object.entries(properties).flatMap(([name, of]) => {
    const given = value[name];
    if (given === undefined || given === null) return [];
    const at = `${path}.${name}`;
    if (of.properties && isObject(given)) return misfitsOf(of, given, at);
    const expected = expectedOf(of, given);
    return expected === undefined
      ? []
      : [{ path: at, message: `expected ${expected}, found ${JSON.stringify(given)}` }];
  });
  return [...missing, ...wrong];
}

function expectedOf(schema: AttributeSchema, value: Json): string | undefined {
  const { type, enum: choices, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (
    type === undefined ||
    (typeof value === 'string' && value.includes('${')) ||
    (isObject(value) && '$variable' in value)
  )
    return undefined;
  if (choices !== undefined && !choices.includes(value as string))
    return choices.map((one) => JSON.stringify(one)).join(' or ');
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'string':
      return typeof value === 'string' ? undefined : 'a text';
    case 'array':
      return Array.isArray(value) ? undefined : 'a list';
    case 'object':
      return isObject(value) ? undefined : 'an object';
    default: {
      const isNumber = typeof value === 'number' && (type === 'number' || Number.isInteger(value));
      if (isNumber && value >= minimum && value <= maximum) return undefined;
      const number = type === 'integer' ? 'a whole number' : 'a number';
      if (Number.isFinite(maximum)) return `${number} from ${minimum} to ${maximum}`;
      return Number.isFinite(minimum) ? `${number} of at least ${minimum}` : number;
    }
  }
}
