/** A machine: its resources are called by the path that is the best, wherever the machine is. No Node: browsers load this file. */
import { type DescService, getOption } from '@bufbuild/protobuf';
import { type Clock, type PlatformError, systemClock } from '@platform/base/portable';
import { safety_heartbeat_monitored } from '@platform/proto/platform/common/v1/common';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { Resource, ResourceDescriptor } from '@platform/resources';
import { formatResourceName } from '@platform/resources/resource-name';
import type { Client } from '@platform/rpc/portable';
import { createSession, type Path, type PathChange, type Reached, type WantedPath } from '@platform/webrtc/browser';
import { type ResourceClient, resourceClient } from './resource-client.ts';

export interface MachineOptions {
  /** False: movements continue when this program ends. Default true. */
  readonly session?: boolean;
  /**
   * `auto`: through the cloud at once, and over WebRTC as soon as such a connection is open. `relay`: only through the cloud. `webrtc`: only
   * over WebRTC. `direct`: only at the machine's own address.
   */
  readonly path?: WantedPath;
}

export interface Machine extends Disposable, AsyncDisposable {
  /** The machine itself: lists its resources, returns its status, stops everything. */
  readonly robot: Client<typeof RobotService>;
  /** Full names of its resources, such as `core:component:motor/left`. */
  resourceNames(): Promise<string[]>;
  /** A resource with the methods of its type: `machine.resource(motor, 'left')`. Errors have the code of the machine. */
  resource<T extends Resource, S extends DescService>(
    type: ResourceDescriptor<T, S>,
    name: string,
  ): ResourceClient<T, S>;
  /** A client of any service of the machine; requests name the resource. */
  client<S extends DescService>(service: S): Client<S>;
  /** The path of the next call; undefined before the first answer, and while none works. */
  readonly path: Path | undefined;
  /** Why there is no connection over WebRTC; undefined while there is one, or none was tried. */
  readonly webrtcFailure: PlatformError | undefined;
  /** Of the last heartbeat or `measureLatency`, there and back, in milliseconds; undefined before the first on this path. */
  readonly latencyMs: number | undefined;
  /** Makes a small call. @returns milliseconds, there and back */
  measureLatency(): Promise<number>;
  /** Called at each change of the path, until it is disposed. */
  onPath(listener: (change: PathChange) => void): Disposable;
}

/** @param reached disposed with the machine */
export function openMachine(
  reached: Reached,
  { session: hasSession = true }: MachineOptions = {},
  clock: Clock = systemClock,
): Machine {
  const { link, floor } = reached;
  const session = createSession(link, floor, clock);
  const connection = hasSession
    ? link.withHeaders(async (method) => {
        const id = getOption(method, safety_heartbeat_monitored) ? await session.id() : '';
        return id === '' ? {} : { 'viam-sid': id };
      })
    : link;
  const robot = connection.client(RobotService);
  const close = async (): Promise<void> => {
    session[Symbol.dispose]();
    await reached[Symbol.asyncDispose]();
  };
  return {
    robot,
    async resourceNames() {
      const { resources } = await robot.resourceNames({});
      return resources.map(({ namespace, type, subtype, name }) =>
        formatResourceName({ api: `${namespace}:${type}:${subtype}`, name }),
      );
    },
    resource: (type, name) => resourceClient(type, connection, name),
    client: (service) => connection.client(service),
    get path() {
      return reached.path;
    },
    get webrtcFailure() {
      return reached.webrtcFailure;
    },
    get latencyMs() {
      return reached.latencyMs;
    },
    measureLatency: () => reached.measureLatency(),
    onPath: (listener) => reached.onPath(listener),
    [Symbol.dispose]: () => void close(),
    [Symbol.asyncDispose]: close,
  };
}
