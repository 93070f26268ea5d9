/** The configuration's schema in zod; unknown keys are refused here, and turned into warnings by `parse`. */
import { z } from 'zod';
import { captureMethodFields, dataManagerFields, type Field } from './fields.ts';

const json: z.ZodType = z.json();
export const object: z.ZodType<Record<string, unknown>> = z.record(z.string(), json);
const list = (item: z.ZodType): z.ZodType => z.array(item).default([]);
const name = z
  .string()
  .min(1)
  .regex(/^[^/]+$/, 'a name without "/"');
const triplet = z.string().regex(/^[^:/]+:[^:/]+:[^:/]+$/, 'a triplet such as core:component:sensor');
const level = z.string().regex(/^(debug|info|warn|warning|error)$/i, 'one of debug, info, warn, error');

function zodOf(field: Field): z.ZodType {
  switch (field.kind) {
    case 'bool':
      return z.boolean().optional();
    case 'string':
      return z.string().optional();
    case 'strings':
      return z.array(z.string()).optional();
    case 'object':
      return object.optional();
    case 'objects':
      return z.array(object).optional();
    default: {
      const number = field.kind === 'int' ? z.int() : z.number();
      const above = field.min === undefined ? number : number.min(field.min);
      return (field.max === undefined ? above : above.max(field.max)).optional();
    }
  }
}

const shapeOf = (fields: Readonly<Record<string, Field>>): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, zodOf(field)]));

export const dataManagerAttributes: z.ZodType = z.strictObject({
  ...shapeOf(dataManagerFields),
  docdb_capture_config: z
    .strictObject({ uri: z.string().optional(), database: z.string().optional(), collection: z.string().optional() })
    .optional(),
});

/** `attributes` of a `service_configs` entry of the data manager. */
export const captureAttributes: z.ZodType = z.strictObject({
  capture_methods: z
    .array(
      z.strictObject({
        ...shapeOf(captureMethodFields),
        method: z.string().min(1),
        capture_frequency_hz: z.number().optional(),
        recent_data_store: z.strictObject({ stored_hours: z.number().min(0) }).optional(),
      }),
    )
    .optional(),
  retention_policy: z
    .strictObject({
      days: z.number().optional(),
      binary_limit_gb: z.number().optional(),
      tabular_limit_gb: z.number().optional(),
    })
    .optional(),
});

const resource: z.ZodType = z.strictObject({
  name,
  api: triplet.optional(),
  namespace: z.string().optional(),
  type: z.string().optional(),
  model: z.string().default(''),
  attributes: object.default({}),
  depends_on: list(z.string().min(1)),
  service_configs: list(z.strictObject({ type: z.string().min(1), attributes: object.default({}) })),
  log_configuration: z.strictObject({ level }).optional(),
  frame: object.optional(),
  notes: z.string().optional(),
  ui_folder: json.optional(),
});

export const documentSchema: z.ZodObject = z.strictObject({
  components: list(resource),
  services: list(resource),
  modules: list(object),
  remotes: list(object),
  processes: list(object),
  packages: list(object),
  fragments: list(json),
  fragment_mods: list(object),
  jobs: list(object),
  agent: object.optional(),
  cloud: object.optional(),
  triggers: list(
    z.looseObject({
      name: z.string().min(1),
      event: object,
      notifications: z.union([z.array(object), object]).default([]),
      notes: z.string().optional(),
      disabled: z.boolean().optional(),
    }),
  ),
  log: list(z.strictObject({ pattern: z.string(), level })),
  maintenance: z
    .strictObject({
      sensor_name: z.string().regex(/^[^:/]+:[^:/]+:[^:/]+\/.+$/, 'a full name such as core:component:sensor/<name>'),
      maintenance_allowed_key: z.string().min(1),
    })
    .optional(),
  data_retention_policy: z.strictObject({ days: json }).optional(),
  network: object.optional(),
  auth: object.optional(),
  tracing: object.optional(),
  debug: z.boolean().default(false),
  disable_log_deduplication: z.boolean().default(false),
  enable_web_profile: z.boolean().optional(),
  disable_partial_start: z.boolean().optional(),
  revision: z.string().optional(),
});
