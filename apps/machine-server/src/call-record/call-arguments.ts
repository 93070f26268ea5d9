/**
 * The arguments of a call for the audit trail: the fields of its request in JSON, as in the .proto file. However large the request is, only
 * about a kilobyte of it is looked at. Bytes are omitted; what else is left out is `…`.
 */
import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import { fieldOf } from '@platform/resources';

const maxCharacters = 1_024;
const maxLevels = 16;
const omitted = '…';
/** Free-form JSON, such as `extra`; a field of type Struct holds it without a message around it. */
const struct = 'google.protobuf.Struct';

interface Budget {
  left: number;
}

/** @returns JSON of at most some kilobytes */
export function argumentsOf(type: DescMessage, message: Message): string {
  return JSON.stringify(fieldsOf(type, message, { left: maxCharacters }, 0));
}

function fieldsOf(type: DescMessage, message: object, budget: Budget, level: number): unknown {
  if (level > maxLevels) return omitted;
  const json: Record<string, unknown> = {};
  for (const field of type.fields) {
    const value = fieldOf(message, field);
    if (value === undefined || value === '' || value instanceof Uint8Array || isEmpty(value)) continue;
    if (!take(budget, field.name.length)) {
      json[omitted] = omitted;
      break;
    }
    json[field.name] = contentOf(field, value, budget, level + 1);
  }
  return json;
}

function contentOf(field: DescField, value: unknown, budget: Budget, level: number): unknown {
  if (field.fieldKind === 'list')
    return eachOf(value as readonly unknown[], budget, (each) => oneOf(field, each, budget, level));
  if (field.fieldKind === 'map') return entriesOf(value as object, budget, (each) => oneOf(field, each, budget, level));
  return oneOf(field, value, budget, level);
}

/** A field, or an item of one that is repeated. */
function oneOf(field: DescField, value: unknown, budget: Budget, level: number): unknown {
  const { message, enum: type } = field;
  if (type !== undefined) return freeOf(type.value[Number(value)]?.name ?? value, budget, level);
  if (message === undefined || message.typeName === struct) return freeOf(value, budget, level);
  return typeof value === 'object' && value !== null
    ? fieldsOf(message, value, budget, level)
    : freeOf(value, budget, level);
}

function freeOf(value: unknown, budget: Budget, level: number): unknown {
  if (typeof value === 'string') {
    const cut = value.length > budget.left ? `${value.slice(0, budget.left)}${omitted}` : value;
    budget.left -= cut.length;
    return cut.toWellFormed();
  }
  budget.left -= 4;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array || level > maxLevels) return omitted;
  const free = (each: unknown): unknown => freeOf(each, budget, level + 1);
  return Array.isArray(value) ? eachOf(value, budget, free) : entriesOf(value, budget, free);
}

function eachOf(values: readonly unknown[], budget: Budget, json: (value: unknown) => unknown): unknown[] {
  const items: unknown[] = [];
  for (const value of values) {
    if (!take(budget, 1)) {
      items.push(omitted);
      break;
    }
    items.push(json(value));
  }
  return items;
}

function entriesOf(values: object, budget: Budget, json: (value: unknown) => unknown): object {
  const items: [string, unknown][] = [];
  for (const key in values) {
    if (key === '$typeName') continue;
    if (!take(budget, key.length)) {
      items.push([omitted, omitted]);
      break;
    }
    items.push([key.toWellFormed(), json((values as Readonly<Record<string, unknown>>)[key])]);
  }
  return Object.fromEntries(items);
}

function take(budget: Budget, characters: number): boolean {
  if (budget.left < characters) return false;
  budget.left -= characters;
  return true;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
