/**
 * Methods of services that the cloud does not know, such as those of modules. Their messages are declared as empty: all of their content is
 * unknown fields, which are kept byte for byte and sent on. So descriptions that a machine gives of its types are never read here.
 */
import { createFileRegistry, type DescFile, type DescService, fromJson, type Message } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { FileDescriptorProtoSchema, file_google_protobuf_empty } from '@bufbuild/protobuf/wkt';
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
 * The probable name of the resource in such a message: the text in its field 1, where the requests of all public services have it. Empty if
 * there is none. The machine refuses the call if this is not the resource that the call is for.
 */
export function opaqueName({ $unknown = [] }: Message): string {
  const field = $unknown.findLast(({ no, wireType }) => no === 1 && wireType === WireType.LengthDelimited);
  if (field === undefined || field.data.length > 4 * maxNameLength) return '';
  try {
    const text = new BinaryReader(field.data).string();
    return text.length > maxNameLength || /\p{Cc}|\ufffd/u.test(text) ? '' : text;
  } catch {
    return '';
  }
}
