/** Calls to the resources of a machine through the cloud, by the names of their types: no type needs code of its own here. */
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

export async function readingsOf(
  partId: string,
  name: ResourceName,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const answer = await callJson(
    `${serviceOf(name)}/GetReadings`,
    { name: name.name },
    { 'platform-part': partId },
    signal,
  );
  return (answer['readings'] ?? {}) as Record<string, unknown>;
}

export async function doCommand(partId: string, name: ResourceName, command: object): Promise<unknown> {
  const answer = await callJson(
    `${serviceOf(name)}/DoCommand`,
    { name: name.name, command },
    { 'platform-part': partId },
  );
  return answer['result'] ?? {};
}
