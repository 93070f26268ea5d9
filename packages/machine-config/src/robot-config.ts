/** A configuration as the machine gets it: the RobotConfig message, both ways. Without zod. */
import { create, type MessageInitShape, type JsonObject as ProtobufJson, toJson } from '@bufbuild/protobuf';
import {
  AuthConfigSchema,
  CloudConfigSchema,
  type ComponentConfig,
  CredentialsType,
  type RobotConfig,
  RobotConfigSchema,
  type ServiceConfig as ServiceConfigMessage,
} from '@platform/proto/platform/app/v1/robot';
import { revisionOf } from './revision.ts';
import type { JsonObject, MachineConfig, ResourceConfig } from './schema.ts';

export { revisionOf } from './revision.ts';

/** The message for a part: its configuration, the `cloud` block that the cloud knows, and the revision (D10). */
export function toRobotConfig(config: MachineConfig, cloud: MessageInitShape<typeof CloudConfigSchema>): RobotConfig {
  const bindAddress = config.network?.['bind_address'];
  const auth = config.auth === undefined ? {} : { auth: authOf(config.auth) };
  const maintenance = config.maintenance;
  return create(RobotConfigSchema, {
    cloud: create(CloudConfigSchema, cloud),
    components: config.components.map(resourceInit),
    services: config.services.map(resourceInit),
    debug: config.debug,
    log: config.log.map(({ pattern, level }) => ({ pattern, level })),
    disableLogDeduplication: config.disable_log_deduplication,
    revision: revisionOf(config),
    ...auth,
    ...(typeof bindAddress === 'string' ? { network: { bindAddress } } : {}),
    ...(maintenance === undefined
      ? {}
      : {
          maintenance: {
            sensorName: sensorName(maintenance.sensor_name),
            maintenanceAllowedKey: maintenance.maintenance_allowed_key,
          },
        }),
  });
}

/** What of the configuration reached the machine. Sections that stay in the cloud (triggers, retention) are empty. */
export function fromRobotConfig(message: RobotConfig): MachineConfig {
  const { maintenance } = message;
  return {
    components: message.components.map((component) => resourceOf(component, 'component')),
    services: message.services.map((service) => resourceOf(service, 'service')),
    modules: [],
    remotes: [],
    processes: [],
    packages: [],
    fragments: [],
    jobs: [],
    triggers: [],
    log: message.log.map(({ pattern, level }) => ({ pattern, level })),
    maintenance:
      maintenance?.sensorName === undefined
        ? undefined
        : {
            sensor_name: `${maintenance.sensorName.namespace}:${maintenance.sensorName.type}:${maintenance.sensorName.subtype}/${maintenance.sensorName.name}`,
            maintenance_allowed_key: maintenance.maintenanceAllowedKey,
          },
    auth: message.auth === undefined ? undefined : (toJson(AuthConfigSchema, message.auth) as JsonObject),
    debug: message.debug ?? false,
    disable_log_deduplication: message.disableLogDeduplication,
  };
}

interface ResourceInit {
  name: string;
  namespace: string;
  type: string;
  api: string;
  model: string;
  attributes: ProtobufJson;
  dependsOn: string[];
  serviceConfigs: { type: string; attributes: ProtobufJson }[];
  logConfiguration?: { level: string };
}

function resourceInit(resource: ResourceConfig): ResourceInit {
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
    ...(resource.log_configuration === undefined ? {} : { logConfiguration: { ...resource.log_configuration } }),
  };
}

function resourceOf(message: ComponentConfig | ServiceConfigMessage, kind: 'component' | 'service'): ResourceConfig {
  const { logConfiguration } = message;
  return {
    name: message.name,
    api: message.api === '' ? `${message.namespace || 'core'}:${kind}:${message.type}` : message.api,
    model: message.model,
    attributes: (message.attributes ?? {}) as JsonObject,
    depends_on: message.dependsOn,
    service_configs: message.serviceConfigs.map((service) => ({
      type: service.type,
      attributes: (service.attributes ?? {}) as JsonObject,
    })),
    log_configuration: logConfiguration === undefined ? undefined : { level: logConfiguration.level },
  };
}

function sensorName(full: string): { namespace: string; type: string; subtype: string; name: string } {
  const slash = full.indexOf('/');
  const [namespace = '', type = '', subtype = ''] = full.slice(0, slash).split(':');
  return { namespace, type, subtype, name: full.slice(slash + 1) };
}

/** The `auth` section in the document's own spelling: `handlers` of `{type, config}`. */
function authOf(auth: JsonObject): MessageInitShape<typeof AuthConfigSchema> {
  const handlers = Array.isArray(auth['handlers']) ? (auth['handlers'] as JsonObject[]) : [];
  return {
    handlers: handlers.map(({ type, config }) => ({
      type: credentialTypes[String(type)] ?? CredentialsType.UNSPECIFIED,
      config: (config ?? {}) as ProtobufJson,
    })),
  };
}

const credentialTypes: Readonly<Record<string, CredentialsType>> = {
  'api-key': CredentialsType.API_KEY,
  'robot-secret': CredentialsType.ROBOT_SECRET,
  'robot-location-secret': CredentialsType.ROBOT_LOCATION_SECRET,
};
