/**
 * The descriptor of a service, which its server provides by gRPC reflection. The server is not trusted: sizes and time are limited, and
 * every fault in its answers gives the same error.
 */
import { create, createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { errorText, failedPrecondition, notFound, resourceExhausted } from '@platform/base/portable';
import { ServerReflection, type ServerReflectionRequest } from '@platform/proto/grpc/reflection/v1alpha/reflection';
import type { Connection } from './resource-descriptor.ts';

const timeoutMs = 10_000;
const maxFiles = 500;
const maxBytes = 8 * 1024 * 1024;

type Ask = ServerReflectionRequest['messageRequest'];

/**
 * @param serviceName full name, as the server spells it
 * @throws not_found if the server does not describe it, failed_precondition if its answer is not a valid description, resource_exhausted if
 * the description is too large; errors of the call
 */
export async function reflectService(connection: Connection, serviceName: string): Promise<DescService> {
  const files = new Map<string, FileDescriptorProto>();
  let bytes = 0;
  const add = (answers: readonly Uint8Array[]): void => {
    for (const answer of answers) {
      bytes += answer.length;
      if (bytes > maxBytes || files.size >= maxFiles)
        throw resourceExhausted(
          `${serviceName}: expected a description of at most ${maxFiles} files and ${maxBytes} bytes, found more`,
        );
      const file = readable(serviceName, () => fromBinary(FileDescriptorProtoSchema, answer));
      files.set(file.name, file);
    }
  };
  add(await ask(connection, { case: 'fileContainingSymbol', value: serviceName }));
  const root = [...files.values()].find(({ package: name, service }) =>
    service.some((each) => `${name === '' ? '' : `${name}.`}${each.name}` === serviceName),
  );
  if (root === undefined) throw notFound(`no file defines ${serviceName}`);
  const asked = new Set<string>();
  for (;;) {
    const next = [...files.values()].flatMap(({ dependency }) => dependency).find((name) => !files.has(name));
    if (next === undefined) break;
    if (asked.has(next)) throw notFound(`the imported file ${next} is missing`);
    asked.add(next);
    add(await ask(connection, { case: 'fileByFilename', value: next }));
  }
  return readable(serviceName, () => {
    const set = create(FileDescriptorSetSchema, { file: importsFirst(root, files) });
    const service = createFileRegistry(set).getService(serviceName);
    if (service === undefined) throw new Error('no such service');
    return service;
  });
}

/** @throws failed_precondition whatever went wrong */
function readable<T>(serviceName: string, read: () => T): T {
  try {
    return read();
  } catch (caught) {
    const text = `${serviceName}: its description by reflection cannot be read: ${errorText(caught)}`;
    throw failedPrecondition(text, caught);
  }
}

/** The file and its imports, each after its own imports. The registry refuses cyclic imports. */
function importsFirst(root: FileDescriptorProto, files: ReadonlyMap<string, FileDescriptorProto>) {
  const ordered: FileDescriptorProto[] = [];
  const seen = new Set<FileDescriptorProto>();
  const visit = (file: FileDescriptorProto | undefined): void => {
    if (file === undefined || seen.has(file)) return;
    seen.add(file);
    for (const name of file.dependency) visit(files.get(name));
    ordered.push(file);
  };
  visit(root);
  return ordered;
}

async function ask({ client }: Connection, messageRequest: Ask): Promise<readonly Uint8Array[]> {
  async function* once() {
    yield { host: '', messageRequest };
  }
  let found: readonly Uint8Array[] | undefined;
  let refused = 'its reflection returned nothing';
  // Read to the end: the time limit of an unfinished answer would keep the process alive.
  for await (const { messageResponse } of client(ServerReflection).serverReflectionInfo(once(), { timeoutMs })) {
    if (found !== undefined) break;
    const { case: kind, value } = messageResponse;
    if (kind === 'errorResponse') refused = value.errorMessage;
    if (kind === 'fileDescriptorResponse') found = value.fileDescriptorProto;
  }
  if (found === undefined) throw notFound(refused);
  return found;
}
