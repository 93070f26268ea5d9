/** Reads the data manager's attributes and capture methods with the specification's defaults; every fault is a problem, not a throw. */
import { captureMethodFields, dataManagerFields, type Field } from './fields.ts';
import type { JsonObject, Problem, ResourceConfig } from './schema.ts';

export interface DataManagerAttributes {
  readonly capture_disabled: boolean;
  /** Absent: `<PLATFORM_HOME>/capture`. */
  readonly capture_dir: string | undefined;
  readonly tags: readonly string[];
  readonly sync_disabled: boolean;
  readonly additional_sync_paths: readonly string[];
  readonly sync_interval_mins: number;
  readonly selective_syncer_name: string | undefined;
  readonly delete_every_nth_when_disk_full: number;
  /** Absent or 0: half the number of CPUs, at least 1. */
  readonly maximum_num_sync_threads: number | undefined;
  readonly maximum_capture_file_size_bytes: number;
  readonly file_last_modified_millis: number;
  readonly disk_usage_deletion_threshold: number;
  readonly capture_dir_deletion_threshold: number;
}

export interface CaptureMethodConfig {
  /** Full name of the resource, where it is not the one that the entry stands in. */
  readonly name: string | undefined;
  readonly method: string;
  readonly capture_frequency_hz: number;
  readonly additional_params: JsonObject;
  readonly disabled: boolean;
  readonly tags: readonly string[];
  readonly capture_directory: string | undefined;
  readonly capture_queue_size: number;
  readonly capture_buffer_size: number;
}

/** A sync interval below this means the default. */
const leastSyncIntervalMins = 0.0001;

export function readDataManagerAttributes(
  attributes: JsonObject,
  path: string,
): { attributes: DataManagerAttributes; problems: Problem[] } {
  const problems: Problem[] = [];
  const values = readFields(dataManagerFields, attributes, path, problems) as unknown as DataManagerAttributes;
  if (values.sync_interval_mins >= leastSyncIntervalMins) return { attributes: values, problems };
  const message = `${values.sync_interval_mins} minutes are below ${leastSyncIntervalMins}: 0.1 is used`;
  problems.push({ path: `${path}.sync_interval_mins`, level: 'warning', message });
  return { attributes: { ...values, sync_interval_mins: 0.1 }, problems };
}

/** The capture methods of a resource's `service_configs`. Entries without a method or frequency are left out and named. */
export function readCaptureMethods(
  resource: Pick<ResourceConfig, 'service_configs'>,
  path: string,
): { methods: CaptureMethodConfig[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const methods: CaptureMethodConfig[] = [];
  resource.service_configs.forEach((service, serviceIndex) => {
    const list = service.type.endsWith('data_manager') ? service.attributes['capture_methods'] : undefined;
    if (!Array.isArray(list)) return;
    list.forEach((entry, index) => {
      const at = `${path}.service_configs[${serviceIndex}].attributes.capture_methods[${index}]`;
      const method = readCaptureMethod(entry, at, problems);
      if (method !== undefined) methods.push(method);
    });
  });
  return { methods, problems };
}

function readCaptureMethod(entry: unknown, at: string, problems: Problem[]): CaptureMethodConfig | undefined {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    problems.push({ path: at, level: 'error', message: `expected an object, found ${JSON.stringify(entry)}` });
    return undefined;
  }
  const values = readFields(captureMethodFields, entry as JsonObject, at, problems);
  const { method, capture_frequency_hz: hz, disabled } = values;
  if (typeof method !== 'string' || method === '') {
    problems.push({
      path: `${at}.method`,
      level: 'error',
      message: 'expected the name of a capture method, found none',
    });
    return undefined;
  }
  if (disabled !== true && !(typeof hz === 'number' && hz >= 1e-6)) {
    const message = `a frequency of ${hz ?? 'nothing'}: not captured. Expected hertz above 0`;
    problems.push({ path: `${at}.capture_frequency_hz`, level: 'warning', message });
  }
  return {
    ...(values as unknown as CaptureMethodConfig),
    capture_frequency_hz: typeof hz === 'number' ? hz : 0,
    additional_params: (values['additional_params'] ?? {}) as JsonObject,
  };
}

/** The fields of `from` with defaults; a value that does not fit is a problem and yields to the default. */
function readFields(
  fields: Readonly<Record<string, Field>>,
  from: JsonObject,
  path: string,
  problems: Problem[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fields)) {
    const value = from[key];
    const fallback = field.kind === 'strings' ? [] : 'default' in field ? field.default : undefined;
    const fault = value === undefined || value === null ? undefined : faultOf(field, value);
    if (fault !== undefined) problems.push({ path: `${path}.${key}`, level: 'error', message: fault });
    values[key] = value === undefined || value === null || fault !== undefined ? fallback : value;
  }
  return values;
}

function faultOf(field: Field, value: unknown): string | undefined {
  const found = `found ${JSON.stringify(value)}`;
  switch (field.kind) {
    case 'bool':
      return typeof value === 'boolean' ? undefined : `expected true or false, ${found}`;
    case 'string':
      return typeof value === 'string' ? undefined : `expected a string, ${found}`;
    case 'strings':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
        ? undefined
        : `expected a list of strings, ${found}`;
    case 'objects':
      return Array.isArray(value) ? undefined : `expected a list, ${found}`;
    case 'object':
      return typeof value === 'object' && !Array.isArray(value) ? undefined : `expected an object, ${found}`;
    default: {
      const { kind, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = field;
      if (typeof value !== 'number' || !Number.isFinite(value) || (kind === 'int' && !Number.isInteger(value))) {
        return `expected a ${kind === 'int' ? 'whole ' : ''}number, ${found}`;
      }
      return value < min || value > max ? `expected a number from ${min} to ${max}, ${found}` : undefined;
    }
  }
}
