/** Counts what an encoded message would become when decoded, without decoding it (D48). */
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { maxMessageDepth } from './max-message-depth.ts';

export interface Excess {
  readonly of: 'elements' | 'levels';
  /** The field in which the limit was crossed, such as `command.fields`. */
  readonly where: string;
}

/**
 * Finds out whether a message has more elements or levels than allowed. Every field counts, known or not, every entry of a list or map, and
 * every number of a packed list. The cost is in proportion to what is counted, never to the length of texts and bytes. It reads as the decoder does, by the declared type of a field; where the decoder will refuse the bytes, it stops.
 *
 * @returns undefined: no limit was crossed
 */
export function findExcess(type: DescMessage, bytes: Uint8Array, maxElements: number): Excess | undefined {
  // Each field and each packed number takes at least one byte.
  if (bytes.length <= maxElements) return undefined;
  return new Walk(bytes, maxElements).excess(shapeOf(type));
}

/** What a field consists of. */
type Kind = 'varint' | 'four' | 'eight' | 'skipped' | 'message';

interface FieldShape {
  readonly name: string;
  readonly kind: Kind;
  /** A list of numbers, which may be packed. */
  readonly packable: boolean;
  /** Of kind `message`. */
  readonly inner: MessageShape | undefined;
}

interface MessageShape {
  /** By number. */
  readonly fields: (FieldShape | undefined)[];
  /** Entries of maps are no level of their own. */
  readonly isEntry: boolean;
}

const shapes = new WeakMap<DescMessage, MessageShape>();

function shapeOf(type: DescMessage): MessageShape {
  const known = shapes.get(type);
  if (known !== undefined) return known;
  const shape: MessageShape = { fields: [], isEntry: false };
  // Before its fields, because types contain themselves.
  shapes.set(type, shape);
  for (const field of type.fields) shape.fields[field.number] = fieldShape(field);
  return shape;
}

function fieldShape(field: DescField): FieldShape {
  const { name } = field;
  switch (field.fieldKind) {
    case 'scalar':
      return { name, kind: kindOf(field.scalar), packable: false, inner: undefined };
    case 'enum':
      return { name, kind: 'varint', packable: false, inner: undefined };
    case 'message':
      return { name, kind: 'message', packable: false, inner: shapeOf(field.message) };
    case 'list':
      if (field.listKind === 'message')
        return { name, kind: 'message', packable: false, inner: shapeOf(field.message) };
      return numbersOrTexts(name, field.listKind === 'enum' ? 'varint' : kindOf(field.scalar));
    case 'map': {
      const inner: MessageShape = { fields: [], isEntry: true };
      inner.fields[1] = { name: 'key', kind: kindOf(field.mapKey), packable: false, inner: undefined };
      const value = field.mapKind === 'scalar' ? kindOf(field.scalar) : field.mapKind === 'enum' ? 'varint' : 'message';
      const message = field.mapKind === 'message' ? shapeOf(field.message) : undefined;
      inner.fields[2] = { name: 'value', kind: value, packable: false, inner: message };
      return { name, kind: 'message', packable: false, inner };
    }
  }
}

function numbersOrTexts(name: string, kind: Kind): FieldShape {
  return { name, kind, packable: kind !== 'skipped', inner: undefined };
}

function kindOf(scalar: ScalarType): Kind {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return 'skipped';
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
    case ScalarType.FLOAT:
      return 'four';
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
    case ScalarType.DOUBLE:
      return 'eight';
    default:
      return 'varint';
  }
}

/** Kinds of unknown fields by their wire type; groups (3) are walked, 4 ends one. */
const unknownKinds: readonly (Kind | undefined)[] = ['varint', 'eight', 'skipped', undefined, undefined, 'four'];
/** Of the path in an error. */
const maxPlaces = 8;
const [lengthDelimited, startGroup, endGroup] = [2, 3, 4];

/** One walk over a message. */
class Walk {
  readonly #bytes: Uint8Array;
  readonly #maxElements: number;
  #at = 0;
  #elements = 0;
  /** Where the messages end that the walk is in, outermost first, with their shapes and the fields that hold them. */
  readonly #ends: number[] = [];
  readonly #shapes: MessageShape[] = [];
  readonly #holders: string[] = [];
  #levels = 0;

  constructor(bytes: Uint8Array, maxElements: number) {
    this.#bytes = bytes;
    this.#maxElements = maxElements;
  }

  excess(type: MessageShape): Excess | undefined {
    this.#enter(type, this.#bytes.length, '');
    for (;;) {
      while (this.#at >= (this.#ends.at(-1) ?? 0)) {
        this.#leave();
        if (this.#ends.length === 0) return undefined;
      }
      const tag = this.#varint();
      const [number, wireType] = [Math.floor(tag / 8), tag % 8];
      const field = this.#shapes.at(-1)?.fields[number];
      // Here the decoder will refuse the message.
      if (number === 0 || wireType > 5 || (field === undefined && wireType === endGroup)) return undefined;
      this.#elements += 1;
      const places = Math.min(this.#holders.length, maxPlaces);
      if (field === undefined) this.#skipUnknown(wireType);
      else if (field.packable && wireType === lengthDelimited) this.#countPacked(field.kind);
      else if (field.inner === undefined) this.#skip(field.kind);
      else this.#enter(field.inner, this.#varint() + this.#at, field.name);
      const of = this.#levels > maxMessageDepth ? 'levels' : 'elements';
      if (of === 'levels' || this.#elements > this.#maxElements)
        return {
          of,
          where: [...this.#holders.slice(1, places), field?.name ?? `unknown field ${number}`].join('.'),
        };
    }
  }

  #enter(shape: MessageShape, end: number, holder: string): void {
    this.#ends.push(end);
    this.#shapes.push(shape);
    this.#holders.push(holder);
    if (!shape.isEntry) this.#levels += 1;
  }

  #leave(): void {
    this.#ends.pop();
    this.#holders.pop();
    if (this.#shapes.pop()?.isEntry === false) this.#levels -= 1;
  }

  /** Past the end if the bytes end first, or the number is too long. */
  #varint(): number {
    const bytes = this.#bytes;
    const first = bytes[this.#at++] ?? Number.NaN;
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let scale = 0x80; ; scale *= 0x80) {
      const byte = bytes[this.#at++];
      if (byte === undefined || scale > 2 ** 63) {
        this.#at = Number.POSITIVE_INFINITY;
        return 0;
      }
      // Like the decoder, of more than 32 bits only the lowest count.
      if (scale < 2 ** 32) value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value % 2 ** 32;
    }
  }

  #skip(kind: Kind): void {
    // The number of bytes is read first, and moves the position.
    const bytes = kind === 'four' ? 4 : kind === 'eight' ? 8 : this.#varint();
    if (kind !== 'varint') this.#at += bytes;
  }

  /** A group is skipped with all that it holds. */
  #skipUnknown(wireType: number): void {
    const levels = this.#levels;
    for (let type = wireType; this.#elements <= this.#maxElements; type = this.#varint() % 8, this.#elements++) {
      if (type === startGroup) this.#levels += 1;
      else if (type === endGroup) this.#levels -= 1;
      else this.#skip(unknownKinds[type] ?? 'varint');
      if (this.#levels === levels || this.#levels > maxMessageDepth || this.#at >= this.#bytes.length) return;
    }
  }

  #countPacked(kind: Kind): void {
    const length = this.#varint();
    const end = this.#at + length;
    if (kind !== 'varint') {
      this.#elements += length / (kind === 'four' ? 4 : 8);
      this.#at = end;
      return;
    }
    while (this.#at < end && this.#elements <= this.#maxElements && this.#at < this.#bytes.length) {
      this.#varint();
      this.#elements += 1;
    }
  }
}
