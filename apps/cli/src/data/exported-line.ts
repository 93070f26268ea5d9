/** A reading as a line of JSON: what exports are made of. */
import { type ExportTabularDataResponse, type JsonValue, timestampDate, timestampMs } from '@platform/sdk/cloud';

export interface ExportedLine {
  readonly timeMs: number;
  /** One JSON object, without the line's end. */
  readonly text: string;
}

/** In the order of the columns. */
export const exportedFields: readonly string[] = [
  'time_captured',
  'organization_id',
  'location_id',
  'robot_id',
  'robot_name',
  'part_id',
  'part_name',
  'resource_subtype',
  'resource_name',
  'method_name',
  'method_parameters',
  'tags',
  'payload',
];

export function exportedLine(one: ExportTabularDataResponse): ExportedLine {
  const time = one.timeCaptured;
  const values: readonly JsonValue[] = [
    time === undefined ? null : timestampDate(time).toISOString(),
    one.organizationId,
    one.locationId,
    one.robotId,
    one.robotName,
    one.partId,
    one.partName,
    one.resourceSubtype,
    one.resourceName,
    one.methodName,
    one.methodParameters ?? {},
    one.tags,
    one.payload ?? {},
  ];
  const fields = exportedFields.map((name, at) => `"${name}":${jsonText(values[at] ?? null)}`);
  return { timeMs: time === undefined ? 0 : timestampMs(time), text: `{${fields.join(',')}}` };
}

/** Numbers that JSON does not have are texts, as protobuf spells them. */
export function jsonText(value: JsonValue): string {
  if (typeof value === 'number')
    return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? String(value) : `"${value}"`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  return `{${Object.entries(value)
    .map(([name, field]) => `${JSON.stringify(name)}:${jsonText(field)}`)
    .join(',')}}`;
}

/** What tells readings of one method and one time apart; names may change between two exports. */
export function identityOf(line: string): string {
  const { tags, method_parameters, payload }: Record<string, unknown> = JSON.parse(line);
  return JSON.stringify([tags, method_parameters, payload]);
}
