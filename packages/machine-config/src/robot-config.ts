/**
 * Converts between a configuration and the RobotConfig message that the machine gets. Without zod.
 *
 * Anything without a place in the message stays in the cloud (triggers, retention, fragments, notes). Values that do not fit their field
 * are omitted here; `parse` reports them.
 */
import { createHash } from 'node:crypto';
import { create, type MessageInitShape, type JsonObject as ProtobufJson } from '@bufbuild/protobuf';
import { canonicalApi } from '@platform/base';
import {
  CloudConfigSchema,
  type ComponentConfig,
  ComponentConfigSchema,
  type RobotConfig,
  RobotConfigSchema,
  type ServiceConfig as ServiceConfigMessage,
} from '@platform/proto/platform/app/v1/robot';
import { canonicalJson } from './canonical-json.ts';
import { apiOf, canonicalModel } from './canonical-names.ts';
import { authOf } from './robot/auth.ts';
import { frameInit, frameOf } from './robot/frame.ts';
import { entryOf, type Section } from './robot/section.ts';
import {
  jobSection,
  moduleSection,
  networkSection,
  packageSection,
  processSection,
  remoteSection,
  tracingSection,
} from './robot/sections.ts';
import { sectionsInit } from './robot/sections-init.ts';
import type { JsonObject, MachineConfig, MaintenanceConfig, ResourceConfig } from './schema.ts';

/** The message for a part: its configuration, the `cloud` block from the cloud, and the revision (D10). */
export function toRobotConfig(
  config: MachineConfig,
  cloud: MessageInitShape<typeof CloudConfigSchema>,
  revision: string = revisionOf(config),
): RobotConfig {
  const { maintenance } = config;
  return create(RobotConfigSchema, {
    cloud: create(CloudConfigSchema, cloud),
    components: config.components.map(componentConfigOf),
    services: config.services.map(resourceInit),
    debug: config.debug,
    log: config.log.map(({ pattern, level }) => ({ pattern, level })),
    disableLogDeduplication: config.disable_log_deduplication,
    revision,
    ...sectionsInit(config, []),
    maintenance: maintenance && {
      sensorName: sensorName(maintenance.sensor_name),
      maintenanceAllowedKey: maintenance.maintenance_allowed_key,
    },
  });
}

/** The configuration that reached the machine. Sections that stay in the cloud (triggers, retention) are empty. */
export function fromRobotConfig(message: RobotConfig): MachineConfig {
  const { network, auth, tracing } = message;
  const list = (section: Section, messages: readonly object[]): JsonObject[] =>
    messages.map((each) => entryOf(section, each));
  return {
    components: message.components.map((component) => knownResource(component, 'component')),
    services: message.services.map((service) => knownResource(service, 'service')),
    modules: list(moduleSection, message.modules),
    remotes: list(remoteSection, message.remotes),
    processes: list(processSection, message.processes),
    packages: list(packageSection, message.packages),
    fragments: [],
    jobs: list(jobSection, message.jobs),
    triggers: [],
    log: message.log.map(({ pattern, level }) => ({ pattern, level })),
    maintenance: maintenanceOf(message),
    network: network === undefined ? undefined : entryOf(networkSection, network),
    auth: auth === undefined ? undefined : authOf(auth),
    tracing: tracing === undefined ? undefined : entryOf(tracingSection, tracing),
    debug: message.debug ?? false,
    disable_log_deduplication: message.disableLogDeduplication,
    enable_web_profile: message.enableWebProfile || undefined,
    disable_partial_start: message.disablePartialStart,
  };
}

/** The maintenance window of a configuration; undefined if there is none. */
export function maintenanceOf({ maintenance }: RobotConfig): MaintenanceConfig | undefined {
  if (maintenance?.sensorName === undefined) return undefined;
  const { namespace, type, subtype, name } = maintenance.sensorName;
  const sensor_name = `${namespace}:${type}:${subtype}/${name}`;
  return { sensor_name, maintenance_allowed_key: maintenance.maintenanceAllowedKey };
}

/** The message for a component, or for a service, as modules get it. */
export function componentConfigOf(resource: ResourceConfig): ComponentConfig {
  return create(ComponentConfigSchema, {
    ...resourceInit(resource),
    frame: resource.frame && frameInit(resource.frame, '', []),
  });
}

function resourceInit(resource: ResourceConfig) {
  const [namespace = 'core', , type = ''] = resource.api.split(':');
  return {
    name: resource.name,
    namespace,
    type,
    api: resource.api,
    model: resource.model,
    attributes: resource.attributes as ProtobufJson,
    dependsOn: [...resource.depends_on],
    serviceConfigs: resource.service_configs.map((service) => ({
      type: service.type,
      attributes: service.attributes as ProtobufJson,
    })),
    logConfiguration: resource.log_configuration && { ...resource.log_configuration },
  };
}

/** One for each message, so that a resource that is the same in a new configuration is also the same object. */
const knownResources = new WeakMap<object, ResourceConfig>();

/** The resource of a message, converted once. */
export function knownResource(
  message: ComponentConfig | ServiceConfigMessage,
  kind: 'component' | 'service',
): ResourceConfig {
  const known = knownResources.get(message) ?? resourceOf(message, kind);
  knownResources.set(message, known);
  return known;
}

function resourceOf(message: ComponentConfig | ServiceConfigMessage, kind: 'component' | 'service'): ResourceConfig {
  const { logConfiguration } = message;
  const frame = 'frame' in message ? message.frame : undefined;
  return {
    name: message.name,
    api: apiOf(message, kind) ?? '',
    model: canonicalModel(message.model),
    attributes: (message.attributes ?? {}) as JsonObject,
    depends_on: message.dependsOn.map(canonicalApi),
    service_configs: message.serviceConfigs.map((service) => ({
      type: service.type,
      attributes: (service.attributes ?? {}) as JsonObject,
    })),
    ...(logConfiguration !== undefined && { log_configuration: { level: logConfiguration.level } }),
    ...(frame !== undefined && { frame: frameOf(frame) }),
  };
}

function sensorName(full: string) {
  const slash = full.indexOf('/');
  const [namespace = '', type = '', subtype = ''] = full.slice(0, slash).split(':');
  return { namespace, type, subtype, name: full.slice(slash + 1) };
}

/** The revision of an effective configuration (D10): a hash that does not depend on the order of keys. 32 hexadecimal digits. */
export function revisionOf(config: MachineConfig): string {
  return createHash('sha256').update(canonicalJson(config)).digest('hex').slice(0, 32);
}
