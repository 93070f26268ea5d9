/** The methods of types that only modules of a machine know; the machine describes them. */
import type { DescService } from '@bufbuild/protobuf';
import { type CodeName, PlatformError } from '@platform/base/portable';
import { commandType, reflectService } from '@platform/resources';
import { type MachineMethod, machineMethods, methodsOfType } from './machine-methods.ts';
import type { Machine } from './open-machine.ts';

const triplet = /^[\w-]+:[\w-]+:[\w-]+$/;
const fullName = /^([A-Za-z_]\w*\.)+[A-Za-z_]\w*$/;
/** Services of the cloud and of built-in types, which a machine must not present as its own. */
const reserved = /^(platform|viam|proto|grpc|google)\./;
const maxTypes = 100;

/** After these errors, the type still has the methods that all types have. */
const undescribed: ReadonlySet<CodeName> = new Set([
  ...(['not_found', 'failed_precondition', 'resource_exhausted', 'unimplemented'] as const),
]);

/**
 * Methods for `callMethod`, like `machineMethods`. Their names begin with the last part of the type (`widget.Spin` of
 * `acme:component:widget`), or with the whole type if another type has the same last part.
 */
export async function moduleMethods(machine: Pick<Machine, 'robot' | 'client'>): Promise<MachineMethod[]> {
  const { resourceRpcSubtypes } = await machine.robot.resourceRPCSubtypes({});
  const known = new Set(machineMethods.map(({ api }) => api));
  const types = resourceRpcSubtypes
    .map(({ subtype, protoService }) => ({
      ...{ api: `${subtype?.namespace}:${subtype?.type}:${subtype?.subtype}`, serviceName: protoService },
    }))
    .filter(({ api, serviceName }) => !known.has(api) && triplet.test(api) && fullName.test(serviceName))
    .filter(({ serviceName }) => !reserved.test(serviceName))
    .slice(0, maxTypes);
  const lastPart = (api: string): string => api.slice(api.lastIndexOf(':') + 1);
  const taken = [...machineMethods.map(({ name }) => name.split('.', 1)[0]), ...types.map(({ api }) => lastPart(api))];
  const all = types.map(async ({ api, serviceName }) => {
    const short = lastPart(api);
    const isUnique = taken.filter((name) => name === short).length === 1;
    return methodsOfType({ api, service: await serviceOf(machine, api, serviceName) }, isUnique ? short : api);
  });
  return (await Promise.all(all)).flat();
}

async function serviceOf(machine: Pick<Machine, 'client'>, api: string, serviceName: string): Promise<DescService> {
  try {
    return await reflectService(machine, serviceName);
  } catch (caught) {
    if (!(caught instanceof PlatformError) || !undescribed.has(caught.code)) throw caught;
    return commandType(api, serviceName).service;
  }
}
