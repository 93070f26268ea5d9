/** The paths to the machines whose Control page is open; other pages call machines through the cloud. */
import type { JsonObject } from '@bufbuild/protobuf';
import { systemClock } from '@platform/base/clock';
import { clientOf } from '../../api/clients.ts';
import { cloudWay } from './cloud-way.ts';
import { createMachinePaths, type MachineCallInit, type MachinePaths, type PathState } from './machine-paths.ts';

const open = new Map<string, MachinePaths>();

/**
 * Call it while a component is being created; the paths are closed when it is destroyed.
 *
 * @param host full name of the part
 */
export function openPaths(
  partId: () => string,
  host: () => string,
  random: () => number = Math.random,
): { readonly state: PathState } {
  const before: PathState = { path: 'connecting', latencyMs: undefined, answeredMs: undefined };
  let state = $state.raw(before);
  // Only other values open other paths: what they come from changes with each status of the machine.
  const id = $derived(partId());
  const name = $derived(host());
  $effect(() => {
    const [part, fullName] = [id, name];
    if (part === '') return undefined;
    const paths = createMachinePaths({
      cloud: cloudWay(part),
      dial: async (signal) => (await import('./direct-way.ts')).dialDirect(fullName, clientOf, signal),
      clock: systemClock,
      random,
      isHidden: () => document.hidden,
      changed: () => {
        state = paths.state;
      },
    });
    open.set(part, paths);
    const { look } = paths;
    for (const event of ['online', 'offline']) window.addEventListener(event, look);
    return () => {
      for (const event of ['online', 'offline']) window.removeEventListener(event, look);
      if (open.get(part) === paths) open.delete(part);
      paths[Symbol.dispose]();
      state = before;
    };
  });
  return {
    get state() {
      return state;
    },
  };
}

/** Undefined: its Control page is not open. */
export function pathsTo(partId: string): Pick<MachinePaths, 'markLost'> | undefined {
  return open.get(partId);
}

/** Makes one unary call as JSON. @param method such as `platform.robot.v1.RobotService/StopAll` @throws as `Way.call` */
export function callMachine(
  partId: string,
  method: string,
  request: JsonObject,
  { over, ...init }: MachineCallInit = {},
): Promise<JsonObject> {
  const paths = open.get(partId);
  return paths === undefined
    ? cloudWay(partId).call(method, request, init)
    : paths.call(method, request, { ...init, ...(over !== undefined && { over }) });
}
