/** The sections of a document that machines get, key by key: their `RobotConfig` fields and types. */
import type { Section } from './section.ts';

const credentialTypes = { names: ['', 'internal', 'api-key', 'robot-secret', 'robot-location-secret'] };
const logConfiguration: Section = { level: ['level', 'text'] };
const status: Section = { error: ['error', 'text'] };

export const moduleSection: Section = {
  name: ['name', 'text'],
  executable_path: ['path', 'text'],
  log_level: ['logLevel', 'text'],
  type: ['type', 'text'],
  module_id: ['moduleId', 'text'],
  // The message has no field for it: the cloud uses it to choose the package (registry modules).
  version: ['version', 'text'],
  // Nor for these: `module reload-local` of the public command line sets them, and the cloud serves the module from that path.
  reload_enabled: ['reloadEnabled', 'flag'],
  reload_path: ['reloadPath', 'text'],
  reload_user: ['reloadUser', 'text'],
  reload_time: ['reloadTime', 'text'],
  reload_annotation: ['reloadAnnotation', 'text'],
  env: ['env', 'textMap'],
  status: ['status', { one: status }],
  first_run_timeout: ['firstRunTimeout', 'duration'],
  tcp_mode: ['tcpMode', 'flag'],
  no_api_key: ['noApiKey', 'flag'],
};

export const remoteSection: Section = {
  name: ['name', 'text'],
  address: ['address', 'text'],
  frame: ['frame', 'frame'],
  auth: [
    'auth',
    {
      one: {
        credentials: ['credentials', { one: { type: ['type', credentialTypes], payload: ['payload', 'text'] } }],
        entity: ['entity', 'text'],
      },
    },
  ],
  managed_by: ['managedBy', 'text'],
  insecure: ['insecure', 'flag'],
  connection_check_interval: ['connectionCheckInterval', 'duration'],
  reconnect_interval: ['reconnectInterval', 'duration'],
  service_configs: ['serviceConfigs', { many: { type: ['type', 'text'], attributes: ['attributes', 'object'] } }],
  secret: ['secret', 'text'],
  prefix: ['prefix', 'text'],
};

export const processSection: Section = {
  id: ['id', 'text'],
  name: ['name', 'text'],
  args: ['args', 'texts'],
  cwd: ['cwd', 'text'],
  one_shot: ['oneShot', 'flag'],
  log: ['log', 'flag'],
  stop_signal: ['stopSignal', 'signal'],
  stop_timeout: ['stopTimeout', 'duration'],
  env: ['env', 'textMap'],
  username: ['username', 'text'],
};

export const packageSection: Section = {
  name: ['name', 'text'],
  package: ['package', 'text'],
  version: ['version', 'text'],
  type: ['type', 'text'],
  status: ['status', { one: status }],
};

export const jobSection: Section = {
  name: ['name', 'text'],
  schedule: ['schedule', 'text'],
  resource: ['resource', 'text'],
  method: ['method', 'text'],
  command: ['command', 'object'],
  log_configuration: ['logConfiguration', { one: logConfiguration }],
};

export const networkSection: Section = {
  fqdn: ['fqdn', 'text'],
  bind_address: ['bindAddress', 'text'],
  tls_cert_file: ['tlsCertFile', 'text'],
  tls_key_file: ['tlsKeyFile', 'text'],
  no_tls: ['noTls', 'flag'],
  allowed_hosts: ['allowedHosts', 'texts'],
  allowed_origins: ['allowedOrigins', 'texts'],
  sessions: ['sessions', { one: { heartbeat_window: ['heartbeatWindow', 'duration'] } }],
  traffic_tunnel_endpoints: [
    'trafficTunnelEndpoints',
    { many: { port: ['port', 'whole'], connection_timeout: ['connectionTimeout', 'duration'] } },
  ],
};

export const tracingSection: Section = {
  enabled: ['enabled', 'flag'],
  disk: ['disk', 'flag'],
  console: ['console', 'flag'],
  otlpendpoint: ['otlpEndpoint', 'text'],
};
