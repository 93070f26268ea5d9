/** Conditions of readings as rows of a form: one level of *all of* or *any of*. Writing back what was read changes nothing. */
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { objectOf } from '../api/object-of.ts';

export const operators = [
  { operator: 'gt', words: 'is above' },
  { operator: 'gte', words: 'is at least' },
  { operator: 'lt', words: 'is below' },
  { operator: 'lte', words: 'is at most' },
  { operator: 'eq', words: 'equals' },
  { operator: 'neq', words: 'differs from' },
  { operator: 'regex', words: 'matches' },
] as const;

export interface Condition {
  /** With dots. */
  readonly field: string;
  readonly operator: string;
  /** As typed; text that looks like a number or a boolean becomes one. */
  readonly value: string;
}

export interface Conditions {
  /** Whether all items must hold, or one of them. */
  readonly join: 'all' | 'any';
  readonly items: readonly Condition[];
}

export const noConditions: Conditions = { join: 'all', items: [] };
export const blankCondition: Condition = { field: '', operator: 'gt', value: '' };
export const isBlank = ({ field, value }: Condition): boolean => field === '' && value === '';

const keys = ['evals', 'all', 'any'] as const;
const keysOf = (object: JsonObject) => keys.filter((key) => object[key] !== undefined && object[key] !== null);

/** @param json `conditions` or `clear` @returns undefined if the form cannot express them: they are nested, or a value is an object */
export function conditionsOf(json: JsonValue | undefined): Conditions | undefined {
  if (json === undefined || json === null) return noConditions;
  if (typeof json !== 'object' || Array.isArray(json)) return undefined;
  const [key = 'evals', ...others] = keysOf(json);
  const given = json[key] ?? [];
  if (others.length > 0 || !Array.isArray(given)) return undefined;
  const items = given.map(conditionOf);
  if (!items.every((one) => one !== undefined)) return undefined;
  return items.length === 0 ? noConditions : { join: key === 'any' ? 'any' : 'all', items };
}

/** The JSON of conditions; what is unchanged, and keys that the form does not know, stay as they are. @param before what was read */
export function conditionsJson(next: Conditions, before: JsonValue | undefined): JsonValue {
  if (before !== undefined && isSame(conditionsOf(before), next)) return before;
  const old = objectOf(before);
  const { evals: _, all: __, any: ___, ...rest } = old;
  const [oldKey = 'evals'] = keysOf(old);
  const given = old[oldKey];
  const oldItems: readonly JsonValue[] = Array.isArray(given) ? given : [];
  const items = next.items.map((item, index) => {
    const unchanged = oldItems.find((one) => isSame(conditionOf(one), item));
    const edited = next.items.length === oldItems.length ? objectOf(oldItems[index]) : {};
    return unchanged ?? { ...edited, operator: item.operator, value: nested(item) };
  });
  const allKey = oldKey === 'any' ? 'evals' : oldKey;
  // The cloud refuses an empty `any`.
  return { ...rest, [next.join === 'any' && items.length > 0 ? 'any' : allKey]: items };
}

/** Such as `heat.upper is above 180 and state equals open`. */
export function conditionsInWords({ join, items }: Conditions): string {
  return items
    .map(({ field, operator, value }) => {
      const words = operators.find((one) => one.operator === operator)?.words ?? operator;
      return `${field || '…'} ${words} ${value || '…'}`;
    })
    .join(join === 'any' ? ' or ' : ' and ');
}

/** Whether two parts of a sentence, or of a trigger, are equal. */
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function conditionOf(json: JsonValue): Condition | undefined {
  const { operator, value } = objectOf(json);
  const known = operators.find((one) => one.operator === operator)?.operator;
  const leaf = known && leafOf(value, known);
  return leaf && { field: leaf.field, operator: known, value: leaf.value };
}

/** The path of a nested object with one key at each level, and the value at its end. */
function leafOf(
  value: JsonValue | undefined,
  operator: string,
): { readonly field: string; readonly value: string } | undefined {
  const path: string[] = [];
  let inner: JsonValue | undefined = value;
  while (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    const [entry, ...others] = Object.entries<JsonValue>(inner);
    if (entry === undefined || others.length > 0) return undefined;
    path.push(entry[0]);
    inner = entry[1];
  }
  const isPlain = typeof inner === 'string' || typeof inner === 'number' || typeof inner === 'boolean';
  // A text that looks like a number would become one.
  if (!isPlain || (typeof inner === 'string' && typedOf(inner, operator) !== inner)) return undefined;
  return { field: path.join('.'), value: String(inner) };
}

function nested({ field, operator, value }: Condition): JsonValue {
  const path = field.split('.');
  return path.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), typedOf(value, operator));
}

function typedOf(text: string, operator: string): string | number | boolean {
  if (operator === 'regex') return text;
  if (text === 'true' || text === 'false') return text === 'true';
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
