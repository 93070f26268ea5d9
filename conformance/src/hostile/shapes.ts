/**
 * Request messages of a given size that are cheap to send and expensive to decode: the bytes of a message are bounded, the cost of a byte is
 * not.
 */
import type { DescField, DescMessage } from '@bufbuild/protobuf';

/** @returns the message in binary; undefined if the type has no such field */
export type Shape = (input: DescMessage, bytes: number) => Buffer | undefined;

const wire = { varint: 0, bytes: 2, startGroup: 3, endGroup: 4 } as const;
/** Type names can be recursive. */
const mostLevels = 6;
/** Some 6,000 levels; making more takes longer than decoding them. */
const mostNestedBytes = 64 * 1024;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

function tag(number: number, type: number): Buffer {
  return varint(number * 8 + type);
}

function repeated(unit: Buffer, bytes: number): Buffer {
  return Buffer.alloc(Math.max(unit.length, bytes - (bytes % unit.length)), unit);
}

/** Puts the content into the messages of a path, innermost last. */
function wrapped(path: readonly DescField[], content: Buffer): Buffer {
  return path.reduceRight(
    (inner, { number }) => Buffer.concat([tag(number, wire.bytes), varint(inner.length), inner]),
    content,
  );
}

interface Found {
  /** The messages around it, outermost first. */
  readonly path: readonly DescField[];
  readonly field: DescField;
}

/** The first field that fits, the least nested first. */
function find(input: DescMessage, fits: (field: DescField) => boolean): Found | undefined {
  let level: { readonly path: readonly DescField[]; readonly type: DescMessage }[] = [{ path: [], type: input }];
  for (let depth = 0; depth < mostLevels && level.length > 0; depth++) {
    for (const { path, type } of level) {
      const field = type.fields.find(fits);
      if (field !== undefined) return { path, field };
    }
    level = level.flatMap(({ path, type }) =>
      type.fields.flatMap((field) => (field.message ? [{ path: [...path, field], type: field.message }] : [])),
    );
  }
  return undefined;
}

function repeatedField(fits: (field: DescField) => boolean, unit: (field: DescField) => Buffer): Shape {
  return (input, bytes) => {
    const found = find(input, fits);
    return found && wrapped(found.path, repeated(unit(found.field), bytes));
  };
}

const emptyValue = ({ number }: DescField): Buffer => Buffer.from([...tag(number, wire.bytes), 0]);

export const shapes: Readonly<Record<string, Shape>> = {
  'unknown fields': ({ fields }, bytes) => {
    const known = new Set(fields.map(({ number }) => number));
    let number = 1;
    while (known.has(number)) number++;
    return repeated(Buffer.from([...tag(number, wire.varint), 0]), bytes);
  },
  'unknown levels': (_input, bytes) => {
    const levels = Math.floor(bytes / 6);
    const [start, end] = [tag(4_000, wire.startGroup), tag(4_000, wire.endGroup)];
    return Buffer.concat([repeated(start, levels * start.length), repeated(end, levels * end.length)]);
  },
  'empty messages': repeatedField((field) => field.fieldKind === 'list' && field.message !== undefined, emptyValue),
  'empty texts': repeatedField((field) => field.fieldKind === 'list' && field.message === undefined, emptyValue),
  'the same message again': repeatedField((field) => field.fieldKind === 'message', emptyValue),
  'map entries': (input, bytes) => {
    const found = find(input, ({ fieldKind }) => fieldKind === 'map');
    if (found === undefined) return undefined;
    const entries: Buffer[] = [];
    for (let [size, count] = [0, 0]; size < bytes; count++) {
      const key = Buffer.from(count.toString(36));
      const entry = Buffer.concat([Buffer.from([10, key.length]), key, Buffer.from([18, 0])]);
      entries.push(Buffer.concat([tag(found.field.number, wire.bytes), varint(entry.length), entry]));
      size += entry.length + 2;
    }
    return wrapped(found.path, Buffer.concat(entries));
  },
  'packed numbers': (input, bytes) => {
    const found = find(input, (field) => field.fieldKind === 'list' && field.listKind !== 'message' && field.packed);
    if (found === undefined) return undefined;
    return wrapped([...found.path, found.field], Buffer.alloc(bytes, 1));
  },
  levels: (input, bytes) => {
    const struct = find(input, ({ message }) => message?.typeName === 'google.protobuf.Struct');
    if (struct === undefined) return undefined;
    let content = Buffer.alloc(0);
    while (content.length < Math.min(bytes, mostNestedBytes)) {
      // fields { value { struct_value { … } } }
      const value = Buffer.concat([Buffer.from([42]), varint(content.length), content]);
      const entry = Buffer.concat([Buffer.from([10, 0, 18]), varint(value.length), value]);
      content = Buffer.concat([Buffer.from([10]), varint(entry.length), entry]);
    }
    return wrapped([...struct.path, struct.field], content);
  },
  'random bytes': (_input, bytes) => {
    const noise = Buffer.alloc(bytes);
    for (let [at, state] = [0, 1]; at < bytes; at++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      noise[at] = state >>> 16;
    }
    return noise;
  },
};

/** The same in JSON, for any type: the text of a body. */
export const jsonShapes: Readonly<Record<string, (bytes: number) => Buffer>> = {
  'unknown fields': (bytes) => listed('{', bytes, (count) => `"x${count.toString(36)}":0`, '}'),
  'the same field again': (bytes) => listed('{', bytes, () => '"id":""', '}'),
  'empty messages': (bytes) => listed('{"ids":[', bytes, () => '{}', ']}'),
  levels: (bytes) => Buffer.from(`{"filter":${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}}`),
  'escaped text': (bytes) => Buffer.from(`{"id":"${'\\u0000'.repeat(bytes / 6)}"}`),
  'no JSON': (bytes) => Buffer.alloc(bytes, '['),
};

function listed(start: string, bytes: number, item: (count: number) => string, end: string): Buffer {
  const parts: string[] = [];
  for (let [size, count] = [0, 0]; size < bytes; count++) {
    const text = item(count);
    parts.push(text);
    size += text.length + 1;
  }
  return Buffer.from(`${start}${parts.join(',')}${end}`);
}
