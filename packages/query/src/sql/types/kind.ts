/** What is known about a value before any data is read: its types, the fields of a document, the items of an array. */
import { type TypeName, typeName } from '../../bson/type.ts';
import { BsonDocument, type Maybe } from '../../bson/value.ts';

export interface Kind {
  /** Absent: any type. */
  readonly types?: ReadonlySet<TypeName>;
  /** What is known about the fields of a document. */
  readonly fields?: ReadonlyMap<string, Kind>;
  /** The document may have more fields than `fields`. */
  readonly open?: boolean;
  readonly items?: Kind;
  /** Nothing at all is known about the table: any name is assumed to be in it. */
  readonly assumed?: boolean;
}

/** A schema in the form that collections use: the part of JSON Schema that names BSON types. */
export interface SqlSchema {
  readonly bsonType?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SqlSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: SqlSchema | readonly SqlSchema[];
  readonly anyOf?: readonly SqlSchema[];
}

export const anything: Kind = { open: true };
export const anyDocument: Kind = { types: new Set(['object']), open: true };
export const booleans: Kind = kindOf('bool', 'null');

export function kindOf(...types: TypeName[]): Kind {
  return { types: new Set(types) };
}

export function documentKind(fields: Iterable<readonly [string, Kind]>, open = false): Kind {
  return { types: new Set(['object']), fields: new Map(fields), open };
}

export const numbers: readonly TypeName[] = ['int', 'long', 'double', 'decimal'];
export const wholeNumbers: readonly TypeName[] = ['int', 'long'];
const nothing: readonly TypeName[] = ['null', 'missing', 'undefined'];

export function kindOfSchema(schema: SqlSchema): Kind {
  if (schema.anyOf !== undefined) return schema.anyOf.map(kindOfSchema).reduce(either);
  if (schema.bsonType === undefined) return schema.properties === undefined ? anything : documentOf(schema);
  const names = typeof schema.bsonType === 'string' ? [schema.bsonType] : schema.bsonType;
  const kinds = names.map((name): Kind => {
    if (name === 'object') return documentOf(schema);
    if (name !== 'array') return kindOf(name as TypeName);
    const items = schema.items === undefined || Array.isArray(schema.items) ? anything : (schema.items as SqlSchema);
    return { types: new Set(['array']), items: items === anything ? anything : kindOfSchema(items as SqlSchema) };
  });
  return kinds.reduce(either);
}

function documentOf(schema: SqlSchema): Kind {
  const required = new Set(schema.required);
  const properties = Object.entries(schema.properties ?? {});
  const fields = properties.map(([name, each]): [string, Kind] => {
    const kind = kindOfSchema(each);
    return [name, required.has(name) ? kind : maybeMissing(kind)];
  });
  // A required field without any other information still exists.
  for (const name of required) if (!fields.some(([known]) => known === name)) fields.push([name, anything]);
  return documentKind(fields, schema.additionalProperties !== false);
}

export function maybeMissing(kind: Kind): Kind {
  return kind.types === undefined ? kind : { ...kind, types: new Set([...kind.types, 'missing']) };
}

export function orNull(kind: Kind): Kind {
  return either(kind, kindOf('null'));
}

export function arrayOf(items: Kind): Kind {
  return { types: new Set(['array']), items };
}

export function either(left: Kind, right: Kind): Kind {
  if (left.types === undefined || right.types === undefined) return anything;
  const types = new Set([...left.types, ...right.types]);
  const items = left.items && right.items ? either(left.items, right.items) : (left.items ?? right.items);
  const [a, b] = [left.types.has('object'), right.types.has('object')];
  const document = a && b ? eitherDocument(left, right) : a ? left : right;
  return {
    types,
    ...(document.fields && { fields: document.fields }),
    ...(document.open !== undefined && { open: document.open }),
    ...(items && { items }),
  };
}

function eitherDocument(left: Kind, right: Kind): Kind {
  const names = new Set([...(left.fields?.keys() ?? []), ...(right.fields?.keys() ?? [])]);
  const fields = [...names].map((name): [string, Kind] => [name, either(fieldOf(left, name), fieldOf(right, name))]);
  return documentKind(fields, left.open === true || right.open === true);
}

/** What is known about a field of a value; only missing if it cannot exist. */
export function fieldOf(kind: Kind, name: string): Kind {
  if (kind.types === undefined) return anything;
  if (kind.types.has('array') && !kind.types.has('object')) return anything;
  const known = kind.fields?.get(name);
  if (known !== undefined) return kind.types.size > 1 ? maybeMissing(known) : known;
  return kind.open === true && kind.types.has('object') ? anything : kindOf('missing');
}

/** Whether a field of this name must, may or cannot exist. */
export function holds(kind: Kind, name: string): 'must' | 'may' | 'cannot' {
  if (kind.assumed === true) return 'must';
  const known = kind.fields?.get(name);
  if (known !== undefined)
    return known.types === undefined || known.types.has('missing') || kind.types?.has('missing') === true
      ? 'may'
      : 'must';
  return kind.open === true || kind.types === undefined ? 'may' : 'cannot';
}

/** Whether values of the kind are not, or may not be, of one of the types; kinds without information are allowed everywhere. */
export function unfit(kind: Kind, types: readonly TypeName[]): boolean {
  const groups = new Set(types.map(group));
  return excludes(kind, types) || (something(kind) ?? []).some((type) => !groups.has(group(type)));
}

/** Whether no value of the kind has one of the types. */
export function excludes(kind: Kind, types: readonly TypeName[]): boolean {
  const some = something(kind);
  return some !== undefined && some.length > 0 && !some.some((type) => types.includes(type));
}

/** Whether values of the kinds do not, or may not, compare with each other. */
export function incomparable(left: Kind, right: Kind): boolean {
  const [a, b] = [something(left), something(right)];
  if (a === undefined || b === undefined || a.length === 0 || b.length === 0) return false;
  if (isUnequal([...a, ...b])) return true;
  return isArray(left) && left.items !== undefined && right.items !== undefined && disjoint(left.items, right.items);
}

/** Whether no value of the one kind compares with one of the other. */
function disjoint(left: Kind, right: Kind): boolean {
  const [a, b] = [something(left), something(right)];
  if (a === undefined || b === undefined || a.length === 0 || b.length === 0) return false;
  return a.every((type) => b.every((other) => isUnequal([type, other])));
}

/** Types whose values compare with nothing. */
const never: readonly TypeName[] = ['javascript', 'javascriptWithScope', 'dbPointer'];

function isUnequal(types: readonly TypeName[]): boolean {
  if (types.some((type) => never.includes(type))) return true;
  return new Set(types.map((type) => (numbers.includes(type) ? 'number' : type))).size > 1;
}

/** The result kind of numbers of these kinds: int, long, double and decimal, each converts to those after it. */
export function widest(kinds: readonly Kind[]): Kind {
  let least = 0;
  const possible = new Set<TypeName>();
  for (const { types } of kinds) {
    const own = numbers.filter((type) => types?.has(type) ?? true);
    if (own.length > 0) least = Math.max(least, numbers.indexOf(own[0]!));
    for (const type of own) possible.add(type);
  }
  const given = numbers.filter((type, place) => place >= least && possible.has(type));
  return kindOf(...(given.length === 0 ? numbers : given), 'null');
}

/** Whether it is always a whole number, or nothing. */
export function isWhole(kind: Kind): boolean {
  return (
    kind.types !== undefined && [...kind.types].every((type) => [...wholeNumbers, 'null', 'missing'].includes(type))
  );
}

/** Whether values of the kind may have types that do not compare with each other. */
export function isMixed(kind: Kind): boolean {
  return isUnequal(something(kind) ?? []);
}

/** Whether it is always an array, or nothing. */
export function isArray(kind: Kind): boolean {
  const types = something(kind);
  return types?.length === 1 && types[0] === 'array';
}

export function kindText(kind: Kind): string {
  if (kind.types === undefined) return 'any type';
  const types = [...kind.types].filter((type) => type !== 'missing');
  return types.length === 0 ? 'a missing value' : types.join(' or ');
}

function something(kind: Kind): TypeName[] | undefined {
  return kind.types && [...kind.types].filter((type) => !nothing.includes(type));
}

function group(type: TypeName): string {
  return numbers.includes(type) ? 'number' : type === 'symbol' ? 'string' : type;
}

/** What is known about a literal. */
export function kindOfValue(value: Maybe): Kind {
  if (value instanceof BsonDocument) {
    return documentKind([...value].map(([name, each]): [string, Kind] => [name, kindOfValue(each)]));
  }
  if (Array.isArray(value) && value.length > 0) {
    return { types: new Set(['array']), items: value.map(kindOfValue).reduce(either) };
  }
  return kindOf(typeName(value));
}
