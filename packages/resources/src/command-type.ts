/**
 * A custom type without a .proto file: it has the methods of every type (DoCommand and GetStatus), under its own API and service.
 * Reflection describes its service like any other, so that machine-servers and clients that do not know the type can call it.
 */
import { createFileRegistry, type DescFile, type DescService, fromJson } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { invalidArgument, invalidValue } from '@platform/base/portable';
import { file_platform_common_v1_common } from '@platform/proto/platform/common/v1/common';
import type { GenericService } from '@platform/proto/platform/component/generic/v1/generic';
import type { ResourceDescriptor } from './resource-descriptor.ts';
import { type ServiceResource, serviceType } from './service-type.ts';

/** A resource that only takes commands, and may report a status. */
export type CommandResource = ServiceResource<typeof GenericService>;

/**
 * @param api such as `acme:component:greenhouse`.
 * @param serviceName full name of its gRPC service. Default: from the API, `acme.component.greenhouse.v1.GreenhouseService`.
 * @throws invalid_argument if one of them does not have that form
 */
export function commandType(
  api: string,
  serviceName: string = serviceNameOf(api),
): ResourceDescriptor<CommandResource> {
  return serviceType<CommandResource, DescService>({ api, service: commandService(serviceName) });
}

function serviceNameOf(api: string): string {
  if (!/^[a-z][\w-]*:(component|service):[a-z][\w-]*$/.test(api))
    throw invalidValue(
      'api',
      '<namespace>:component:<type> or <namespace>:service:<type> in lower case, such as acme:component:greenhouse',
      api,
    );
  const parts = api.replaceAll('-', '_').split(':');
  const words = (parts.at(-1) ?? '').split('_').filter((word) => word !== '');
  return `${parts.join('.')}.v1.${words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`).join('')}Service`;
}

function commandService(serviceName: string): DescService {
  const dot = serviceName.lastIndexOf('.');
  const common = (name: string): string => `.${file_platform_common_v1_common.proto.package}.${name}`;
  const packageName = serviceName.slice(0, Math.max(0, dot));
  const file = fromJson(FileDescriptorProtoSchema, {
    name: `${packageName.replaceAll('.', '/')}/${serviceName.slice(dot + 1)}.proto`,
    package: packageName,
    syntax: 'proto3',
    dependency: [`${file_platform_common_v1_common.name}.proto`],
    service: [
      {
        name: serviceName.slice(dot + 1),
        method: ['DoCommand', 'GetStatus'].map((name) => ({
          ...{ name, inputType: common(`${name}Request`), outputType: common(`${name}Response`) },
        })),
      },
    ],
  });
  const service = createFileRegistry(file, commonFile).getService(serviceName);
  if (service === undefined)
    throw invalidArgument(`expected the full name of a gRPC service, found ${JSON.stringify(serviceName)}`);
  return service;
}

function commonFile(name: string): DescFile | undefined {
  const all = [file_platform_common_v1_common, ...file_platform_common_v1_common.dependencies];
  return all.find((file) => `${file.name}.proto` === name);
}
