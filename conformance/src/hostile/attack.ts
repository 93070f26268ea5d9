import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { resourceTypes } from '@platform/resources';
import { services } from '../access/matrix.ts';

/** One hostile request. */
export interface Attack {
  readonly url: string;
  /** `package.Service/Method` */
  readonly method: string;
  /** Absent: that of the method. */
  readonly path?: string;
  /** A name of `shapes`, or of `jsonShapes` for codecs in JSON. */
  readonly shape: string;
  /** A name of `codecs`. */
  readonly codec: string;
  /** Size of the message before compression. */
  readonly bytes: number;
  /** Credentials, and the part that the call is for. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Services of a machine; also reached through the cloud. */
export const machineServices: readonly DescService[] = [RobotService, ...resourceTypes.map(({ service }) => service)];

/** What is attacked: every method that the cloud serves, and those of machines. By `package.Service/Method`. */
export function gatherMethods(
  of: readonly DescService[] = [...services, ...machineServices],
): ReadonlyMap<string, DescMethod> {
  return new Map(
    of.flatMap(({ methods }) => methods).map((method) => [`${method.parent.typeName}/${method.name}`, method]),
  );
}
