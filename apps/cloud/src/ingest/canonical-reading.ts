/**
 * The bytes of a reading with the entries of every document in one order. Public senders encode a document's map in random
 * order and anew for each retry, so a hash of the bytes as they came would not recognise the retry (D13).
 */
import { walkFields } from './wire.ts';

const maxDepth = 64;

/** SensorData in; the same content in equal bytes out. What is no SensorData passes unchanged. */
export function canonicalReading(reading: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  const whole = walkFields(reading, 0, reading.length, (field) => {
    if (field.number === 2 && field.type === 2) {
      parts.push(framed(2, struct(reading.subarray(field.contentStart, field.end), 0)));
    } else {
      parts.push(reading.subarray(field.start, field.end));
    }
  });
  return whole ? Buffer.concat(parts) : reading;
}

// Struct { map<string, Value> fields = 1 }: entries { 1: key, 2: Value }.
function struct(bytes: Uint8Array, depth: number): Uint8Array {
  const entries: Uint8Array[] = [];
  const whole = walkFields(bytes, 0, bytes.length, (field) => {
    const content = bytes.subarray(field.contentStart, field.end);
    entries.push(field.number === 1 && field.type === 2 ? framed(1, each(content, 2, value, depth)) : content);
  });
  if (!whole || depth > maxDepth) return bytes;
  return Buffer.concat(entries.sort(Buffer.compare));
}

// Value: 5 is a Struct, 6 a ListValue { repeated Value values = 1 }; all else has no order to lose.
function value(bytes: Uint8Array, depth: number): Uint8Array {
  if (bytes[0] === 0x2a) return each(bytes, 5, struct, depth + 1);
  if (bytes[0] === 0x32) return each(bytes, 6, (list) => each(list, 1, value, depth + 1), depth + 1);
  return bytes;
}

/** The message with each length-delimited field of that number replaced by what `make` says. */
function each(
  bytes: Uint8Array,
  number: number,
  make: (content: Uint8Array, depth: number) => Uint8Array,
  depth: number,
): Uint8Array {
  if (depth > maxDepth) return bytes;
  const parts: Uint8Array[] = [];
  const whole = walkFields(bytes, 0, bytes.length, (field) => {
    const replaced = field.number === number && field.type === 2;
    const content = bytes.subarray(field.contentStart, field.end);
    parts.push(replaced ? framed(number, make(content, depth)) : bytes.subarray(field.start, field.end));
  });
  return whole ? Buffer.concat(parts) : bytes;
}

/** Not the wire's framing: a fixed-width length, since only equality matters. */
function framed(number: number, content: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head[0] = number;
  head.writeUInt32LE(content.length, 1);
  return Buffer.concat([head, content]);
}
