/** Rows for public TypeScript clients, whose BSON reader fails on a row with a type that it does not know (D7). */
import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  BsonUndefined,
  type BsonValue,
  Code,
  DbPointer,
  Decimal128,
  decimalText,
  decimalToNumber,
  decodeBson,
  encodeBson,
  Int32,
  MaxKey,
  MinKey,
  ObjectId,
  Regex,
  Timestamp,
} from '@platform/query';

/** Whether the caller is a public TypeScript client, according to its header. */
export function needsDowngrade(metadata: Headers): boolean {
  return metadata.get('viam_client')?.startsWith('typescript') ?? false;
}

/**
 * Returns the row with Decimal128 as double if that is exact, otherwise as string, and other exotic types as Extended JSON. Returns the
 * same bytes if there are none.
 */
export function downgradeBson(row: Uint8Array): Uint8Array {
  const document = decodeBson(row);
  const downgraded = plainer(document);
  return downgraded === document ? row : encodeBson(downgraded as BsonDocument);
}

function plainer(value: BsonValue): BsonValue {
  if (
    typeof value !== 'object' ||
    value === null ||
    value instanceof Int32 ||
    value instanceof BsonDate ||
    value instanceof ObjectId
  )
    return value;
  if (value instanceof BsonDocument) {
    const fields = [...value].map(([name, member]): [string, BsonValue] => [name, plainer(member)]);
    return fields.every(([name, member]) => value.get(name) === member) ? value : new BsonDocument(fields);
  }
  if (Array.isArray(value)) {
    const items = value.map(plainer);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  return extendedJson(value);
}

function extendedJson(
  value: Exclude<BsonValue, BsonValue[] | BsonDocument | number | bigint | string | boolean | null>,
): BsonValue {
  if (value instanceof Decimal128) return decimal(value);
  if (value instanceof Binary) {
    const subType = value.subtype.toString(16).padStart(2, '0');
    return document({ $binary: document({ base64: Buffer.from(value.bytes).toString('base64'), subType }) });
  }
  if (value instanceof Regex)
    return document({ $regularExpression: document({ pattern: value.pattern, options: value.options }) });
  if (value instanceof Timestamp) {
    const bits = BigInt.asUintN(64, value.value);
    return document({ $timestamp: document({ t: Number(bits >> 32n), i: Number(bits & 0xffff_ffffn) }) });
  }
  if (value instanceof Code)
    return document({ $code: value.code, ...(value.scope && { $scope: plainer(value.scope) }) });
  if (value instanceof BsonSymbol) return document({ $symbol: value.value });
  if (value instanceof DbPointer) return document({ $dbPointer: document({ $ref: value.namespace, $id: value.id }) });
  if (value instanceof MinKey) return document({ $minKey: 1 });
  if (value instanceof MaxKey) return document({ $maxKey: 1 });
  if (value instanceof BsonUndefined) return document({ $undefined: true });
  return value;
}

function decimal(value: Decimal128): BsonValue {
  const text = decimalText(value);
  const number = decimalToNumber(value);
  return isExact(text, number) ? number : text;
}

/** Whether a decimal text and a double are exactly the same number. */
function isExact(text: string, number: number): boolean {
  if (!Number.isFinite(number)) return text === String(number);
  return sameDigits(text, exactText(number));
}

/** All digits of a double: up to 1,074 after the decimal point. */
function exactText(number: number): string {
  // A double is m × 2^e; multiplied by a large enough 10^k it is an integer.
  let scale = 0;
  let scaled = number;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    scale++;
  }
  return `${BigInt(scaled) * 5n ** BigInt(scale)}E-${scale}`;
}

function sameDigits(left: string, right: string): boolean {
  const [a, b] = [parts(left), parts(right)];
  return a.coefficient === b.coefficient && (a.coefficient === 0n || a.exponent === b.exponent);
}

function parts(text: string): { coefficient: bigint; exponent: number } {
  const [digits = '', exponent = '0'] = text.split(/E/i);
  const [whole = '', fraction = ''] = digits.split('.');
  let coefficient = BigInt(whole + fraction);
  let power = Number(exponent) - fraction.length;
  while (coefficient !== 0n && coefficient % 10n === 0n) {
    coefficient /= 10n;
    power++;
  }
  return { coefficient, exponent: power };
}

function document(fields: Record<string, BsonValue>): BsonDocument {
  return BsonDocument.of(fields);
}
