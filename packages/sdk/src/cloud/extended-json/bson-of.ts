/** Converts Extended JSON (canonical or relaxed) to values that `bson` writes with the intended types. */
import { invalidArgument } from '@platform/base';
import { Double, EJSON, Int32, Long } from 'bson';
import { type Json, type JsonMap, NumberText } from './read-json.ts';

/**
 * Objects become Maps, which keep the order of their keys. A number without point and exponent becomes an int32 or int64, the first that
 * fits; any other number becomes a double.
 *
 * @throws invalid_argument for a wrapper such as `$date` with invalid content.
 */
export function bsonOf(json: Json): unknown {
  if (json instanceof NumberText) return numberOf(json.text);
  if (isArray(json)) return json.map(bsonOf);
  if (!(json instanceof Map)) return json;
  if (wrappers.has([...json.keys()].join())) return wrapped(json);
  return new Map([...json].map(([name, value]: [string, Json]) => [name, bsonOf(value)]));
}

/** All keys of objects that represent a value. An object with any other key is a document or an operator, such as `$regex`. */
const wrappers: ReadonlySet<string> = new Set([
  '$oid',
  '$date',
  '$numberInt',
  '$numberLong',
  '$numberDouble',
  '$numberDecimal',
  '$binary',
  '$uuid',
  '$regularExpression',
  '$timestamp',
  '$symbol',
  '$code',
  '$code,$scope',
  '$scope,$code',
  '$minKey',
  '$maxKey',
]);

function wrapped(json: JsonMap): unknown {
  const shown = JSON.stringify(plain(json));
  try {
    const [date] = json.size === 1 ? [json.get('$date')] : [];
    const value: unknown =
      date === undefined ? EJSON.deserialize(Object(plain(json)), { relaxed: false }) : dateOf(date);
    // EJSON leaves a wrapper that it does not understand as an object.
    if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
      throw new Error('its content has the wrong type');
    return value;
  } catch (caught) {
    const reason = caught instanceof Error ? caught.message : String(caught);
    throw invalidArgument(`expected a value of Extended JSON, found ${shown}: ${reason}`, caught);
  }
}

/** `{"$date": "2026-01-31T12:00:00Z"}`, with or without a time, and milliseconds as a number or as `$numberLong`. */
function dateOf(json: Json): Date {
  const long = json instanceof Map ? json.get('$numberLong') : undefined;
  const ms =
    json instanceof NumberText
      ? Number(json.text)
      : typeof long === 'string'
        ? Number(long)
        : typeof json === 'string' && /^[+-]?\d{4,6}-\d\d-\d\d/.test(json)
          ? Date.parse(json)
          : Number.NaN;
  const date = new Date(ms);
  if (Number.isInteger(ms) && Number.isFinite(date.getTime())) return date;
  throw new Error('$date expects a time such as "2026-01-31T12:00:00Z", or milliseconds');
}

function numberOf(text: string): Int32 | Long | Double {
  if (!/^-?\d+$/.test(text) || text === '-0') return new Double(Number(text));
  const whole = BigInt(text);
  if (BigInt.asIntN(32, whole) === whole) return new Int32(Number(whole));
  return BigInt.asIntN(64, whole) === whole ? Long.fromBigInt(whole) : new Double(Number(text));
}

/** The value that `JSON.parse` would return. */
function plain(json: Json): unknown {
  if (json instanceof NumberText) return Number(json.text);
  if (isArray(json)) return json.map(plain);
  return json instanceof Map ? Object.fromEntries([...json].map(([name, value]) => [name, plain(value)])) : json;
}

function isArray(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}
