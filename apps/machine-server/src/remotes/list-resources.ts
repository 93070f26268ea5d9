/** Asks another machine which resources it has. */
import { asPlatformError, canonicalApi } from '@platform/base';
import {
  type ResourceStatus,
  ResourceStatus_Reachability,
  ResourceStatus_State,
  RobotService,
} from '@platform/proto/platform/robot/v1/robot';
import type { Link } from '@platform/rpc/client';
import type { MachineIds } from '../graph/remote-resource.ts';

export interface ListedResource {
  readonly api: string;
  /** As the other machine calls it; `<its remote>:<name>` if it is behind it. */
  readonly name: string;
  /** Why it cannot be used there; empty if it can. */
  readonly problem: string;
  readonly owner: MachineIds;
}

export interface Listed {
  readonly resources: readonly ListedResource[];
  /** What is left out, and why. */
  readonly omitted: readonly string[];
}

const timeoutMs = 5_000;
export const maxResources = 1_000;
/** Machines between this one and a resource. */
export const maxRemotes = 4;
const part = /^[\w-]{1,60}$/;
const wellNamed = /^[^/\p{Cc}]{1,300}$/u;

/**
 * Without resources of this machine itself, which a remote has that has this machine as its remote: otherwise each would list the other's
 * list for ever.
 *
 * @param ownPartId empty without a cloud
 */
export async function listResources(
  link: Pick<Link, 'client'>,
  ownPartId: string,
  signal: AbortSignal,
): Promise<Listed> {
  const all = await askFor(link, signal);
  const omitted: string[] = [];
  const resources: ListedResource[] = [];
  for (const { name: full, state, error, reachability, cloudMetadata } of all) {
    const { namespace = '', type = '', subtype = '', name = '' } = full ?? {};
    const { primaryOrgId = '', locationId = '', machineId = '', machinePartId = '' } = cloudMetadata ?? {};
    if (ownPartId !== '' && machinePartId === ownPartId) continue;
    if (![namespace, type, subtype].every((each) => part.test(each)) || !wellNamed.test(name)) {
      omitted.push(`${JSON.stringify(name).slice(0, 100)}: its name is no name of a resource`);
    } else if (name.split(':').length > maxRemotes) {
      omitted.push(`${name}: it is behind more than ${maxRemotes} remotes`);
    } else if (resources.length === maxResources) {
      omitted.push(`${name}: it has more than ${maxResources} resources`);
      break;
    } else {
      const problem = problemOf(state, error, reachability);
      const owner = { primaryOrgId, locationId, machineId, machinePartId };
      resources.push({ api: canonicalApi(`${namespace}:${type}:${subtype}`), name, problem, owner });
    }
  }
  return { resources, omitted };
}

type Asked = Pick<ResourceStatus, 'name' | 'state' | 'error' | 'reachability' | 'cloudMetadata'>;

/** Machine-servers without status list only what is ready. */
async function askFor(link: Pick<Link, 'client'>, signal: AbortSignal): Promise<readonly Asked[]> {
  const robot = link.client(RobotService);
  try {
    return (await robot.getMachineStatus({}, { timeoutMs, signal })).resources;
  } catch (caught) {
    if (asPlatformError(caught).code !== 'unimplemented') throw caught;
    const { resources } = await robot.resourceNames({}, { timeoutMs, signal });
    const state = ResourceStatus_State.READY;
    return resources.map((name) => ({
      ...{ name, state, error: '', reachability: ResourceStatus_Reachability.REACHABLE },
    }));
  }
}

const words: Readonly<Partial<Record<ResourceStatus_State, string>>> = {
  [ResourceStatus_State.CONFIGURING]: 'configuring',
  [ResourceStatus_State.REMOVING]: 'being removed',
  [ResourceStatus_State.UNHEALTHY]: 'unhealthy',
};

function problemOf(state: ResourceStatus_State, error: string, reachability: ResourceStatus_Reachability): string {
  if (reachability === ResourceStatus_Reachability.REMOTE_DISCONNECTED)
    return error || 'the remote behind it is disconnected';
  if (state === ResourceStatus_State.READY) return '';
  const word = words[state] ?? 'not ready';
  return error === '' ? `it is ${word}` : `it is ${word}: ${error}`;
}
