/** What is attacked: every method that the cloud serves, and those of machines. */
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { resourceTypes } from '@platform/resources';
import { services } from '../access/matrix.ts';

/** Of a machine; also reached through the cloud. */
export const machineServices: readonly DescService[] = [RobotService, ...resourceTypes.map(({ service }) => service)];

/** By `package.Service/Method`. */
export function gatherMethods(
  of: readonly DescService[] = [...services, ...machineServices],
): ReadonlyMap<string, DescMethod> {
  return new Map(
    of.flatMap(({ methods }) => methods).map((method) => [`${method.parent.typeName}/${method.name}`, method]),
  );
}
