/** A machine behind a cloud: its resources are called through the cloud, wherever the machine is. */
import { type DescService, getOption } from '@bufbuild/protobuf';
import { systemClock } from '@platform/base';
import { safety_heartbeat_monitored } from '@platform/proto/platform/common/v1/common';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { Resource, ResourceDescriptor } from '@platform/resources';
import { createProxy } from '@platform/resources/proxy';
import { formatResourceName } from '@platform/resources/resource-name';
import type { Client, Link } from '@platform/rpc/client';
import { createSession } from './session.ts';

export interface MachineOptions {
  /** False: movements continue when this program ends. Default true. */
  readonly session?: boolean;
}

export interface Machine extends Disposable {
  /** The machine itself: lists its resources, returns its status, stops everything. */
  readonly robot: Client<typeof RobotService>;
  /** Full names of its resources, such as `core:component:motor/left`. */
  resourceNames(): Promise<string[]>;
  /** A resource with the interface of its type: `machine.resource(motor, 'left')`. Errors have the code of the machine. */
  resource<T extends Resource, S extends DescService>(type: ResourceDescriptor<T, S>, name: string): Omit<T, 'close'>;
  /** A client of any service of the machine; requests name the resource. */
  client<S extends DescService>(service: S): Client<S>;
}

/** @param link to the cloud. @param partId of the computer that runs the machine-server */
export function openMachine(link: Link, partId: string, { session: hasSession = true }: MachineOptions = {}): Machine {
  const toPart = { 'platform-part': partId };
  const plain = link.withHeaders(async () => toPart);
  const session = createSession(plain, systemClock);
  const connection = hasSession
    ? link.withHeaders(async (method) => {
        const id = getOption(method, safety_heartbeat_monitored) ? await session.id() : '';
        return id === '' ? toPart : { ...toPart, 'viam-sid': id };
      })
    : plain;
  const robot = connection.client(RobotService);
  return {
    robot,
    async resourceNames() {
      const { resources } = await robot.resourceNames({});
      return resources.map(({ namespace, type, subtype, name }) =>
        formatResourceName({ api: `${namespace}:${type}:${subtype}`, name }),
      );
    },
    resource: (type, name) => createProxy(type, connection, name),
    client: (service) => connection.client(service),
    [Symbol.dispose]: () => session[Symbol.dispose](),
  };
}
