/** A reading as a line of JSON, the unit of exports. */
import type { ExportTabularDataResponse, JsonValue } from '@platform/sdk/cloud';

export interface ExportedLine {
  /** Its time, rounded down to the millisecond. */
  readonly timeMs: number;
  /** One JSON object, without the line end. */
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
    time === undefined ? null : timeText(time),
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
  return { timeMs: time === undefined ? 0 : millisecondOf(time), text: `{${fields.join(',')}}` };
}

type Time = NonNullable<ExportTabularDataResponse['timeCaptured']>;

function millisecondOf({ seconds, nanos }: Time): number {
  return Number(seconds) * 1_000 + Math.floor(nanos / 1_000_000);
}

/** Milliseconds, and microseconds where there are some. */
function timeText(time: Time): string {
  const text = new Date(millisecondOf(time)).toISOString();
  const microseconds = Math.floor(time.nanos / 1_000) % 1_000;
  return microseconds === 0 ? text : text.replace('Z', `${String(microseconds).padStart(3, '0')}Z`);
}

/** Numbers that JSON cannot represent become strings, as in protobuf's JSON. */
export function jsonText(value: JsonValue): string {
  if (typeof value === 'number')
    return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? String(value) : `"${value}"`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  return `{${Object.entries(value)
    .map(([name, field]) => `${JSON.stringify(name)}:${jsonText(field)}`)
    .join(',')}}`;
}

/** Distinguishes readings of the same method and time; names may change between two exports. */
export function identityOf(line: string): string {
  const { tags, method_parameters, payload }: Record<string, unknown> = JSON.parse(line);
  return JSON.stringify([tags, method_parameters, payload]);
}
