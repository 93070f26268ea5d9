/**
 * Methods of services that the cloud does not know, such as those of modules. Their messages are declared as empty: all of their content is
 * unknown fields, which are kept byte for byte and sent on. So descriptions that a machine gives of its types are never read here.
 */
import {
  createFileRegistry,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescService,
  fromJson,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { FileDescriptorProtoSchema, file_google_protobuf_empty } from '@bufbuild/protobuf/wkt';
import { invalidArgument } from '@platform/base';
import type { ForwardedKind } from '@platform/rpc/server';

const methodPath = /^\/((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)\/([A-Za-z_]\w*)$/;
const maxPathLength = 300;
/** Names of resources have at most 255 bytes; a longer text is not a name. */
const maxNameLength = 255;

/**
 * A service with that one method. @param path `/package.Service/Method`. @param kind see ForwardedKind
 * @returns undefined if the path is not that of a method
 */
export function opaqueService(path: string, kind: ForwardedKind): DescService | undefined {
  const [, typeName = '', method = ''] = (path.length <= maxPathLength && methodPath.exec(path)) || [];
  if (method === '') return undefined;
  const dot = typeName.lastIndexOf('.');
  const streams = { clientStreaming: kind === 'bidi_streaming', serverStreaming: kind !== 'unary' };
  const types = { inputType: '.google.protobuf.Empty', outputType: '.google.protobuf.Empty' };
  const file = fromJson(FileDescriptorProtoSchema, {
    ...{ name: 'opaque.proto', package: typeName.slice(0, dot), syntax: 'proto3' },
    dependency: [`${file_google_protobuf_empty.name}.proto`],
    service: [{ name: typeName.slice(dot + 1), method: [{ ...types, name: method, ...streams }] }],
  });
  const resolve = (): DescFile => file_google_protobuf_empty;
  try {
    return createFileRegistry(file, resolve).getService(typeName);
  } catch {
    // Anything else that a caller may invent.
    return undefined;
  }
}

/**
 * Refuses an undecoded message of a type that would be read differently by its declared types than by those on the wire: the machine would
 * see another name than the audit trail. @throws invalid_argument
 */
export function requireDeclaredTypes({ $unknown = [] }: Message, type: DescMessage): void {
  for (const { no, wireType } of $unknown) {
    const field = type.fields.find(({ number }) => number === no);
    if (field === undefined || wireType === wireTypeOf(field)) continue;
    if (wireType === WireType.LengthDelimited && field.fieldKind === 'list') continue;
    const text = `expected a ${type.typeName}, found field ${field.name} with wire type ${wireType}`;
    throw invalidArgument(text);
  }
}

function wireTypeOf(field: DescField): WireType {
  const scalar =
    field.fieldKind === 'enum' || (field.fieldKind === 'list' && field.listKind === 'enum')
      ? ScalarType.INT32
      : field.fieldKind === 'map'
        ? undefined
        : field.scalar;
  switch (scalar) {
    case undefined:
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
    case ScalarType.FLOAT:
      return WireType.Bit32;
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
    case ScalarType.DOUBLE:
      return WireType.Bit64;
    default:
      return WireType.Varint;
  }
}

/**
 * The name of the resource in such a message, by the number of its field. For a type that only a module knows it is a guess: field 1, where
 * the requests of all public services have it; the machine refuses the call if it is for another resource. Empty if there is none.
 */
export function opaqueName({ $unknown = [] }: Message, number = 1): string {
  const field = $unknown.findLast(({ no, wireType }) => no === number && wireType === WireType.LengthDelimited);
  if (field === undefined || field.data.length > 4 * maxNameLength) return '';
  try {
    const text = new BinaryReader(field.data).string();
    return text.length > maxNameLength || /\p{Cc}|\ufffd/u.test(text) ? '' : text;
  } catch {
    return '';
  }
}
