import { PlatformError } from '@platform/base';
import type { Graph } from '../graph/graph.ts';
import { isSensor, type Readings } from '../graph/resource.ts';
import type { CapturePlan } from './plan-capture.ts';

/** How each capture method is read: `Readings` as `{readings: {…}}`, `DoCommand` as its result. */
export function readDocument(graph: Graph): (plan: CapturePlan) => Readings | Promise<Readings> {
  return (plan) => {
    const found = graph.get(plan.resource);
    if (found === undefined) throw new PlatformError('unavailable', `${plan.resource} is not there`);
    if (!isSensor(found)) throw new PlatformError('unimplemented', `${plan.resource} cannot be captured`);
    if (plan.method === 'Readings') {
      const result = found.readings({ ...plan.params, fromDataManagement: true });
      return result instanceof Promise ? result.then((readings) => ({ readings })) : { readings: result };
    }
    if (plan.method === 'DoCommand') {
      const command = plan.params['docommand_input'];
      if (typeof command !== 'object' || command === null || Array.isArray(command)) {
        throw new PlatformError(
          'invalid_argument',
          'DoCommand is captured with an object in additional_params.docommand_input',
        );
      }
      return found.doCommand(command as Readings);
    }
    throw new PlatformError('unimplemented', `${plan.method} of ${plan.resource} cannot be captured yet`);
  };
}
