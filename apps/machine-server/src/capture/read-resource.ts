import { unimplemented } from '@platform/base';
import type { CaptureContext } from '@platform/resources';
import type { Graph } from '../graph/graph.ts';
import type { TypeTable } from '../modules/type-table.ts';
import type { Captured } from './collector.ts';
import type { CapturePlan } from './plan-capture.ts';
import { ResourceMissing } from './resource-missing.ts';

export type ReadResource = (
  plan: CapturePlan,
  context: Omit<CaptureContext, 'worldPose'>,
) => Captured | undefined | Promise<Captured>;

/** Reads a method of a resource as its type defines; undefined while the resource is being built for the first time. */
export function readResource(
  graph: Pick<Graph, 'get' | 'isConfiguring'>,
  types: Pick<TypeTable, 'of'>,
  worldPose: (name: string) => ReturnType<CaptureContext['worldPose']>,
): ReadResource {
  return ({ resource, api, name, method, params }, context) => {
    const found = graph.get(resource);
    if (found === undefined && graph.isConfiguring(resource)) return undefined;
    if (found === undefined) throw new ResourceMissing(resource);
    const type = types.of(api);
    if (type === undefined || !type.implementedBy(found)) throw unimplemented(`${resource} cannot be captured`);
    const capture = type.captures[method];
    if (capture === undefined) throw unimplemented(`${method} of ${resource} cannot be captured`);
    return capture.read(found, params, { ...context, worldPose: () => worldPose(name) });
  };
}
