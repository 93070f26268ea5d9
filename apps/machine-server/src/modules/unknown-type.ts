/**
 * The descriptor of a type that this version does not know. Its service comes from the module's reflection, so that all of its methods are
 * forwarded; without reflection, a type has only `DoCommand` and `GetStatus`, as every type does.
 */
import type { DescService } from '@bufbuild/protobuf';
import { errorText, type Log } from '@platform/base';
import { commandType, type ResourceDescriptor, reflectService, serviceType } from '@platform/resources';
import type { Link } from '@platform/rpc/client';

/** @param serviceName full name of its service, as we spell it. */
export async function unknownType(
  api: string,
  serviceName: string,
  link: Pick<Link, 'client'>,
  log: Log,
): Promise<ResourceDescriptor> {
  try {
    const described = await reflectService(link, serviceName.replace(/^platform\./, 'viam.'));
    return serviceType({ api, service: named(described, serviceName) });
  } catch (caught) {
    log.info(`${api}: only DoCommand and GetStatus can be called, because the module does not describe its service`, {
      service: serviceName,
      reason: errorText(caught),
    });
    return commandType(api, serviceName);
  }
}

/** The service under the name that we use. */
function named(service: DescService, typeName: string): DescService {
  if (service.typeName === typeName) return service;
  const parent = { ...service, typeName };
  parent.methods = service.methods.map((method) => ({ ...method, parent }));
  parent.method = Object.fromEntries(parent.methods.map((method) => [method.localName, method]));
  return parent;
}
