/** Descriptors of the served services, under our names and those of the public API (D2), as reflection returns them. */
import { clone, type DescFile, type DescMessage, type DescService, toBinary } from '@bufbuild/protobuf';
import { type DescriptorProto, type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';

export interface DescriptorFiles {
  /** Full names, sorted. */
  readonly services: readonly string[];
  /** The file of that name. */
  named(name: string): DescriptorFile | undefined;
  /** The file that defines a service, method, message, field, enum or extension. */
  defining(symbol: string): DescriptorFile | undefined;
}

export interface DescriptorFile {
  readonly name: string;
  /** google.protobuf.FileDescriptorProto */
  bytes(): Uint8Array;
  /** Its imports. */
  readonly dependencies: readonly DescriptorFile[];
}

export function descriptorFiles(services: readonly DescService[]): DescriptorFiles {
  const files = new Map<string, DescriptorFile>();
  const symbols = new Map<string, DescriptorFile>();
  const add = (file: DescFile, rename: Rename): DescriptorFile => {
    const name = `${rename(file.name)}.proto`;
    const known = files.get(name);
    if (known !== undefined) return known;
    const dependencies = file.dependencies.map((dependency) => add(dependency, rename));
    let bytes: Uint8Array | undefined;
    const added: DescriptorFile = {
      name,
      dependencies,
      bytes: () => (bytes ??= toBinary(FileDescriptorProtoSchema, renamed(file.proto, rename))),
    };
    files.set(name, added);
    for (const symbol of symbolsOf(file)) symbols.set(rename(symbol), added);
    return added;
  };
  for (const rename of [ours, publicName]) for (const service of services) add(service.file, rename);
  const names = services.flatMap(({ typeName }) => [ours(typeName), publicName(typeName)]);
  return {
    services: [...new Set(names)].sort(),
    named: (name) => files.get(name),
    // A method or field is found through the service or message that contains it.
    defining: (symbol) => symbols.get(symbol) ?? symbols.get(symbol.slice(0, Math.max(0, symbol.lastIndexOf('.')))),
  };
}

type Rename = (name: string) => string;

const ours: Rename = (name) => name;
/** Renames a symbol, a package, a file path, or a type reference. */
const publicName: Rename = (name) => name.replace(/^(\.?)platform(?=[./])/, '$1viam');

function* symbolsOf({ services, messages, enums, extensions }: DescFile): Generator<string> {
  for (const { typeName } of [...services, ...enums, ...extensions]) yield typeName;
  yield* nested(messages);
}

function* nested(messages: readonly DescMessage[]): Generator<string> {
  for (const { typeName, nestedMessages, nestedEnums, nestedExtensions } of messages) {
    yield typeName;
    for (const inner of [...nestedEnums, ...nestedExtensions]) yield inner.typeName;
    yield* nested(nestedMessages);
  }
}

function renamed(proto: FileDescriptorProto, rename: Rename): FileDescriptorProto {
  const copy = clone(FileDescriptorProtoSchema, proto);
  copy.name = rename(copy.name);
  copy.package = rename(copy.package);
  copy.dependency = copy.dependency.map(rename);
  const renameTypes = ({ field, extension, nestedType }: DescriptorProto): void => {
    for (const one of [...field, ...extension]) Object.assign(one, typesOf(one, rename));
    for (const inner of nestedType) renameTypes(inner);
  };
  for (const message of copy.messageType) renameTypes(message);
  for (const extension of copy.extension) Object.assign(extension, typesOf(extension, rename));
  for (const { method } of copy.service) {
    for (const one of method) {
      one.inputType = rename(one.inputType);
      one.outputType = rename(one.outputType);
    }
  }
  return copy;
}

function typesOf({ typeName, extendee }: { typeName: string; extendee: string }, rename: Rename): object {
  return {
    ...(typeName !== '' && { typeName: rename(typeName) }),
    ...(extendee !== '' && { extendee: rename(extendee) }),
  };
}
