/** Calls to the resources of a machine, by the names of their types: no type needs its own code here. */
import type { JsonObject } from '@bufbuild/protobuf';
import type { ResourceName } from '@platform/proto/platform/common/v1/common';
import { sendMovement } from './motion/send-movement.ts';
import { motionOf } from './motion/sessions.svelte.ts';
import type { MachineCallInit } from './path/machine-paths.ts';
import { callMachine } from './path/open-paths.svelte.ts';

/** Components whose readings are shown. */
const readable: ReadonlySet<string> = new Set(['sensor', 'movement_sensor', 'power_sensor']);

export function hasReadings({ type, subtype }: ResourceName): boolean {
  return type === 'component' && readable.has(subtype);
}

/** Such as `platform.component.movementsensor.v1.MovementSensorService`. */
export function serviceOf({ type, subtype }: ResourceName): string {
  const pascal = subtype.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `platform.${type}.${subtype.replaceAll('_', '')}.v1.${pascal}Service`;
}

/** Calls a method of a resource. @throws Error with the message of cloud or machine */
export function callResource(
  partId: string,
  name: ResourceName,
  method: string,
  fields: object = {},
  init: MachineCallInit = {},
): Promise<JsonObject> {
  return callMachine(partId, `${serviceOf(name)}/${method}`, { name: name.name, ...fields }, init);
}

/** Components that have `Stop`. */
const stoppable: ReadonlySet<string> = new Set(['arm', 'base', 'gantry', 'gripper', 'motor', 'servo']);
/** A stop that takes longer is sent again. */
const stopTimeoutMs = 3_000;

/** Calls a method that may move something: the machine stops that when this tab no longer reaches it. @param held as in `sendMovement` */
export function moveResource(
  partId: string,
  name: ResourceName,
  method: string,
  fields: object,
  held?: AbortSignal,
): Promise<JsonObject | undefined> {
  const { session, over, moved } = motionOf(partId);
  const wanted = held === undefined ? over : AbortSignal.any([held, over]);
  const send = (sessionId: string | undefined): Promise<JsonObject> => {
    if (stoppable.has(name.subtype)) moved.set(fullName(name), () => callStop(partId, name, 'all'));
    const headers: Record<string, string> = sessionId === undefined ? {} : { 'viam-sid': sessionId };
    return callResource(partId, name, method, fields, { headers, signal: over });
  };
  return sendMovement(session, send, wanted);
}

/** @param over `all` where there is no time to try again */
export async function stopResource(partId: string, name: ResourceName, over: 'either' | 'all'): Promise<JsonObject> {
  const answer = await callStop(partId, name, over);
  motionOf(partId).moved.delete(fullName(name));
  return answer;
}

function callStop(partId: string, name: ResourceName, over: 'either' | 'all'): Promise<JsonObject> {
  return callResource(partId, name, 'Stop', {}, { keepalive: true, signal: AbortSignal.timeout(stopTimeoutMs), over });
}

const fullName = ({ type, subtype, name }: ResourceName): string => `${type}:${subtype}/${name}`;

export async function doCommand(partId: string, name: ResourceName, command: object): Promise<unknown> {
  return (await callResource(partId, name, 'DoCommand', { command }))['result'] ?? {};
}
