/** A reading as a line of JSON, the unit of exports. */
import type { ExportTabularDataResponse, JsonValue } from '@platform/sdk/cloud';
import { presenter } from '../results/presenters.ts';

export interface ExportedLine {
  /** Its time, rounded down to the millisecond. */
  readonly timeMs: number;
  /** One JSON object, without the line end. */
  readonly text: string;
}

const { fields, shape } = presenter<ExportTabularDataResponse>({
  time_captured: (one) => timeText(one.timeCaptured),
  time_requested: (one) => timeText(one.timeRequested),
  time_synced: (one) => timeText(one.timeSynced),
  organization_id: (one) => one.organizationId,
  location_id: (one) => one.locationId,
  robot_id: (one) => one.robotId,
  robot_name: (one) => one.robotName,
  part_id: (one) => one.partId,
  part_name: (one) => one.partName,
  resource_subtype: (one) => one.resourceSubtype,
  resource_name: (one) => one.resourceName,
  method_name: (one) => one.methodName,
  method_parameters: (one) => one.methodParameters ?? {},
  tags: (one) => one.tags,
  payload: (one) => one.payload ?? {},
});

/** Fields that are times. */
export const exportedTimes: readonly string[] = ['time_captured', 'time_requested', 'time_synced'];

/** The field names in the order of the columns. */
export const exportedFields: readonly string[] = fields;

export function exportedLine(one: ExportTabularDataResponse): ExportedLine {
  const time = one.timeCaptured;
  return { timeMs: time === undefined ? 0 : millisecondOf(time), text: jsonText(shape(one)) };
}

type Time = NonNullable<ExportTabularDataResponse['timeCaptured']>;

function millisecondOf({ seconds, nanos }: Time): number {
  return Number(seconds) * 1_000 + Math.floor(nanos / 1_000_000);
}

/** Milliseconds, plus microseconds if there are any; null: the sender omitted the time. */
function timeText(time: Time | undefined): string | null {
  if (time === undefined) return null;
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
