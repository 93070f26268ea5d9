/**
 * The contents of a machine's configuration, as types and as JSON Schema, without zod: for browser, micro and machine-server. Keys are
 * exactly those of the document. `parse` turns a document into these types; nothing here checks anything.
 */
import jsonSchema from './machine-config.schema.json' with { type: 'json' };

export { type AttributeSchema, builtInSchemas } from './built-in-attributes.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** JSON Schema (2020-12) of a configuration document. Generated from the zod schema; a test keeps it in step. */
export const machineConfigJsonSchema: JsonObject = jsonSchema as JsonObject;

export interface MachineConfig {
  readonly components: readonly ResourceConfig[];
  readonly services: readonly ResourceConfig[];
  readonly modules: readonly JsonObject[];
  readonly remotes: readonly JsonObject[];
  readonly processes: readonly JsonObject[];
  readonly packages: readonly JsonObject[];
  readonly fragments: readonly Json[];
  readonly jobs: readonly JsonObject[];
  readonly triggers: readonly TriggerConfig[];
  readonly log: readonly LogPattern[];
  readonly maintenance?: MaintenanceConfig | undefined;
  readonly data_retention_policy?: { readonly days: number } | undefined;
  readonly network?: JsonObject | undefined;
  readonly auth?: JsonObject | undefined;
  readonly tracing?: JsonObject | undefined;
  readonly debug: boolean;
  readonly disable_log_deduplication: boolean;
  readonly enable_web_profile?: boolean | undefined;
  readonly disable_partial_start?: boolean | undefined;
}

/** A component or a service. */
export interface ResourceConfig {
  readonly name: string;
  /** For example `core:component:sensor`. */
  readonly api: string;
  /** For example `core:builtin:fake`. */
  readonly model: string;
  readonly attributes: JsonObject;
  /** Short or full names of resources that must be ready first. */
  readonly depends_on: readonly string[];
  readonly service_configs: readonly ServiceConfig[];
  readonly log_configuration?: { readonly level: string } | undefined;
  readonly frame?: JsonObject | undefined;
  readonly notes?: string | undefined;
}

/** A service's settings for the resource that contains them; for the data manager: `capture_methods`, `retention_policy`. */
export interface ServiceConfig {
  readonly type: string;
  readonly attributes: JsonObject;
}

/** Only the shape; the cloud's trigger feature reads the event. */
export interface TriggerConfig {
  readonly name: string;
  readonly event: JsonObject;
  readonly notifications: JsonObject | readonly JsonObject[];
  readonly notes?: string | undefined;
  readonly disabled?: boolean | undefined;
}

export interface LogPattern {
  readonly pattern: string;
  readonly level: string;
}

export interface MaintenanceConfig {
  /** Full name: `core:component:sensor/<name>`. */
  readonly sensor_name: string;
  readonly maintenance_allowed_key: string;
}
