/**
 * The descriptor of a type that this version does not know. Its service comes from the module's reflection, so that all of its methods are
 * forwarded; a module without reflection is taken to have `DoCommand` and `GetStatus`, which every type has.
 */
import { createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { errorText, type Log, PlatformError } from '@platform/base';
import { ServerReflection, type ServerReflectionRequest } from '@platform/proto/grpc/reflection/v1alpha/reflection';
import { commandType, type ResourceDescriptor, serviceType } from '@platform/resources';
import type { Link } from '@platform/rpc/client';

const reflectionTimeoutMs = 10_000;
const maxFiles = 500;

/** @param serviceName full name of its service, as we spell it. */
export async function unknownType(
  api: string,
  serviceName: string,
  link: Pick<Link, 'client'>,
  log: Log,
): Promise<ResourceDescriptor> {
  try {
    return serviceType({ api, service: await reflected(serviceName, link) });
  } catch (caught) {
    log.info(`${api}: only DoCommand and GetStatus can be called, because the module does not describe its service`, {
      service: serviceName,
      reason: errorText(caught),
    });
    return commandType(api, serviceName);
  }
}

type Ask = ServerReflectionRequest['messageRequest'];

async function reflected(serviceName: string, link: Pick<Link, 'client'>): Promise<DescService> {
  const files = new Map<string, FileDescriptorProto>();
  const asked = new Set<string>();
  const publicName = serviceName.replace(/^platform\./, 'viam.');
  const add = (answers: readonly Uint8Array[]): void => {
    for (const bytes of answers) {
      const file = fromBinary(FileDescriptorProtoSchema, bytes);
      files.set(file.name, file);
    }
    if (files.size > maxFiles) throw new PlatformError('resource_exhausted', `it needs more than ${maxFiles} files`);
  };
  add(await ask(link, { case: 'fileContainingSymbol', value: publicName }));
  for (;;) {
    const next = [...files.values()].flatMap(({ dependency }) => dependency).find((name) => !files.has(name));
    if (next === undefined) break;
    if (asked.has(next)) throw new PlatformError('not_found', `the imported file ${next} is missing`);
    asked.add(next);
    add(await ask(link, { case: 'fileByFilename', value: next }));
  }
  const [root] = [...files.values()].filter(({ package: name, service }) =>
    service.some((each) => `${name === '' ? '' : `${name}.`}${each.name}` === publicName),
  );
  if (root === undefined) throw new PlatformError('not_found', `no file defines ${publicName}`);
  const registry = createFileRegistry(root, (name) => files.get(name));
  const service = registry.getService(publicName);
  if (service === undefined) throw new PlatformError('not_found', `no service ${publicName}`);
  return named(service, serviceName);
}

async function ask(link: Pick<Link, 'client'>, messageRequest: Ask): Promise<readonly Uint8Array[]> {
  async function* once() {
    yield { host: '', messageRequest };
  }
  const answers = link.client(ServerReflection).serverReflectionInfo(once(), { timeoutMs: reflectionTimeoutMs });
  for await (const { messageResponse } of answers) {
    if (messageResponse.case === 'fileDescriptorResponse') return messageResponse.value.fileDescriptorProto;
    if (messageResponse.case === 'errorResponse')
      throw new PlatformError('not_found', messageResponse.value.errorMessage);
  }
  throw new PlatformError('not_found', 'its reflection answered nothing');
}

/** The service under the name that we serve it by. */
function named(service: DescService, typeName: string): DescService {
  if (service.typeName === typeName) return service;
  const parent = { ...service, typeName };
  parent.methods = service.methods.map((method) => ({ ...method, parent }));
  parent.method = Object.fromEntries(parent.methods.map((method) => [method.localName, method]));
  return parent;
}
