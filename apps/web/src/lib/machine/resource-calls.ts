/** Calls to the resources of a machine through the cloud, by the names of their types: no type needs its own code here. */
import type { ResourceName } from '@platform/proto/platform/common/v1/common';
import { callJson } from '../api/call-json.ts';

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
  init: Pick<RequestInit, 'keepalive' | 'signal'> = {},
): Promise<Record<string, unknown>> {
  return callJson(`${serviceOf(name)}/${method}`, { name: name.name, ...fields }, { 'platform-part': partId }, init);
}

export async function doCommand(partId: string, name: ResourceName, command: object): Promise<unknown> {
  return (await callResource(partId, name, 'DoCommand', { command }))['result'] ?? {};
}
