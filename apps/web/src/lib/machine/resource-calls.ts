/** Calls to the resources of a machine through the cloud, by the names of their types: no type needs its own code here. */
import type { ResourceName } from '@platform/proto/platform/common/v1/common';
import { askWith } from '../api/session.svelte.ts';
import { sendMovement } from './motion/send-movement.ts';
import { sessionWith } from './motion/sessions.svelte.ts';

interface CallInit extends Pick<RequestInit, 'keepalive' | 'signal'> {
  readonly headers?: Readonly<Record<string, string>>;
}

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
  { headers, ...init }: CallInit = {},
): Promise<Record<string, unknown>> {
  const request = { name: name.name, ...fields };
  return callJson(`${serviceOf(name)}/${method}`, request, { 'platform-part': partId, ...headers }, init);
}

/** Calls a method that may move something: the machine stops that when this tab no longer reaches it. @param held as in `sendMovement` */
export function moveResource(
  partId: string,
  name: ResourceName,
  method: string,
  fields: object,
  held?: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const send = (sessionId: string | undefined): Promise<Record<string, unknown>> =>
    callResource(partId, name, method, fields, { headers: sessionId === undefined ? {} : { 'viam-sid': sessionId } });
  return sendMovement(sessionWith(partId), send, held);
}

export async function doCommand(partId: string, name: ResourceName, command: object): Promise<unknown> {
  return (await callResource(partId, name, 'DoCommand', { command }))['result'] ?? {};
}

/**
 * Makes one unary call as JSON (Connect), for services that are known only by name. @param method such as
 * `platform.component.sensor.v1.SensorService/GetReadings` @throws Error with the message of cloud or machine
 */
async function callJson(
  method: string,
  request: object,
  headers: Readonly<Record<string, string>>,
  init: Pick<RequestInit, 'keepalive' | 'signal'> = {},
): Promise<Record<string, unknown>> {
  const answer = await askWith(`/${method}`, request, {
    headers: { 'connect-protocol-version': '1', ...headers },
    ...init,
  });
  return answer.json();
}
