/** Refuses NaN and infinities in requests: JSON has neither, and what a motor does at NaN rpm is undefined. */
import { type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf';
import { invalidArgument } from '@platform/base/portable';
import { fieldOf } from './name-field.ts';

/** Free-form JSON, such as `extra`: its contents are up to the user. */
const free = /^google\.protobuf\.(Struct|Value|ListValue)$/;

const fields = new Map<DescMessage, readonly DescField[]>();

/** The fields of a type that hold floating-point numbers, or messages that do. */
export function numberFieldsOf(type: DescMessage): readonly DescField[] {
  let found = fields.get(type);
  if (found === undefined) {
    found = type.fields.filter((field) => holdsNumbers(field, new Set()));
    fields.set(type, found);
  }
  return found;
}

function holdsNumbers(field: DescField, seen: Set<DescMessage>): boolean {
  const { scalar, message } = field;
  if (scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT) return true;
  if (message === undefined || free.test(message.typeName) || seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((each) => holdsNumbers(each, seen));
}

/** @throws invalid_argument with the path of the first number that is not finite, such as `linear.x` or `positions[1].values[0]` */
export function requireFinite(type: DescMessage, message: Message): void {
  const fault = faultIn(type, message, '');
  if (fault !== undefined) throw invalidArgument(fault);
}

function faultIn(type: DescMessage, message: object, path: string): string | undefined {
  for (const field of numberFieldsOf(type)) {
    const at = `${path}${field.name}`;
    const value = fieldOf(message, field);
    if (value === undefined) continue;
    const fault =
      field.fieldKind === 'list'
        ? firstOf((value as readonly unknown[]).entries(), (index, each) => faultOf(field, each, `${at}[${index}]`))
        : field.fieldKind === 'map'
          ? firstOf(Object.entries(value as object), (key, each) => faultOf(field, each, `${at}.${key}`))
          : faultOf(field, value, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function firstOf<K>(
  entries: Iterable<[K, unknown]>,
  find: (key: K, value: unknown) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const found = find(key, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function faultOf({ message }: DescField, value: unknown, at: string): string | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : `${at}: expected a finite number, found ${value}`;
  return message === undefined ? undefined : faultIn(message, value as object, `${at}.`);
}
