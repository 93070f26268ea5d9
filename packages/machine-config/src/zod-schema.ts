/** The configuration's schema in zod; it refuses unknown keys, and `parse` turns these errors into warnings. */
import { z } from 'zod';
import { triggerEventSchema, triggerNotificationSchema } from './trigger-schema.ts';

const json: z.ZodType = z.json();
const object: z.ZodType<Record<string, unknown>> = z.record(z.string(), json);
/** Editors show its content; nothing checks it. */
const described = (schema: object): z.ZodType => object.meta(schema as Record<string, unknown>);
const notification = described(triggerNotificationSchema);
const list = (item: z.ZodType): z.ZodType => z.array(item).default([]);
const name = z
  .string()
  .min(1)
  .regex(/^[^/\p{Cc}]+$/u, 'a name without "/" and control characters');
const triplet = z.string().regex(/^[^:/]+:[^:/]+:[^:/]+$/, 'a triplet such as core:component:sensor');
const level = z.string().regex(/^(debug|info|warn|warning|error)$/i, 'one of debug, info, warn, error');

/** An object without other keys; `parse` reads the unknown ones from the error. */
const strict = (shape: Record<string, z.ZodType>): z.ZodObject =>
  z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : undefined),
  });

const resource: z.ZodType = strict({
  name,
  api: triplet.optional(),
  namespace: z.string().optional(),
  type: z.string().optional(),
  model: z.string().default(''),
  attributes: object.default({}),
  depends_on: list(z.string().min(1)),
  service_configs: list(strict({ type: z.string().min(1), attributes: object.default({}) })),
  log_configuration: strict({ level }).optional(),
  frame: object.optional(),
  notes: z.string().optional(),
  ui_folder: json.optional(),
  disabled: z.boolean().optional(),
});

export const documentSchema: z.ZodObject = strict({
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
      event: described(triggerEventSchema),
      notifications: z.union([z.array(notification), notification], 'an object or a list of objects').default([]),
      notes: z.string().optional(),
      disabled: z.boolean().optional(),
    }),
  ),
  log: list(strict({ pattern: z.string(), level })),
  maintenance: z
    .strictObject({
      sensor_name: z.string().regex(/^[^:/]+:[^:/]+:[^:/]+\/.+$/, 'a full name such as core:component:sensor/<name>'),
      maintenance_allowed_key: z.string().min(1),
    })
    .optional(),
  data_retention_policy: strict({ days: json.optional() }).optional(),
  network: object.optional(),
  auth: object.optional(),
  tracing: object.optional(),
  debug: z.boolean().default(false),
  disable_log_deduplication: z.boolean().default(false),
  enable_web_profile: z.boolean().optional(),
  disable_partial_start: z.boolean().optional(),
  revision: z.string().optional(),
});
