/**
 * Reads the data manager's attributes and capture methods with the specification's defaults; faults are reported as problems, never thrown.
 */
import type { Problem } from '@platform/base';
import { isForService } from './canonical-names.ts';
import { requiredParamOf } from './capture-methods.ts';
import { dataManagerApi } from './data-manager-entry.ts';
import { captureFields, captureMethodFields, dataManagerFields } from './fields.ts';
import { formatValue } from './format-value.ts';
import { readFields } from './read-fields.ts';
import type { JsonObject, ResourceConfig } from './schema.ts';

export { dataManagerApi };

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
  readonly docdb_capture_config: JsonObject | undefined;
  readonly maximum_capture_file_size_bytes: number;
  readonly file_last_modified_millis: number;
  readonly disk_usage_deletion_threshold: number;
  readonly capture_dir_deletion_threshold: number;
  /** `oldest_first` or `newest_first`. */
  readonly sync_order: string;
  readonly sync_priorities: JsonObject | undefined;
  /** 0: no limit. */
  readonly sync_max_bytes_per_second: number;
  readonly sync_rules: JsonObject | undefined;
  /** `delete`, `keep` or `move`. */
  readonly additional_sync_action: string;
  readonly additional_sync_move_to: string | undefined;
}

export interface CaptureMethodConfig {
  /** Full name of the resource, if it is not the one that contains the entry. */
  readonly name: string | undefined;
  readonly method: string;
  readonly capture_frequency_hz: number;
  readonly additional_params: JsonObject;
  readonly disabled: boolean;
  readonly tags: readonly string[];
  readonly capture_directory: string | undefined;
  readonly capture_queue_size: number | undefined;
  readonly capture_buffer_size: number;
  /** For the cloud; the machine does not process it. */
  readonly recent_data_store?: JsonObject | undefined;
}

/** For a shorter sync interval, the default is used. */
const leastSyncIntervalMins = 0.0001;
/** A lower frequency captures nothing: it is less than one reading in eleven days. */
const leastHz = 1e-6;

/** @returns also the valid attributes, without defaults. */
export function readDataManagerAttributes(
  attributes: JsonObject,
  path: string,
): { attributes: DataManagerAttributes; kept: JsonObject; problems: Problem[] } {
  const problems: Problem[] = [];
  const { capture_methods: misplaced, ...own } = attributes;
  if (misplaced !== undefined)
    problems.push({
      path: `${path}.capture_methods`,
      level: 'warning',
      message:
        'expected capture_methods in service_configs of the resource that is captured, found them in the data manager: this key has no effect',
    });
  const { values: read, kept } = readFields(dataManagerFields, own, path, problems);
  const values = read as unknown as DataManagerAttributes;
  if (values.sync_interval_mins >= leastSyncIntervalMins) return { attributes: values, kept, problems };
  const message = `expected at least ${leastSyncIntervalMins} minutes, found ${values.sync_interval_mins}: 0.1 is used instead`;
  problems.push({ path: `${path}.sync_interval_mins`, level: 'warning', message });
  return { attributes: { ...values, sync_interval_mins: 0.1 }, kept, problems };
}

/** The capture methods of a resource's `service_configs`. Entries without a method or frequency are omitted and reported. */
export function readCaptureMethods(
  resource: Pick<ResourceConfig, 'service_configs'>,
  path: string,
): { methods: CaptureMethodConfig[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const methods: CaptureMethodConfig[] = [];
  resource.service_configs.forEach((service, index) => {
    if (!isForService(service.type, dataManagerApi)) return;
    const at = `${path}.service_configs[${index}].attributes`;
    for (const { method } of readCaptureAttributes(service.attributes, at, problems).methods) methods.push(method);
  });
  return { methods, problems };
}

export interface CaptureAttributes {
  readonly methods: readonly { readonly method: CaptureMethodConfig; readonly path: string }[];
  /** The valid attributes, without defaults. */
  readonly kept: JsonObject;
}

/** The `attributes` of a `service_configs` entry of the data manager. */
export function readCaptureAttributes(attributes: JsonObject, path: string, problems: Problem[]): CaptureAttributes {
  const { kept } = readFields(captureFields, attributes, path, problems);
  const { capture_methods: list } = kept;
  if (!Array.isArray(list)) return { methods: [], kept };
  const read = list.flatMap((entry, index) => {
    const at = `${path}.capture_methods[${index}]`;
    const found = readCaptureMethod(entry, at, problems);
    return found === undefined ? [] : [{ ...found, path: at }];
  });
  return { methods: read, kept: { ...kept, capture_methods: read.map((each) => each.kept) } };
}

function readCaptureMethod(
  entry: unknown,
  at: string,
  problems: Problem[],
): { method: CaptureMethodConfig; kept: JsonObject } | undefined {
  const wrong = (path: string, expected: string, found: unknown): undefined => {
    problems.push({ path, level: 'error', message: `expected ${expected}, found ${formatValue(found)}` });
    return undefined;
  };
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return wrong(at, 'an object', entry);
  const given = entry as JsonObject;
  const { values, kept } = readFields(captureMethodFields, given, at, problems);
  const { method, capture_frequency_hz: hz, disabled } = values;
  if (given['method'] === undefined || given['method'] === null || method === '')
    wrong(`${at}.method`, 'the name of a capture method', given['method']);
  if (given['capture_frequency_hz'] === undefined || given['capture_frequency_hz'] === null)
    wrong(`${at}.capture_frequency_hz`, 'hertz (0.5 is one reading in 2 seconds)', given['capture_frequency_hz']);
  if (typeof method !== 'string' || method === '' || typeof hz !== 'number') return undefined;
  if (disabled !== true && hz < leastHz) {
    const message = `expected hertz above 0, found ${hz}: nothing is captured`;
    problems.push({ path: `${at}.capture_frequency_hz`, level: 'warning', message });
  }
  const params = (values['additional_params'] ?? {}) as JsonObject;
  const needed = requiredParamOf(method);
  if (needed !== undefined && !needed.isGiven(params[needed.name]))
    return wrong(`${at}.additional_params.${needed.name}`, needed.expected, params[needed.name]);
  return { method: { ...(values as unknown as CaptureMethodConfig), additional_params: params }, kept };
}
