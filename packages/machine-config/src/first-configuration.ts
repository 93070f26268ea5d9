/**
 * The configuration with which a new machine starts, and what keeps a configuration from yielding readings. For the web UI as well, which is
 * built without other packages.
 */
import { dataManagerApi, dataManagerEntry } from './data-manager-entry.ts';
import type { JsonObject } from './schema.ts';

export { dataManagerEntry };

/** Telemetry of the machine's computer once a second, so that a first reading arrives. */
export const firstConfiguration: JsonObject = {
  components: [
    {
      name: 'host',
      api: 'core:component:sensor',
      model: 'core:builtin:host-telemetry',
      attributes: {},
      service_configs: [
        { type: 'data_manager', attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 1 }] } },
      ],
    },
  ],
  services: [{ ...dataManagerEntry, attributes: { sync_interval_mins: 1 / 60 } }],
};

/** Why a configuration yields no readings in the cloud. */
export type CaptureGap = 'nothing captured' | 'no data manager' | 'capture disabled' | 'sync disabled';

/** Each as it is told, with what to change. */
export const captureGapTexts: Readonly<Record<CaptureGap, string>> = {
  'nothing captured': 'the configuration captures nothing: add a sensor, and turn on its capture',
  'no data manager':
    'the configuration captures without a data manager, so nothing is captured: add the service data_manager',
  'capture disabled': 'capture is off: the data manager has capture_disabled',
  'sync disabled': 'sync is off: the data manager has sync_disabled, so readings stay on the machine',
};

/**
 * The first obstacle on the way from a reading to the cloud; undefined: there is none.
 * @param document the effective document (fragments resolved) as decoded JSON, of any shape; never throws
 */
export function captureGap(document: unknown): CaptureGap | undefined {
  const services = enabledIn(document, 'services');
  const managers = services.filter(isDataManager);
  const isSet = (key: string): boolean => managers.some(({ attributes }) => objectOf(attributes)[key] === true);
  if (isSet('capture_disabled')) return 'capture disabled';
  if (![...enabledIn(document, 'components'), ...services].some(captures)) return 'nothing captured';
  if (managers.length === 0) return 'no data manager';
  return isSet('sync_disabled') ? 'sync disabled' : undefined;
}

/** Whether a document has the data manager, also if it is disabled. */
export function hasDataManager(document: unknown): boolean {
  return listOf(objectOf(document)['services']).some(isDataManager);
}

/**
 * Whether a part gets the first configuration when it is connected: it has none of its own, and fragments capture nothing either.
 * @param version the newest saved one; 0: none
 */
export function needsFirstConfiguration(version: bigint, effectiveDocument: unknown): boolean {
  return version === 0n && captureGap(effectiveDocument) === 'nothing captured';
}

type Entry = Readonly<Record<string, unknown>>;

/** Older spellings give the type alone, or the namespace `rdk`. */
function isDataManager({ api, type }: Entry): boolean {
  const given = typeof api === 'string' && api !== '' ? api : type;
  return given === 'data_manager' || String(given).replace(/^rdk:/, 'core:') === dataManagerApi;
}

function captures(entry: Entry): boolean {
  return listOf(entry['service_configs']).some(
    ({ type, attributes }) =>
      /(^|:)data_manager$/.test(String(type)) &&
      listOf(objectOf(attributes)['capture_methods']).some(
        ({ method, capture_frequency_hz: hz, disabled }) =>
          typeof method === 'string' && typeof hz === 'number' && hz > 0 && disabled !== true,
      ),
  );
}

function enabledIn(document: unknown, key: 'components' | 'services'): readonly Entry[] {
  return listOf(objectOf(document)[key]).filter(({ disabled }) => disabled !== true);
}

function objectOf(value: unknown): Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : {};
}

function listOf(value: unknown): readonly Entry[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}
