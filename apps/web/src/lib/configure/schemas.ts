/** What the cards and JSON completion know about each entry: its fields with types, defaults and descriptions. */
import {
  type AttributeSchema,
  builtInSchemas,
  type JsonObject,
  machineConfigJsonSchema,
} from '@platform/machine-config/schema';
import { apiOf, isObject, modelOf, type Section, sections, shortName } from './document.ts';

const text = (description: string, more: object = {}): AttributeSchema => ({ type: 'string', description, ...more });
const flag = (description: string): AttributeSchema => ({ type: 'boolean', default: false, description });
const texts = (description: string): AttributeSchema => ({ type: 'array', items: { type: 'string' }, description });
const object = (description: string, more: object = {}): AttributeSchema => ({ type: 'object', description, ...more });
const levels = { enum: ['debug', 'info', 'warn', 'error'] };

const resource: AttributeSchema = {
  required: ['name', 'api'],
  properties: {
    name: text('Unique among resources of the same type; no slash'),
    api: text('Type of the resource, such as core:component:sensor'),
    model: text('Implementation, such as core:builtin:fake'),
    attributes: object('Settings of the model'),
    depends_on: texts('Names of resources that have to run first'),
    service_configs: {
      type: 'array',
      description: 'Settings of services for this resource, such as what the data manager captures',
      items: {
        type: 'object',
        properties: {
          type: text('Type of the service', { enum: ['data_manager'] }),
          attributes: object('Settings of the service for this resource', {
            properties: {
              capture_methods: {
                type: 'array',
                description: 'What is captured',
                items: { type: 'object', properties: captureFields() },
              },
              retention_policy: object('How much data of this resource the cloud keeps', {
                properties: {
                  days: { type: 'integer', description: 'Days until the data is deleted' },
                  binary_limit_gb: { type: 'integer', description: 'The oldest images are deleted above this limit' },
                  tabular_limit_gb: {
                    type: 'integer',
                    description: 'The oldest readings are deleted above this limit',
                  },
                },
              }),
            },
          }),
        },
      },
    },
    log_configuration: object('Logging of this resource', {
      properties: { level: text('Lowest level that is logged', levels) },
    }),
    frame: object('Where the component is: parent, translation in mm, orientation, geometry'),
    notes: text('Notes for people'),
    disabled: flag('Keeps it in the configuration without running it'),
  },
};

function captureFields(): Readonly<Record<string, AttributeSchema>> {
  return {
    method: text('What is captured, such as Readings'),
    capture_frequency_hz: { type: 'number', minimum: 0, description: 'Readings per second; 0.5 is one in two seconds' },
    disabled: flag('Stops the capture of this method'),
    tags: texts('Added to the tags of the data manager'),
    additional_params: object('Parameters of the method'),
    capture_queue_size: {
      type: 'integer',
      description: 'Readings that may wait to be written. Default: as many as fit into 64 MiB for all methods together',
    },
    capture_buffer_size: { type: 'integer', default: 4096, description: 'Bytes that are written at once' },
    capture_directory: text('Overrides capture_dir of the data manager'),
    recent_data_store: object('The cloud also keeps the newest rows in the hot store', {
      properties: { stored_hours: { type: 'number', minimum: 0, description: 'Hours of data that it keeps' } },
    }),
  };
}

/** Fields of entries that are not resources. */
const entries: Partial<Record<Section, AttributeSchema>> = {
  modules: {
    required: ['name'],
    properties: {
      name: text('Letters, digits, underscores, dots and dashes'),
      type: text('registry: stored in the cloud. local: a program on this computer', { enum: ['registry', 'local'] }),
      module_id: text('Id of the module in the cloud', { examples: ['my-namespace:weather'] }),
      version: text('Version or range; default: the newest'),
      executable_path: text('Program of a local module', { examples: ['/opt/probe/run.sh'] }),
      log_level: text('Lowest level that is logged', levels),
      env: object('Added to its environment', { additionalProperties: { type: 'string' } }),
      first_run_timeout: text('Time limit of its first-run script', { default: '1h' }),
      tcp_mode: flag('Listens on a local TCP port instead of a socket'),
      no_api_key: flag('Does not get the API key of the machine in its environment'),
      disabled: flag('Leaves the module out'),
    },
  },
  fragments: {
    required: ['id'],
    properties: {
      id: text('Id of the fragment'),
      version: text('Revision or tag; default: the newest revision'),
      prefix: text('Prefix of the names of its resources'),
      variables: object('Values of its variables'),
    },
  },
  triggers: {
    required: ['name', 'event'],
    properties: {
      name: text('Unique among the triggers of this part'),
      event: object('Event that fires it'),
      notifications: { type: 'array', description: 'Who is notified, and how', items: { type: 'object' } },
      notes: text('Notes for people'),
      disabled: flag('Keeps it without notifying anyone'),
    },
  },
  packages: {
    required: ['name', 'package'],
    properties: {
      name: text('The name by which attributes refer to its folder'),
      package: text('Organization and name', { examples: ['my-organization-id/weights'] }),
      type: text('Such as ml_model'),
      version: text('Version, or latest'),
    },
  },
  processes: {
    required: ['id', 'name'],
    properties: {
      id: text('Unique among the processes'),
      name: text('Program to run; this machine-server does not run processes yet'),
      args: texts('Arguments of the program'),
      cwd: text('Working directory'),
      one_shot: flag('Exits by itself'),
      log: flag('Its output is logged'),
      env: object('Added to its environment', { additionalProperties: { type: 'string' } }),
    },
  },
  remotes: {
    required: ['name', 'address'],
    properties: {
      name: text('Name of the remote, in front of the names of its resources: name:resource'),
      address: text('Full name of a machine (Address on its Connect tab), or host:port of a machine-server'),
      prefix: text('Put between that name and the names of its resources'),
      auth: object('API key with which it is called', {
        properties: {
          entity: text('Id of the key'),
          credentials: object('The key', {
            properties: { type: text('api-key'), payload: text('The key itself') },
          }),
        },
      }),
      insecure: flag('Call host:port in plaintext'),
      connection_check_interval: text('How often its resources are listed again; 10s by default'),
      reconnect_interval: text('Wait before it is tried again while it is away; 1s by default'),
      service_configs: {
        type: 'array',
        description: 'What of its resources is captured; each entry of capture_methods has the name of one',
        items: { type: 'object' },
      },
    },
  },
  jobs: {
    required: ['name', 'schedule'],
    properties: {
      name: text('Name of the job'),
      schedule: text('A duration or cron expression; this machine-server does not run jobs yet'),
      resource: text('Name of the resource'),
      method: text('Method to call'),
      command: object('Command of DoCommand'),
    },
  },
};

/** Settings of the part as a whole. */
export const settings: AttributeSchema = {
  properties: {
    data_retention_policy: object('How much data of this part the cloud keeps', {
      properties: {
        days: { type: 'integer', minimum: 1, description: 'Days until data is deleted; default: never' },
      },
    }),
    maintenance: object('When new configurations are applied; default: at once', {
      properties: {
        sensor_name: text('Full name of a sensor', { examples: ['core:component:sensor/gate'] }),
        maintenance_allowed_key: text('Reading of the sensor that must be true'),
      },
    }),
    log: {
      type: 'array',
      description: 'Levels by name of resource or logger: a list of pattern and level',
      items: {
        type: 'object',
        properties: { pattern: text('Regular expression for names'), level: text('Lowest level', levels) },
      },
    },
    debug: flag('Logs everything'),
    disable_log_deduplication: flag('Logs each repetition of a line'),
    network: object('Where the machine-server listens, TLS, heartbeats'),
    auth: object('Who may call the machine directly'),
    fragment_mods: { type: 'array', description: 'Changes to what fragments provide', items: { type: 'object' } },
  },
};

/** The fields of an entry's own keys. */
export function schemaOfEntry(section: Section): AttributeSchema {
  return entries[section] ?? resource;
}

/** The attributes of a resource; undefined for models of modules, which have no schema here. */
export function attributesSchema(section: Section, entry: JsonObject): AttributeSchema | undefined {
  return builtInSchemas[apiOf(section, entry)]?.[modelOf(section, entry)];
}

export interface ModelChoice {
  readonly section: Section;
  readonly api: string;
  readonly model: string;
  readonly about: string;
}

/** Every built-in model, fakes last. */
export const modelChoices: readonly ModelChoice[] = Object.entries(builtInSchemas)
  .flatMap(([api, models]) =>
    Object.entries(models).map(([model, { description = '' }]) => {
      const section: Section = api.includes(':service:') ? 'services' : 'components';
      return { section, api, model, about: description };
    }),
  )
  .toSorted(
    (a, b) => Number(a.model.endsWith(':fake')) - Number(b.model.endsWith(':fake')) || a.api.localeCompare(b.api),
  );

/** The schema at a place of the document. */
export function schemaAt(document: JsonObject, path: readonly (string | number)[]): AttributeSchema | undefined {
  const [key, index, ...rest] = path;
  const root: AttributeSchema = {
    properties: {
      ...Object.fromEntries(
        sections.map((one) => [
          one.key,
          { type: 'array' as const, description: one.title, items: schemaOfEntry(one.key) },
        ]),
      ),
      ...settings.properties,
    },
  };
  const section = sections.find((one) => one.key === key)?.key;
  const entry = section && Array.isArray(document[section]) ? document[section][Number(index)] : undefined;
  if (section === 'triggers' && rest.length > 0) return below(triggerSchema, rest) ?? below(root, path);
  if (section && isObject(entry) && rest[0] === 'attributes')
    return below(attributesSchema(section, entry) ?? {}, rest.slice(1));
  return below(root, path);
}

/** Valid values at a place, beyond those of the schema: types, models, names of other resources. */
export function valuesAt(document: JsonObject, path: readonly (string | number)[]): readonly string[] {
  const [section, index, key] = path;
  if (section !== 'components' && section !== 'services') return [];
  const list = document[section];
  const entry = Array.isArray(list) ? list[Number(index)] : undefined;
  if (key === 'api')
    return Object.keys(builtInSchemas).filter((api) =>
      api.includes(section === 'services' ? ':service:' : ':component:'),
    );
  if (key === 'model' && isObject(entry)) return Object.keys(builtInSchemas[apiOf(section, entry)] ?? {});
  if (key === 'depends_on' || key === 'attributes')
    return namesOf(document, isObject(entry) ? entry['name'] : undefined);
  return [];
}

/** Names of all resources but one. */
export function namesOf(document: JsonObject, but: unknown): readonly string[] {
  return (['components', 'services'] as const).flatMap((section) => {
    const list = document[section];
    return Array.isArray(list)
      ? list.flatMap((entry) =>
          isObject(entry) && typeof entry['name'] === 'string' && entry['name'] !== but ? [entry['name']] : [],
        )
      : [];
  });
}

/** The initial content of a new entry of a list. */
export function newEntry(section: Section, name: string, choice?: ModelChoice): JsonObject {
  if (choice) return { name, api: choice.api, model: choice.model };
  if (section === 'modules') return { name, type: 'registry', module_id: '' };
  if (section === 'fragments') return { id: '' };
  if (section === 'processes') return { id: name, name: '' };
  if (section === 'packages') return { name, package: '' };
  if (section === 'remotes') return { name, address: '' };
  return { name };
}

/** The name that a resource gets when it is added. */
export function nameFor({ api, model }: ModelChoice): string {
  const [type, short] = [shortName(api), shortName(model)];
  return type === 'sensor' && short !== 'fake' ? short : type;
}

interface AnySchema extends AttributeSchema {
  readonly $ref?: string;
  readonly anyOf?: readonly AnySchema[];
  readonly oneOf?: readonly AnySchema[];
}
const triggerSchema = (
  ((machineConfigJsonSchema['properties'] as unknown as Record<string, AttributeSchema>)['triggers'] ??
    {}) as AttributeSchema
).items as AnySchema;

/** Merges alternatives into one schema, which has the properties of all of them. */
function flat(schema: AnySchema): AttributeSchema {
  const { anyOf = [], oneOf = [], ...own } = schema;
  const others = [...anyOf, ...oneOf].map(flat);
  if (others.length === 0) return own;
  const properties = Object.assign({}, ...others.map((one) => one.properties ?? {}), own.properties) as Record<
    string,
    AttributeSchema
  >;
  const choices = others.flatMap((one) => one.enum ?? []);
  const items = own.items ?? others.find((one) => one.items)?.items;
  return { ...own, properties, ...(choices.length > 0 && { enum: choices }), ...(items && { items }) };
}

function below(schema: AttributeSchema, path: readonly (string | number)[]): AttributeSchema | undefined {
  let at: AttributeSchema | undefined = flat(schema);
  for (const step of path) {
    const found: AttributeSchema | boolean | undefined =
      typeof step === 'number' ? at.items : (at.properties?.[step] ?? at.additionalProperties);
    if (typeof found !== 'object') return undefined;
    at = flat(found);
  }
  return at;
}
